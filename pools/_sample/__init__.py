"""The sample: two small languages of searches, functions and ratings, written for this project (see its README)."""
