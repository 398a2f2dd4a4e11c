"""What leaves: the extended judgements, the published files, and the journal of what was done."""
