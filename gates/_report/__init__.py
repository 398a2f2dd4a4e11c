"""Verdicts and datasets in words: for a terminal and for the dataset card."""
