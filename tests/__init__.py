"""Tests: one file a module, plus the end-to-end ones; fakes are servers or injected functions."""
