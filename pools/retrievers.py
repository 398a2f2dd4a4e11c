"""What a retriever is made of, for those who add one: the public names of `pools._retrievers`.

docs/retrievers.md shows how, in a program and in a package.
"""

from pools._dataset.partition import Partition
from pools._retrievers.registry import names, register
from pools._retrievers.retriever import Access, LeftOut, Llm, Retriever
from pools._sampling.hits import Hit

__all__ = ["Access", "Hit", "LeftOut", "Llm", "Partition", "Retriever", "names", "register"]
