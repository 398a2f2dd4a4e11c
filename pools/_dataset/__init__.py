"""The dataset folder: its records, its tables on disk, its settings, and what may be wrong with them."""
