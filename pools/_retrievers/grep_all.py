"""grep-all: the functions that hold every word of a search, inside other words too; found in one pass with grep-any."""

from pools._dataset.partition import Partition
from pools._engines import grep_words
from pools._retrievers.retriever import Access, Retriever
from pools._sampling.hits import Hit


def _hits(partition: Partition, access: Access) -> tuple[Hit, ...]:
    found = access.once("grep-words", lambda: grep_words.search_words(partition.queries, partition.functions))
    return found["grep-all"]


RETRIEVER = Retriever("grep-all", "functions that hold every word of the search, inside other words too, in any case", _hits)
