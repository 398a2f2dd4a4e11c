"""Where things are: the checkout, and the real CodeSearchNet ratings beside it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CSN = ROOT.parent / "shared" / "csn"
