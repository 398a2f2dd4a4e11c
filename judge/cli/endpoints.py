"""Stands for `judge.steps.endpoints` until `pool`, `yesno` and `embedded` import that."""

from judge.steps.endpoints import asking, client, model_name, vectorising

__all__ = ["asking", "client", "model_name", "vectorising"]
