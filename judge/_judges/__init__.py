"""Who judges: the LLM, the baseline, the yes/no questions, and the identity of each."""

JUDGES = ("llm", "baseline")
"""The names by which a judge is asked for."""
