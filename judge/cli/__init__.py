"""The command line: options, bars, printing, and errors turned into one line and an exit code.

Each command is a module of its own, and what it does is in the step of that name, which it imports inside its function, so
that `judge --help` and light commands do not pay for the heavy ones.
"""

import io
import os
import sys
from collections.abc import Sequence

import click

from judge.cli.check import check
from judge.cli.compare import compare
from judge.cli.corpus import corpus
from judge.cli.demo import demo
from judge.cli.export import export
from judge.cli.gate import gate
from judge.cli.importing import importing
from judge.cli.init import init
from judge.cli.log import log
from judge.cli.merge import merge
from judge.cli.panel import panel
from judge.cli.pool import pool
from judge.cli.rate import rate
from judge.cli.ratings import ratings
from judge.cli.status import status
from judge.cli.tune import tune
from judge.cli.withdraw import withdraw
from pools.errors import JudgeError, Stopped, UsageError

INTERRUPTED = "stopped by Ctrl-C; what was answered is on disk, run the same command again to go on"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="qrels-judge", prog_name="judge")
def main() -> None:
    """Extend the relevance judgements of a search test collection with an LLM judge, behind a gate fixed in advance.

    \b
    A dataset's usual way, one command a step:
      judge init DIR      start a dataset folder: what to put there, and every setting explained
      judge check         list all faults of the dataset
      judge pool          run the retrievers and draw the samples: which pairs are to be judged
      judge rate          have the judge rate the expert-rated pairs, then, the gate passed, the pool
      judge gate          how the judge agrees with the experts, and the verdict
      judge merge         put the judge's ratings into the qrels, where the gate passed
      judge export        write the dataset as it is published, with its card

    \b
    Exit codes: 0 done (a gate: passed), 1 the gate did not pass, 2 usage, 3 bad data,
    4 stopped by an API, a budget or a limit; run again to resume.
    """


for command in (
    init, corpus, importing, check, pool, tune, rate, gate, compare, panel, merge, withdraw, export, status, log, demo,
):  # fmt: skip
    main.add_command(command)
importing.add_command(ratings)


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; whatever happens, a user sees one line and never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What no terminal can show (half a surrogate pair in a search, in a file's name) is escaped, as JSON does it.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = main.main(args=arguments, prog_name="judge", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        code = fail(error.format_message(), UsageError.exit_code)
    except (click.Abort, KeyboardInterrupt):
        code = fail(INTERRUPTED, Stopped.exit_code)
    except JudgeError as error:
        code = fail(str(error), error.exit_code)
    except BrokenPipeError:
        # The reader (head, less) has gone; the flush at exit would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        if os.environ.get("JUDGE_TRACEBACK"):
            raise
        code = fail(
            f"a fault of qrels-judge itself, {type(error).__name__}: {error}; report it with what JUDGE_TRACEBACK=1 shows",
            UsageError.exit_code,
        )
    sys.exit(code if isinstance(code, int) else 0)


def fail(message: str, code: int) -> int:
    """Print an error as one line to stderr and return its exit code."""
    click.echo("judge: " + " ".join(message.split()), err=True)
    return code
