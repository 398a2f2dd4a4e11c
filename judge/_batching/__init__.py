"""Pairs made into prompts: batches under random ids, code fenced and its secrets masked."""
