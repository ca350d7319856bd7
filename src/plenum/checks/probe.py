"""The determinism probe (section S1): a study of one seat and one round, played n times.

A replicate is the first turn of a condition and nothing else. The sweep that plays it is that of
any study, with its journals and call logs, limits, retries, budget and signals.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar

from omegaconf import DictConfig
from pydantic import Field

from plenum.base.errors import UserError
from plenum.base.file_locks import require_writable
from plenum.base.terminal import say
from plenum.calls.call_log import read_attempts
from plenum.calls.chat import Reply
from plenum.calls.conversation import Ask, Entry
from plenum.committee.condition import CommitteeCondition, Seat, require_committee
from plenum.committee.cost import longest_answer
from plenum.committee.deliberation import Deliberation
from plenum.committee.state import Malformed
from plenum.design.compose import parse_job
from plenum.design.factors import FACTORS
from plenum.design.job import Job
from plenum.design.kinds import KINDS, Kind
from plenum.design.ranges import GivenByCode, StrictSettings, Whole
from plenum.design.settings import Api
from plenum.design.validation import drop_settings, read_settings
from plenum.execution.condition_folder import looks_ended
from plenum.execution.executors import Deliberations
from plenum.execution.outcomes import format_closing
from plenum.execution.report_pool import ReportPool
from plenum.execution.summarise import report_nothing
from plenum.execution.sweep import run_sweep
from plenum.execution.usage import count_usage
from plenum.records.transcript import read_transcript
from plenum.tracking.store import absolute_uri, require_writable_store
from plenum.tracking.stored_runs import require_active


class _Probe(Kind):
    def converse(self, condition: "ProbeCondition", replicate: int) -> "FirstTurn":
        return FirstTurn(condition, replicate)

    def find_longest_answer(self, condition: "ProbeCondition", ask: Ask) -> tuple[str, float]:
        return longest_answer(condition, ask)


_KIND = _Probe(
    name="probe", plural="probes", tasks=("probe",), factors=FACTORS, repeated=(), tables=(),
    assumed_answers="arguments of argument_words each",
)  # fmt: skip
KINDS.add(_KIND.name, _KIND)  # of this process alone: no config composes it, and no store holds it


@dataclass(frozen=True, kw_only=True)
class ProbeCondition(CommitteeCondition):
    """The first turn of one seat, as if it opened the deliberation.

    Attributes
    ----------
    speaker
        The seat.
    logprobs
        True to ask for the log-probabilities of the answer's tokens.
    """

    kind: ClassVar[str] = "probe"

    speaker: Seat
    logprobs: bool = False

    def collect_identity(self) -> dict[str, Any]:
        """Collect everything that can change an outcome."""
        return {**super().collect_identity(), "probe": self.speaker.name}

    @property
    def calls(self) -> int:
        """One call a replicate."""
        return 1

    @property
    def models(self) -> tuple[str, ...]:
        """The model of the seat."""
        return (self.speaker.model,)

    def __str__(self) -> str:
        return self.speaker.model


class FirstTurn(Deliberation):
    """One answer to the prompt; one that can't be read is kept, and not repaired."""

    _condition: ProbeCondition

    def _play(self) -> Generator[Ask, Reply, Entry]:
        first = next(self._turn(1, self._condition.speaker))
        ask = replace(first, chat=replace(first.chat, logprobs=self._condition.logprobs))
        reply = yield ask
        try:
            read = self._parse_turn(reply.text, False, self._condition.speaker)
            self._note(ask, reply, **read)
        except Malformed as problem:
            self._note(ask, reply, problem=str(problem))
        return {"kind": "end", "status": "completed"}


class _Counts(ReportPool):
    """Counts in place of estimates, for which no process is needed."""

    def __init__(self) -> None:
        self._processes = []

    async def report(
        self, folder: Path, indices: Sequence[int], target: int, stopped: str
    ) -> dict[str, Any]:
        transcripts = [read_transcript(folder / f"{index:03d}.jsonl") for index in indices]
        texts = {entry["text"] for transcript in transcripts for entry in transcript.calls}
        accounts = count_usage(transcripts, read_attempts(folder), target, stopped)
        return {**report_nothing("", f"texts: {len(texts)}"), "accounts": accounts}


