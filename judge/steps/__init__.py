"""Steps: what a maintainer does, each a function of partitions or of a dataset folder, with the command line's keywords.

A step returns a frozen record, prints nothing and knows no terminal: notes and progress go to functions that it is given.
"""
