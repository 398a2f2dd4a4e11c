"""Who judges: the LLM, the baseline, the yes/no questions, and the identity of each."""
