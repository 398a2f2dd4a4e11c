"""The step `status`: what is pooled, asked, rated, failed and spent in one language, by judge and by retriever llm."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gates._release import qrels
from gates._verdict import evidence, gate_record
from gates._verdict.gate_record import GateRecord, Verdict
from judge._judges import questions
from judge._judges.questions import Answers
from judge._ledger.ledger import Ledger
from judge._ledger.tally import Tally
from judge._rating import controls, money
from judge.steps import evidences, ledgers
from pools._dataset.partition import Partition
from pools._sampling import estimate, pooled
from pools._sampling.estimate import Estimate
from pools._sampling.pooled import PoolPair
from pools.relevance import is_relevant, is_relevant_rating


@dataclass(frozen=True, slots=True)
class Failure:
    """A pair that was given up, and why."""

    search_id: str
    function_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Account:
    """What failed and what was spent, of whoever is asked; `cost` in US dollars, None where nobody tells."""

    failed: tuple[Failure, ...]
    requests: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    secrets_masked: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Canaries:
    """Hidden expert-rated pairs that were rated, those with the experts' verdict, and the alarm where those are too few."""

    rated: int
    same_verdict: int
    alarm: str | None


@dataclass(frozen=True, slots=True)
class Retest:
    """Pairs rated a second time, how many got the same rating, and the share whose verdict flipped (None: no pair)."""

    pairs: int
    same_rating: int
    flip_rate: float | None


@dataclass(frozen=True, slots=True)
class Place:
    """First ratings from one tenth of a batch, and their mean (None: there are none)."""

    ratings: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class JudgeStatus:
    """A judge of the ledger: pairs rated, its account, what its controls say, and the verdict where the gate is about it."""

    judge_id: str
    model: str | None
    rated: int
    account: Account
    canaries: Canaries
    retest: Retest
    places: tuple[Place, ...]
    observations: tuple[str, ...]
    verdict: Verdict | None

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return _flat(asdict(self))


@dataclass(frozen=True, slots=True)
class RetrieverStatus:
    """A retriever llm, by its model and wording: pairs it answered, its yeses, and answers that came without probability."""

    retriever_id: str
    model: str
    answered: int
    yes: int
    without_probability: int
    account: Account

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return _flat(asdict(self))


@dataclass(frozen=True, slots=True)
class Relevant:
    """How many pairs are relevant by the experts and, of the pairs that they did not rate, by a judge."""

    judge_id: str
    estimate: Estimate

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"judge_id": self.judge_id, **asdict(self.estimate), "missed": self.estimate.missed}


@dataclass(frozen=True, slots=True)
class Status:
    """Where one language stands.

    `functions` is None without a corpus; `pool` counts the pairs to judge by stratum; `merged` are the judgements by a judge
    alone; `relevant` is by the last judge that rated any of the pool's pairs, None where there is none.
    """

    language: str
    searches: int
    functions: int | None
    expert_pairs: int
    pool: Mapping[str, int]
    merged: int
    relevant: Relevant | None
    judges: tuple[JudgeStatus, ...]
    llm: tuple[RetrieverStatus, ...]

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "language": self.language,
            "searches": self.searches,
            "functions": self.functions,
            "expert_pairs": self.expert_pairs,
            "pool": dict(self.pool),
            "merged": self.merged,
            "relevant": None if self.relevant is None else self.relevant.document(),
            "judges": [judge.document() for judge in self.judges],
            "llm": [asked.document() for asked in self.llm],
        }


def status(partition: Partition) -> Status:
    """Return where a language stands; nothing is written."""
    experts, path = partition.experts, pooled.path(partition.folder, partition.language)
    pairs = pooled.read(path) if path.is_file() else ()
    # A pair that experts rated after it was drawn keeps its stratum, and is a validation pair all the same.
    strata = Counter(pair.stratum for pair in pairs if pair.stratum is not None and pair.pair not in experts)
    record = gate_record.read(gate_record.path(partition.folder, partition.language))
    ledger = ledgers.read(partition)
    return Status(
        language=partition.language,
        searches=len(partition.queries),
        functions=None if partition.dataset.corpus is None else len(partition.functions),
        expert_pairs=len(experts),
        pool={str(stratum): strata[stratum] for stratum in sorted(strata)},
        merged=sum(not qrels.of_expert(qrel) for qrel in partition.qrels),
        relevant=_relevant(partition, ledger, pairs=pairs),
        judges=tuple(_judge(partition, ledger, judge_id=judge_id, record=record) for judge_id in ledger.judges()),
        llm=_retrievers(partition),
    )


