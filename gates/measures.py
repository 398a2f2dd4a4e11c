"""What a measure is made of, for those who add one: the public names of `gates._measures`."""

from gates._measures.measure import Measure, scalar, vectorised
from gates._measures.registry import names, register

__all__ = ["Measure", "names", "register", "scalar", "vectorised"]
