"""What is known of expert-rated pairs beside their ratings, from pool, corpus and ledger, for `gates._verdict.findings`."""

from gates._verdict import findings
from gates._verdict.evidence import Evidence
from gates._verdict.findings import Circumstances, Findings
from gates._verdict.gate_record import GateRecord
from gates._verdict.seal import searches_left_out
from judge._ledger import placement
from judge._ledger.texts import Texts
from judge.steps import chosen_judge, ledgers
from pools._dataset.partition import Partition
from pools._dataset.records import PairKey
from pools.errors import JudgeError


def find(partition: Partition, *, evidence: Evidence, record: GateRecord) -> Findings:
    """Return what stands behind a language's verdict."""
    return findings.find(
        record,
        partition.experts,
        ratings=evidence.ratings,
        scale=partition.scale.values,
        known=circumstances(partition, evidence=evidence),
        left_out=searches_left_out(partition.dataset, partition.language, gate=evidence.seal.gate),
    )


def circumstances(partition: Partition, *, evidence: Evidence) -> Circumstances:
    """Return what is known of a language's pairs; what there is no file for is known of none."""
    corpus = () if partition.dataset.corpus is None else partition.functions
    length = {function.id: len(function.code) for function in corpus}
    pairs = partition.experts
    baseline, sees, why = _baseline(partition)
    places: dict[PairKey, int] = {}
    again: dict[PairKey, int] = {}
    path = partition.ledger_path
    if evidence.judge_id is not None:
        places = placement.first(path, evidence.judge_id, texts=Texts.of_partition(partition))
        again = {repeat.pair: repeat.rating for repeat in ledgers.read(partition).tally(evidence.judge_id).repeats}
    return Circumstances(
        retrievers={(entry.search_id, entry.function_id): entry.retrievers for entry in evidence.pool},
        characters={pair: length[pair[1]] for pair in pairs if pair[1] in length},
        places=places,
        again=again,
        baseline=baseline,
        baseline_sees=sees,
        no_baseline=why,
    )


def _baseline(partition: Partition) -> tuple[dict[PairKey, int] | None, str | None, str | None]:
    """Return its ratings and what it sees, or else why there are none."""
    if partition.dataset.corpus is None:
        return None, None, "no corpus"
    try:
        judge = chosen_judge.baseline(partition)
    except JudgeError:
        return None, None, "too few expert ratings"
    pairs = sorted(partition.experts)
    return dict(zip(pairs, judge.ratings(pairs), strict=True)), judge.sees, None
