"""The judge: batches, the client that sends them, the replies, the ledger that keeps them, and the run."""
