"""The ledger: its lines, its chain, what it says of each judge, and how far it has got."""
