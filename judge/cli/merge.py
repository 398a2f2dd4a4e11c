"""`judge merge`: a judge's ratings into the qrels, where the gate passed."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge.cli.workspace import Workspace, data_option, lang_option, note, open_workspace
from pools.dataset.dataset import Dataset
from pools.errors import GateClosed, JudgeError

if TYPE_CHECKING:
    from gates.release.journal import Event
    from gates.verdict.evidence import Evidence


@click.command()
@data_option
@lang_option
@click.option("--judge", "judge_id", metavar="ID", help="The judge, as `judge status` lists it (default: the last sealed).")
@click.option("--override", metavar="REASON", help="Merge although the gate is shut; stays on record, and the card shows it.")
@click.pass_context
def merge(context: click.Context, data: Path, langs: tuple[str, ...], judge_id: str | None, override: str | None) -> None:
    """Put the judge's ratings into the qrels of every language whose gate passed.

    Expert ratings are never changed. A language without a passed gate record that matches its judge, its expert ratings and
    its ledger, or whose ledger was changed by hand, is refused, and the command exits 1; the others are merged.

    \b
    Examples:
      judge merge
      judge merge --lang go --override "agreed by both maintainers, see the minutes of May"
    """
    from dataclasses import replace

    from gates.release import journal, qrels
    from judge.cli import evidences
    from judge.ledger.ledger import now

    workspace = open_workspace(data, langs)
    moment = now()
    merged = workspace.dataset
    events: list[journal.Event] = []
    done: list[str] = []
    refused: list[JudgeError] = []
    for language in workspace.languages:
        try:
            found = evidences.for_release(workspace, language, judge_id=judge_id)
            if found is None or found.judge_id is None:
                refused.append(JudgeError(f"{language}: no ledger to merge from; run `judge rate --lang {language}`"))
                continue
            qrels.check(workspace.dataset, language, relevant_from=found.seal.relevant_from)
        except GateClosed as unsound:
            refused.append(unsound)
            continue
        closed = _closed(workspace, language, found=found)
        if closed is not None:
            if override is None:
                refused.append(closed)
                continue
            events.append(journal.Event(moment, "override", language, found.judge_id, override, str(closed)))
        rows = qrels.merge(merged, language, pool=found.pool, ratings=found.ratings, relevant_from=found.seal.relevant_from)
        merged = replace(merged, qrels=rows)
        added = sum(row.language == language and row.source == "judge" for row in rows)
        done.append(f"{language}: {added} pairs rated by judge {found.judge_id} merged" + (" by override" if closed else ""))
        events.append(journal.Event(moment, "merge", language, found.judge_id, None, f"{added} pairs"))
    _write(merged, events)
    if done:
        click.echo("\n".join(done))
    for error in refused:
        note(f"judge: {error}")
    if refused:
        context.exit(GateClosed.exit_code)


def _write(merged: Dataset, events: "list[Event]") -> None:
    from gates.release import journal, qrels

    # The log first: what is merged by override must be on record even if the next write fails.
    for event in events:
        journal.append(merged.folder, event)
    if events:
        qrels.write(merged.folder, merged.qrels)


def _closed(workspace: Workspace, language: str, *, found: "Evidence") -> GateClosed | None:
    from gates.verdict import evidence

    try:
        evidence.admits(workspace.dataset, language, evidence=found)
    except GateClosed as closed:
        return closed
    return None