def _judge(partition: Partition, ledger: Ledger, *, judge_id: str, record: GateRecord | None) -> JudgeStatus:
    sealed, tally = ledger.seal(judge_id), ledger.tally(judge_id)
    relevant_from = sealed.relevant_from if sealed else partition.settings.relevant_from
    watched = controls.watch(tally, partition.experts, relevant_from=relevant_from)
    steady = controls.stability(tally, partition.experts, relevant_from=relevant_from)
    return JudgeStatus(
        judge_id=judge_id,
        model=sealed.identity["model"] if sealed else None,
        rated=len(evidences.ratings(ledger, judge_id)),
        account=_account(partition, ledger, judge_id=judge_id),
        canaries=Canaries(watched.canaries, watched.same, watched.alarm),
        retest=Retest(steady.pairs, steady.same_rating, steady.flip_rate),
        places=tuple(Place(count, mean) for count, mean in steady.places),
        observations=(*_alarms(partition, tally, alarm=watched.alarm), *steady.lines()),
        verdict=record.verdict if record and record.judge_id == judge_id else None,
    )


def _alarms(partition: Partition, tally: Tally, *, alarm: str | None) -> tuple[str, ...]:
    lines = (alarm, evidence.changed_texts(partition.language, tally.changed))
    return tuple(line for line in lines if line is not None)


def _retrievers(partition: Partition) -> tuple[RetrieverStatus, ...]:
    answers = Answers.read(questions.path(partition.folder, partition.language))
    out = []
    for retriever_id in answers.judges():
        given = answers.given(retriever_id).values()
        out.append(
            RetrieverStatus(
                retriever_id=retriever_id,
                model=answers.model(retriever_id),
                answered=len(given),
                yes=sum(1 for answer in given if answer.yes),
                without_probability=sum(1 for answer in given if answer.probability is None),
                account=_account(partition, answers, judge_id=retriever_id),
            )
        )
    return tuple(out)


def _account(partition: Partition, ledger: Ledger, *, judge_id: str) -> Account:
    totals = ledger.totals(judge_id)
    return Account(
        failed=tuple(Failure(*pair, reason) for pair, reason in sorted(ledger.failed(judge_id).items())),
        requests=totals.requests,
        prompt_tokens=totals.usage.prompt,
        cached_tokens=totals.usage.cached,
        completion_tokens=totals.usage.completion,
        secrets_masked=totals.redacted,
        cost=money.total(totals, partition.settings.prices),
    )


def _flat(document: dict[str, Any]) -> dict[str, Any]:
    """Put the account's own entries where it stands."""
    parts = [value if key == "account" else {key: value} for key, value in document.items()]
    return {key: value for part in parts for key, value in part.items()}


def _relevant(partition: Partition, ledger: Ledger, *, pairs: Sequence[PoolPair]) -> Relevant | None:
    if partition.dataset.corpus is None:
        return None
    experts = partition.experts
    drawn = {pair.pair for pair in pairs if pair.stratum is not None and pair.pair not in experts}
    for judge_id in reversed(ledger.judges()):
        ratings = evidences.ratings(ledger, judge_id)
        if drawn.isdisjoint(ratings):
            continue
        sealed = ledger.seal(judge_id)
        least = sealed.relevant_from if sealed else partition.settings.relevant_from
        verdicts = {pair: is_relevant_rating(rating, least) for pair, rating in ratings.items()}
        verdicts |= {pair: is_relevant(given, least) for pair, given in experts.items()}
        size = len(partition.queries) * len(partition.functions)
        return Relevant(judge_id, estimate.relevant_pairs(pairs, verdicts, pairs=size))
    return None
