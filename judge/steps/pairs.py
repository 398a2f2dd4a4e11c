"""The pairs that a judge is asked about, with their texts: the expert-rated ones, and the rest of the pool."""

from judge._batching.batches import Item
from pools._dataset.partition import Partition
from pools._sampling import pooled
from pools.errors import UsageError


def to_rate(partition: Partition) -> tuple[list[Item], list[Item]]:
    """Return the expert-rated pairs and the rest of the pool, each with the texts that the judge sees.

    Raises `UsageError` for a pair of the pool that the dataset lacks, `DataError` where there is no corpus.
    """
    searches = {query.search_id: query.search for query in partition.queries}
    codes = {function.id: function.code for function in partition.functions}
    validation = sorted(partition.experts)
    path = pooled.path(partition.folder, partition.language)
    pairs = pooled.read_pairs(path) if path.is_file() else []
    for search_id, function_id in pairs:
        if search_id not in searches or function_id not in codes:
            raise UsageError(
                f"{path}: has {search_id} {function_id}, which the dataset lacks; run `judge pool --lang "
                f"{partition.language}` again"
            )
    known = set(validation)
    return (
        [Item(pair, searches[pair[0]], codes[pair[1]]) for pair in validation],
        [Item(pair, searches[pair[0]], codes[pair[1]]) for pair in pairs if pair not in known],
    )
