"""What pins a ledger: the head of its chain, its length, and the hash of the whole file.

A chain shows what was changed within a ledger, and not that all of it was written anew. Where a published figure names the
head, another ledger cannot stand in for the one that the figure came from.
"""

from dataclasses import dataclass
from pathlib import Path

from judge._ledger import chain
from judge._ledger.chain import End
from pools.errors import GateClosed


@dataclass(frozen=True, slots=True)
class Anchor:
    """The chain of a ledger's last line (`head`), the number of its lines, and the SHA-256 of its file up to there.

    A head has 16 hexadecimal digits, and can be forged by who spends 2^32 work on two ledgers at once; `sha256` cannot.
    """

    head: str
    lines: int
    sha256: str

    def is_at(self, expected: str) -> bool:
        """Return whether this is the ledger that a head, or a SHA-256, names."""
        return expected.strip().lower() in {self.head, self.sha256}


def check(path: Path, anchor: Anchor, *, expected: str) -> None:
    """Raise `GateClosed` where a ledger is not at the head (or SHA-256) expected, saying whether it went on from there."""
    if anchor.is_at(expected):
        return
    wanted = expected.strip().lower()
    end = End()
    with path.open("rb") as file:
        for _ in chain.scan(file, path, end=end):
            if wanted in {end.chain, end.digest.hexdigest()}:
                raise GateClosed(
                    f"{path}: goes on from the expected head {wanted} by {anchor.lines - end.lines} lines, to {anchor.head}; "
                    f"compare with a copy as it was at line {end.lines}, or expect {anchor.head}"
                )
    raise GateClosed(
        f"{path}: the expected head {wanted} is none of its {anchor.lines} lines'; its own is {anchor.head} (sha256 "
        f"{anchor.sha256}): it is another ledger, or was written anew; restore the one that was published"
    )
