"""bm25: the functions that share the most telling words with a search.

Any shared word makes a score, so what a hit is has to be a matter of depth: the best so many of each search.
"""

from pools._dataset.partition import Partition
from pools._engines import okapi
from pools._retrievers.retriever import Access, Retriever
from pools._sampling.hits import Hit


def _hits(partition: Partition, _access: Access) -> tuple[Hit, ...]:
    return okapi.search(partition.queries, partition.functions, depth=partition.settings.pool.bm25_depth)


RETRIEVER = Retriever(
    "bm25",
    "functions that share the most telling words with the search, identifiers taken apart: its best pool.bm25_depth",
    _hits,
)
