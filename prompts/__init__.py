"""What the judge, the pattern writer and the yes/no retriever are asked.

The wording is data: `*.j2` files for prompts, `*.toml` files for rating scales. They are part of a judge's identity, so a
changed letter makes another judge, and a user may name a file of their own wherever a built-in name is taken.
"""
