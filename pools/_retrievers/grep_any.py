"""grep-any: the functions that hold one of the words of a search, inside other words too; found in one pass with grep-all."""

from pools._dataset.partition import Partition
from pools._engines import grep_words
from pools._retrievers.retriever import Access, Retriever
from pools._sampling.hits import Hit


def _hits(partition: Partition, access: Access) -> tuple[Hit, ...]:
    found = access.once("grep-words", lambda: grep_words.search_words(partition.queries, partition.functions))
    return found["grep-any"]


RETRIEVER = Retriever("grep-any", "functions that hold one of the search's words, as grep-all does it", _hits, loose=True)
