"""The retrievers: what says which functions answer a search, one a module."""
