"""What is known of expert-rated pairs beside their ratings, from pool, corpus and ledger, for `gates.verdict.findings`."""

from gates.verdict import findings
from gates.verdict.evidence import Evidence
from gates.verdict.findings import Circumstances, Findings
from gates.verdict.gate_record import GateRecord
from gates.verdict.seal import searches_left_out
from judge.cli import judges
from judge.cli.workspace import Workspace
from judge.ledger import placement
from judge.ledger.ledger import Ledger
from pools.dataset.records import PairKey
from pools.errors import JudgeError


def find(workspace: Workspace, language: str, *, evidence: Evidence, record: GateRecord) -> Findings:
    """Return what stands behind a language's verdict."""
    return findings.find(
        record,
        workspace.dataset.experts_of(language),
        ratings=evidence.ratings,
        scale=workspace.scale.values,
        known=circumstances(workspace, language, evidence=evidence),
        left_out=searches_left_out(workspace.dataset, language, gate=evidence.seal.gate),
    )


def circumstances(workspace: Workspace, language: str, *, evidence: Evidence) -> Circumstances:
    """Return what is known of a language's pairs; what there is no file for is known of none."""
    data = workspace.dataset
    corpus = [] if data.corpus is None else data.functions_of(language)
    length = {function.id: len(function.code) for function in corpus}
    pairs = data.experts_of(language)
    baseline, sees, why = _baseline(workspace, language)
    places: dict[PairKey, int] = {}
    again: dict[PairKey, int] = {}
    path = workspace.ledger_path(language)
    if evidence.judge_id is not None:
        places = placement.first(path, evidence.judge_id)
        again = {repeat.pair: repeat.rating for repeat in Ledger.read(path).tally(evidence.judge_id).repeats}
    return Circumstances(
        retrievers={(entry.search_id, entry.function_id): entry.retrievers for entry in evidence.pool},
        characters={pair: length[pair[1]] for pair in pairs if pair[1] in length},
        places=places,
        again=again,
        baseline=baseline,
        baseline_sees=sees,
        no_baseline=why,
    )


def _baseline(workspace: Workspace, language: str) -> tuple[dict[PairKey, int] | None, str | None, str | None]:
    """Return its ratings and what it sees, or else why there are none."""
    if workspace.dataset.corpus is None:
        return None, None, "no corpus"
    try:
        judge = judges.baseline(workspace, language)
    except JudgeError:
        return None, None, "too few expert ratings"
    pairs = sorted(workspace.dataset.experts_of(language))
    return dict(zip(pairs, judge.ratings(pairs), strict=True)), judge.sees, None
