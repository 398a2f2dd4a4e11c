"""What may leave and the proof of it: agreement, gate, qrels, export, card."""
