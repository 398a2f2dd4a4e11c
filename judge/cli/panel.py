"""`judge panel`: several judges decide together, as a judge of its own."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.workspace import Workspace, data_option, lang_option, open_workspace
from pools.errors import UsageError

if TYPE_CHECKING:
    from judge.ledger.ledger import Ledger

METHODS = ("majority", "median")


@dataclass(frozen=True, slots=True)
class PanelIdentity:
    """A panel's identity as the ledger seals it."""

    judge_id: str
    content: dict[str, Any]

    def document(self) -> dict[str, Any]:
        return self.content


@click.command()
@data_option
@lang_option
@click.argument("ids", metavar="ID ID [ID]...", nargs=-1, required=True)
@click.option(
    "--method", type=click.Choice(METHODS), required=True, help="The rating that most members gave, or the middle one."
)
def panel(data: Path, langs: tuple[str, ...], ids: tuple[str, ...], method: str) -> None:
    """Make a panel of judges that rated already, and seal it as a judge of its own.

    A pair that every member rated gets the panel's rating, ties going to the lower one; nothing is asked for. The panel takes
    over the seal that its members share, so nothing can be lowered by making one, and is then the judge sealed last: gate,
    merge and export are about it. `judge gate --judge ID` is about another.

    \b
    Example:
      judge panel 9ecbd489fbbab1c9 02c2b5b1ea5c9f2d 77aa0b1c3d4e5f60 --method median --lang go
    """
    workspace = open_workspace(data, langs)
    made = [(language, _seal(workspace, language, ids=ids, method=method)) for language in workspace.languages]
    for language, (judge_id, count) in made:
        click.echo(f"{language}: panel {judge_id}, the {method} of {len(set(ids))} judges, rates {count} pairs")


def _seal(workspace: Workspace, language: str, *, ids: tuple[str, ...], method: str) -> tuple[str, int]:
    from gates.verdict import panels
    from judge.cli import evidences
    from judge.ledger import entries
    from judge.ledger.ledger import Ledger

    path = workspace.ledger_path(language)
    identity = _identity(Ledger.read(path), path, ids=ids, method=method)
    with Ledger.open(path) as ledger:
        first = ledger.seal(ids[0])
        if first is not None and ledger.seal(identity.judge_id) is None:
            ledger.add(entries.seal(identity, first.gate, relevant_from=first.relevant_from, gold_sha256=first.gold_sha256))
        members = {member: evidences.ratings(ledger, member) for member in identity.content[panels.MEMBERS]}
    return identity.judge_id, len(panels.ratings(members, method))


def _identity(ledger: "Ledger", path: Path, *, ids: tuple[str, ...], method: str) -> PanelIdentity:
    from gates.verdict import panels
    from judge.cli import seals

    sealed_as = []
    for judge_id in ids:
        seals.choose(ledger, path, judge_id=judge_id)
        sealed = ledger.seal(judge_id)
        if sealed is not None:
            sealed_as.append(sealed)
    scale = sealed_as[0].identity["scale"]
    for sealed in sealed_as[1:]:
        if sealed.identity["scale"] != scale:
            raise UsageError(f"{path}: judges {ids[0]} and {sealed.judge_id} rate on different scales, and cannot be a panel")
        differences = seals.seal_of(sealed_as[0]).differences(seals.seal_of(sealed))
        if differences:
            raise UsageError(
                f"{path}: judges {ids[0]} and {sealed.judge_id} are sealed differently, so a panel has no seal to take over; "
                f"seal one of them anew with `judge gate --judge ID --reseal REASON`"
            )
    content = panels.identity(ids, method, scale=scale)
    return PanelIdentity(panels.judge_id(content), content)
