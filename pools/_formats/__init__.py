"""Test collections in other forms, read into a dataset's records, one form a module."""
