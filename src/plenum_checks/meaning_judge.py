"""A judge model that scores how far variants keep the meaning of their scenario (section S4.2).

Every answer goes to a journal in the output folder, so that a later run asks only for missing
scores. Limits, retries, budget and keys are those of a sweep.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

from omegaconf import DictConfig
from pydantic import Field

from plenum.base import (
    Stopped,
    UserError,
    derive_seed,
    digest,
    hold_lock,
    replace_surrogates,
    require_writable,
)
from plenum.design import (
    Float,
    GivenByCode,
    Job,
    Simulated,
    StrictSettings,
    drop_settings,
    parse_job,
    read_settings,
)
from plenum.execution import (
    Admission,
    Caller,
    Ledger,
    Ticket,
    bound_failures,
    classify_error,
    run_together,
    run_until_stopped,
    sum_answers,
)
from plenum.models import (
    SIMULATED,
    Chat,
    ChatModel,
    Message,
    Price,
    Prices,
    Reply,
    build_backend,
    check_backends,
    make_retry_policy,
    require_live_calls,
)
from plenum.records import CallLog, DamagedJournal, Failure, Journal, Usage
from plenum.scenarios import Scenario, Variant, VariantSurvey
from plenum_checks.variants import ScreenSettings
from plenum_checks.wordings import (
    JUDGE_REPAIR,
    JUDGE_SYSTEM,
    MOST_MEANING,
    Judgement,
    Opinion,
    Unread,
    ask_judge,
    read_opinion,
)

UNREAD = "unread"
"""Outcome of a pair if neither the first answer nor the repeated one holds a score."""

_TRIES = 2


@dataclass(frozen=True)
class JudgeSettings(StrictSettings):
    """The judge model, its calls, the limit for flags, and the folder for scores."""

    job: Annotated[Job, GivenByCode]
    judge: Annotated[
        str, Field(strict=True, min_length=1, description="name a model, such as gpt-4.1")
    ]
    flag_below: Annotated[Float, Field(ge=0, le=MOST_MEANING)]
    out: Path


@dataclass(frozen=True)
class VariantPair:
    """A scenario, one of its variants, and the wording that it is compared with."""

    scenario: Scenario
    variant: Variant
    first: Variant

    @property
    def key(self) -> str:
        """A digest of the pair; if a text changes, the judge is asked again."""
        return digest([self.first.packet, self.variant.name, self.variant.packet])

    def record_opinion(self, judge: str, outcome: str, **more: Any) -> Judgement:
        """Return the pair with the outcome of judging it."""
        name, family = self.variant.name, self.variant.family
        return Judgement(self.scenario.id, self.first.name, name, family, judge, outcome, **more)


def settings(cfg: DictConfig) -> JudgeSettings:
    """Check the config of ``scripts/screen_variants.py`` if it names a judge.

    Raises
    ------
    UserError
        A value is malformed, or the backend can't judge.
    """
    job_config = drop_settings(cfg, ScreenSettings, JudgeSettings)
    only: dict[str, Any] = {"name": cfg.judge, "default": cfg.judge, "seats": {}, "clerk": None}
    job_config.model = {**job_config.model, **only}
    wanted = read_settings(JudgeSettings, cfg, job=parse_job(job_config))
    require_writable("out", wanted.out)
    if isinstance(wanted.job.condition.backend, Simulated):
        raise UserError(
            "backend: simulated; simulated agents read no meaning and can't judge it: use "
            "backend=api or backend=hosted"
        )
    return wanted


def pairs(surveys: Sequence[VariantSurvey]) -> list[VariantPair]:
    """Pair every variant that passes the rules with the canonical wording; also pair registers.

    Six registers, including the canonical one, are 15 pairs (section S4.2).
    """
    judged: list[VariantPair] = []
    for surveyed in surveys:
        case = surveyed.scenario
        canonical = Variant("canonical", "canonical", case.packet)
        passed = [c.variant for c in surveyed.checked if c.variant and not c.problems]
        registers = [variant for variant in passed if variant.family == "register"]
        judged += [VariantPair(case, variant, canonical) for variant in passed]
        judged += [VariantPair(case, second, first) for first, second in combinations(registers, 2)]
    return judged


def plan(request: JudgeSettings, pairs: Sequence[VariantPair]) -> str:
    """Describe the questions to be asked and their highest cost, without asking any."""
    price = Prices(request.job.prices).of
    ledger = Ledger(request.job.budget, price)
    identity = _identity(request)
    most = sum((ledger.at_most(_chat(request, identity, pair)) for pair in pairs), Usage())
    cost = f"at most ${most.dollars:.4f}" if price(request.judge) else "price unknown"
    return (
        f"{request.judge}: {len(pairs)} pairs, at most {most.tokens:,} tokens, {cost}; an answer "
        "without a score is asked for once more"
    )


def judge(request: JudgeSettings, pairs: Sequence[VariantPair]) -> tuple[list[Judgement], str]:
    """Ask for every missing score.

    Returns
    -------
    list of Judged
        One for each pair, in order.
    str
        The reason of an early end; empty if every pair was asked.

    Raises
    ------
    UserError
        Something can't work: a missing key, an unknown price under a budget, or another process in
        the same folder. No call has been made then.
    """
    job = request.job
    prices = Prices(job.prices)
    require_live_calls(job.calls)
    model = build_backend(job.condition.backend, job.calls, prices)
    model.check((request.judge,), job.condition.sampling)
    check_backends("require_prices", [job], prices)
    identity = _identity(request)
    folder = request.out / identity
    folder.mkdir(parents=True, exist_ok=True)

    def refuse() -> None:
        raise UserError(f"out: another process is judging in {folder}")

    try:
        with (
            hold_lock(folder / "lock", refuse),
            Journal(folder / "scores.jsonl", _head(request, identity)) as journal,
        ):
            return _judge(request, pairs, model, prices.of, journal)
    except DamagedJournal as damage:
        raise UserError(f"out: {damage}") from None


def _judge(
    request: JudgeSettings,
    pairs: Sequence[VariantPair],
    model: ChatModel,
    price: Callable[[str], Price | None],
    journal: Journal,
) -> tuple[list[Judgement], str]:
    scored = {entry["pair"]: entry for entry in journal.entries if entry["kind"] == "score"}
    scores = {
        pair.key: pair.record_opinion(
            request.judge, "ok", opinion=_opinion(scored[pair.key]), earlier=True
        )
        for pair in pairs
        if pair.key in scored
    }
    left = {pair.key: pair for pair in pairs if pair.key not in scored}
    calls, spent = journal.path.with_name("calls.jsonl"), Usage()
    if request.job.budget.limited:
        spent = sum_answers(journal.entries, price) + bound_failures(calls, price)
    ledger = Ledger(request.job.budget, price, spent)
    again = f" ({len(scores)} scores are there)" if scores else ""
    print(f"asking {request.judge}: {len(left)} pairs{again}", file=sys.stderr, flush=True)
    with CallLog(calls) as log:
        judging = _JudgeRunner(request, model, ledger, journal, log)
        stopped = run_until_stopped(judging.all(list(left.values())))
    stopped = stopped or ledger.refusal or ""
    scores |= judging.judged
    missing = str(Failure.INTERRUPTED)
    return [scores.get(p.key) or p.record_opinion(request.judge, missing) for p in pairs], stopped


class _JudgeRunner:
    """Runner of all calls to the judge on one event loop, admitted like those of a sweep."""

    def __init__(
        self,
        request: JudgeSettings,
        model: ChatModel,
        ledger: Ledger,
        journal: Journal,
        log: CallLog,
    ) -> None:
        self._request, self._model, self._ledger = request, model, ledger
        self._journal, self._log = journal, log
        self._identity = _identity(request)
        self.judged: dict[str, Judgement] = {}

    async def all(self, pairs: Sequence[VariantPair]) -> None:
        """Ask about every pair, and record its outcome in ``judged``."""
        admission = Admission(self._request.job.calls, self._ledger)
        policy = make_retry_policy(self._request.job.calls)
        tickets = [
            Ticket(admission, self._model.provider, self._identity, index)
            for index in range(len(pairs))
        ]
        callers = [Caller(self._model, policy, ticket, self._log) for ticket in tickets]
        calls = (self._one(pair, caller) for pair, caller in zip(pairs, callers, strict=True))
        await run_together(calls, self._model)

    async def _one(self, pair: VariantPair, caller: Caller) -> None:
        try:
            self.judged[pair.key] = await self._opinion(pair, caller)
        except Exception as error:  # one pair's bug must not take the others along
            outcome, detail = classify_error(error)
            self.judged[pair.key] = pair.record_opinion(self._request.judge, outcome, detail=detail)

    async def _opinion(self, pair: VariantPair, caller: Caller) -> Judgement:
        chat, problem = _chat(self._request, self._identity, pair), ""
        for number in range(1, _TRIES + 1):
            reply = await self._reply(pair, chat, caller)
            try:
                opinion = read_opinion(reply.text)
            except Unread as unread:
                problem = "cut off" if reply.finish == "length" else str(unread)
                self._keep("malformed", pair, reply, problem=problem, attempt=number)
                chat = _repair(chat, reply, problem)
            else:
                score = {
                    "score": opinion.score,
                    "difference": replace_surrogates(opinion.difference),
                }
                self._keep("score", pair, reply, **score)
                return pair.record_opinion(self._request.judge, "ok", opinion=opinion)
        return pair.record_opinion(self._request.judge, UNREAD, detail=problem)

    async def _reply(self, pair: VariantPair, chat: Chat, caller: Caller) -> Reply:
        labels = {"replicate": f"{pair.scenario.id}/{pair.first.name}/{pair.variant.name}"}
        answer = await caller.ask(chat, labels)
        if answer.response.fingerprint == SIMULATED:
            raise Stopped(f"model {chat.model}: its answers are simulated and can't judge meaning")
        caller.note_answer(chat, labels, answer)
        return answer.response.reply

    def _keep(self, kind: str, pair: VariantPair, reply: Reply, **more: Any) -> None:
        self._journal.append(
            {
                "kind": kind,
                "pair": pair.key,
                "scenario": pair.scenario.id,
                "first": pair.first.name,
                "variant": pair.variant.name,
                "model": self._request.judge,
                **more,
                "text": replace_surrogates(reply.text),
                "tokens_in": reply.tokens_in,
                "tokens_out": reply.tokens_out,
                "cost": reply.cost,
            }
        )


def _identity(request: JudgeSettings) -> str:
    """Return a digest of the judge: model, sampling, backend, and wording of the prompts."""
    condition = request.job.condition
    asks = [JUDGE_SYSTEM, ask_judge("", ""), JUDGE_REPAIR]
    sampling, backend = vars(condition.sampling), vars(condition.backend)
    return digest([request.judge, sampling, backend, condition.weights, condition.seed, asks])


def _head(request: JudgeSettings, identity: str) -> dict[str, Any]:
    mapping = request.job.condition.as_mapping()
    kept = ("backend", "sampling.temperature", "max_tokens", "seed")
    named = {key: mapping[key] for key in kept if key in mapping}
    return {"condition": identity, "replicate": 0, "judge": request.judge, **named}


def _chat(request: JudgeSettings, identity: str, pair: VariantPair) -> Chat:
    sampling = request.job.condition.sampling
    question = ask_judge(pair.first.packet, pair.variant.packet)
    messages = (Message("system", JUDGE_SYSTEM), Message("user", question))
    seed = derive_seed(identity, pair.key, "judge")
    return Chat(request.judge, messages, sampling.temperature, sampling.max_tokens, seed)


def _repair(chat: Chat, reply: Reply, problem: str) -> Chat:
    more = (
        Message("assistant", replace_surrogates(reply.text) or "(nothing)"),
        Message("user", JUDGE_REPAIR.replace("{problem}", problem)),
    )
    seed = derive_seed(chat.seed, "repair")
    return Chat(chat.model, (*chat.messages, *more), chat.temperature, chat.max_tokens, seed)


def _opinion(entry: dict[str, Any]) -> Opinion:
    return Opinion(float(entry["score"]), str(entry["difference"]))
