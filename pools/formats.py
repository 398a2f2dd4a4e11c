"""What a format of test collections is made of, for those who add one: the public names of `pools._formats`."""

from pools._dataset.records import Function, Qrel, Query
from pools._formats.collection import Collection
from pools._formats.format import Destination, Format, Input
from pools._formats.registry import names, register

__all__ = ["Collection", "Destination", "Format", "Function", "Input", "Qrel", "Query", "names", "register"]