class Repeats(Deliberations):
    """The answers of a probe; each is wanted, even if none can be read."""

    tries = False

    def reports(self, conditions: int) -> ReportPool:
        """Count, in place of estimating."""
        return _Counts()


@dataclass(frozen=True)
class ProbeSettings(StrictSettings):
    """The settings of ``scripts/probe.py``.

    Parameters
    ----------
    job
        Its condition gives prompt, models, sampling and backend; its limits and budget apply.
    n
        Calls to each model.
    logprobs
        Whether to ask for log-probabilities; ``None`` asks if LiteLLM says that the model has them.
    out
        The folder in which each probe has its own.
    prove
        True to play a round in each form of answers instead (``scripts/proof.py``).
    """

    job: Annotated[Job, GivenByCode]
    n: Annotated[Whole, Field(ge=2)]
    logprobs: Annotated[bool, Field(description="true, false or null")] | None
    out: Path
    prove: bool = False


def read_probe_settings(cfg: DictConfig) -> ProbeSettings:
    """Check the config of ``scripts/probe.py``.

    Raises
    ------
    UserError
        A value is malformed, or the study can't be tracked.
    """
    job = parse_job(drop_settings(cfg, ProbeSettings))
    wanted = read_settings(ProbeSettings, cfg, job=job)
    require_writable("out", wanted.out)
    if job.tracking_uri:
        uri = absolute_uri(job.tracking_uri)
        require_writable_store(uri)
        require_active(job.study, uri)
    return wanted


def make_probe_jobs(request: ProbeSettings) -> list[Job]:
    """Make the study of each model, in the folder of an unfinished probe or in a new one.

    Of seats with one model the first speaker is asked; of several wordings the first one is read.
    """
    base = require_committee(request.job.condition).base.as_read_by(0)
    shared = {field.name: getattr(base, field.name) for field in fields(base)} | {"variants": ()}
    first = {seat.model: seat for seat in reversed(base.speaking_order)}
    conditions = [
        ProbeCondition(**shared, speaker=seat, logprobs=_has_logprobs(base, seat.model, request))
        for seat in base.speaking_order
        if seat is first[seat.model]
    ]

    def within(folder: Path) -> list[Job]:
        job = replace(request.job, replicates=request.n, journals=str(folder), tracking_uri=None)
        return [replace(job, condition=condition) for condition in conditions]

    name = base.identity[:6]
    latest = max(request.out.glob(f"*-{name}"), default=None)
    if latest is not None and not all(map(looks_ended, unfinished := within(latest))):
        return unfinished
    return within(request.out / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S-%f}-{name}")


def _has_logprobs(base: CommitteeCondition, model: str, request: ProbeSettings) -> bool:
    if request.logprobs is False or not isinstance(base.backend, Api):
        return False
    from plenum.calls.api.routes import require_model_parameters  # LiteLLM takes seconds to import

    try:
        require_model_parameters(model, base.sampling, logprobs=True)
    except UserError:
        if request.logprobs:
            raise
        return False
    return True


def run_probe(jobs: Sequence[Job]) -> bool:
    """Ask each model its first turn, and say what became of the calls.

    Returns
    -------
    bool
        True if every call was answered.

    Raises
    ------
    UserError, KeyboardInterrupt, Stopped
        As for :func:`plenum.execution.sweep.run_sweep`.
    """
    calls = f"{', '.join(str(job.condition) for job in jobs)}: {jobs[0].replicates} calls each"
    outcomes = run_sweep(jobs, Repeats(), begin=lambda: say(f"asking {calls}"))
    for line in format_closing(outcomes):
        say(line)
    return all(outcome.clean for outcome in outcomes)
