"""bm25: the functions that share the most telling words with a search.

Any shared word makes a score, so what a hit is has to be a matter of depth: the best so many of each search.
"""

from pools.dataset.partition import Partition
from pools.engines import okapi
from pools.sampling.hits import Hit


def hits(partition: Partition) -> tuple[Hit, ...]:
    """Return each search's best `pool.bm25_depth` functions, with their scores."""
    return okapi.search(partition.queries, partition.functions, depth=partition.settings.pool.bm25_depth)
