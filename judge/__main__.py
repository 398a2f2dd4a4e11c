"""`python -m judge` is the `judge` command."""

from judge.cli import run

if __name__ == "__main__":
    run()
