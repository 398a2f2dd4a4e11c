"""What retrievers search with: ripgrep, the words of code, vectors, and calibrated probabilities."""
