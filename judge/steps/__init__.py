"""Steps: what each command does, as functions of a partition or of a dataset folder; they print nothing, know no terminal."""
