"""Figures: how far verdicts agree, how sure that is, and where they part."""
