"""first-words: the functions whose first line holds the first word of the search."""

from collections.abc import Iterator

from pools.retrievers import Access, Hit, LeftOut, Partition, Retriever


def hits(partition: Partition, access: Access) -> Iterator[Hit] | LeftOut:
    """Return a hit for each such function, ranked by id."""
    if not partition.queries:
        return LeftOut("there are no searches; write some into queries.jsonl")
    access.note(f"{partition.language}: first-words looks at {len(partition.functions)} functions")
    return _found(partition)


def _found(partition: Partition) -> Iterator[Hit]:
    first_lines = sorted((function.id, function.code.lower().partition("\n")[0]) for function in partition.functions)
    for query in partition.queries:
        word = query.search.lower().split()[0]
        names = [name for name, line in first_lines if word in line]
        yield from (Hit(query.search_id, name, rank) for rank, name in enumerate(names, start=1))


RETRIEVER = Retriever("first-words", "functions whose first line holds the first word of the search", hits)
