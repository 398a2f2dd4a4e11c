"""The verdict on a judge: what was sealed, what it rests on, its record, and what stands behind it."""
