"""Reading, writing and finding files."""

import csv
import hashlib
import os
from collections import deque
from pathlib import Path


def read_lines(path, encoding="utf-8"):
    """Read a file line by line, without loading all of it into memory."""
    with open(path, encoding=encoding) as file:
        for line in file:
            yield line.rstrip("\n")


def process_log(path, on_entry):
    # feed every non-empty entry to the callback, return how many there were
    total = 0
    with open(path, encoding="utf-8", errors="replace") as handle:
        for entry in handle:
            entry = entry.strip()
            if entry:
                on_entry(entry)
                total += 1
    return total


def tail(path, n=10):
    """Return the last n lines of a file."""
    with open(path, encoding="utf-8") as f:
        last = deque(f, maxlen=n)
    return [line.rstrip("\n") for line in last]


def read_in_chunks(path, chunk_size=65536):
    """Read a binary file in chunks of bytes."""
    with open(path, "rb") as file:
        while True:
            chunk = file.read(chunk_size)
            if not chunk:
                break
            yield chunk


def file_digest(path):
    """SHA-256 hash of a file's content, as hex."""
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 16), b""):
            digest.update(block)
    return digest.hexdigest()


def write_csv(path, rows, header=None):
    """Write rows (sequences of cells) to a CSV file."""
    with open(path, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f)
        if header is not None:
            writer.writerow(header)
        writer.writerows(rows)


def dump_records(records: list[dict], target: Path) -> None:
    """Save records as comma separated values, one column per key."""
    if not records:
        target.touch()
        return
    columns = list(records[0])
    with target.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, fieldnames=columns, extrasaction="ignore")
        writer.writeheader()
        for record in records:
            writer.writerow(record)


def append_measurement(path, stamp, value):
    """Add one row to the measurements CSV, with a header if it is new."""
    is_new = not os.path.exists(path)
    with open(path, "a", newline="") as f:
        writer = csv.writer(f)
        if is_new:
            writer.writerow(["stamp", "value"])
        writer.writerow([stamp, value])


def read_csv(path):
    """Read the rows of a CSV file as dictionaries."""
    with open(path, newline="", encoding="utf-8") as f:
        reader = csv.DictReader(f)
        return list(reader)


def walk_files(root, suffix=""):
    """Walk a directory tree and yield the path of each file."""
    for directory, subdirs, names in os.walk(root):
        subdirs.sort()
        for name in sorted(names):
            if name.endswith(suffix):
                yield os.path.join(directory, name)


def everything_below(start: Path):
    pending = [start]
    while pending:
        current = pending.pop()
        for child in sorted(current.iterdir()):
            yield child
            if child.is_dir() and not child.is_symlink():
                pending.append(child)


def print_tree(folder, indent=0):
    """Print the directory as an indented tree."""
    for entry in sorted(Path(folder).iterdir()):
        print("  " * indent + entry.name)
        if entry.is_dir():
            print_tree(entry, indent + 1)


def directory_size(root):
    """Total size in bytes of all the files in a directory tree."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            total += os.path.getsize(os.path.join(folder, name))
    return total
