"""Committee runs in the authors' released format: validation, and conversion to journals."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, AliasChoices, BaseModel, Field, ValidationError

from plenum.base.errors import UserError
from plenum_papers.published.catalogue import Release

M = TypeVar("M", bound=BaseModel)
Share = Annotated[float, Field(ge=0, le=1)]
Percent = Annotated[float, Field(ge=0, le=100)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Seat = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9_-]{0,39}$")]


def _adds_up(pref: list[float]) -> list[float]:
    if abs(sum(pref) - 1) > 0.01:
        raise ValueError(f"preferences add up to {sum(pref):g}, not 1")
    return pref


Preferences = Annotated[list[Share], Field(min_length=3, max_length=3), AfterValidator(_adds_up)]


def _either(*names: str) -> Any:
    """Return a field that may have any of these names, since providers differ."""
    return Field(validation_alias=AliasChoices(*names))


class ReleasedUsage(BaseModel):
    """Token usage of a call, or of all calls of a run."""

    input_tokens: Annotated[Count, _either("input_tokens", "prompt_tokens")]
    output_tokens: Annotated[Count, _either("output_tokens", "completion_tokens")]


class ReleasedTurn(BaseModel):
    """A seat's argument, and the state that was parsed from it."""

    round_num: Annotated[int, Field(ge=1)]
    role: Seat
    argument: str
    pref: Preferences
    conf: Percent
    tags: list[str]
    usage: ReleasedUsage


class ReleasedBallot(BaseModel):
    """A private vote; votes are in speaking order, whatever the agent's name in them."""

    agent: str
    vote: str
    confidence_0_100: Percent


class ReleasedDecision(BaseModel):
    """The clerk's decision from the ballots."""

    decision: str


class Setting(BaseModel):
    """A run's description of its condition."""

    temperature: float
    roles_enabled: bool
    n_agents: Annotated[int, Field(ge=2)]
    k_window: Annotated[int, Field(ge=1)]
    rounds: Annotated[int, Field(ge=2, le=1000)]


class ReleasedRun(BaseModel):
    """One deliberation."""

    scenario_id: str
    condition: Setting
    turns: Annotated[list[ReleasedTurn], Field(min_length=1)]
    ballots: list[ReleasedBallot]
    final_decision: ReleasedDecision
    usage_total: ReleasedUsage


class PublishedBackend(BaseModel):
    """The environment of a hosted model."""

    model_name: str
    dtype: str
    torch_version: str
    transformers_version: str
    gpu_name: str


class Record(BaseModel):
    """A line of a released file."""

    replicate: Annotated[int, Field(ge=0, le=999)] | None = None
    model: str | None = None
    backend: PublishedBackend | None = None
    variant_id: str | None = None
    variant_label: str | None = None
    family: str | None = None
    run: ReleasedRun

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats in speaking order."""
        return tuple(dict.fromkeys(turn.role for turn in self.run.turns))


def parse_released(release: Release, path: Path, model: type[M]) -> M:
    """Parse and validate a released JSON file.

    Raises
    ------
    UserError
        It can't be read, was changed, or has another form.
    """
    try:
        return model.model_validate_json(release.read(path))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "file"
        raise UserError(f"published: {path}: {place}: {first['msg']}") from None


def parse_record(path: Path, data: bytes) -> tuple[list[Record], int]:
    """Return the runs of a released file, and the number of its lines without one.

    A line that isn't JSON is skipped, as in the authors' scripts.

    Parameters
    ----------
    path
        The file's name for messages.

    Raises
    ------
    UserError
        The file isn't text, a JSON line isn't a run, or there are no runs at all.
    """
    records, torn = [], 0
    try:
        lines = data.decode("utf-8-sig").split("\n")  # other line ends may stand in what is said
    except UnicodeDecodeError as error:
        raise UserError(f"published: {path} can't be read: {error}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            records.append(_whole(Record.model_validate_json(line)))
        except ValidationError as error:
            first = error.errors()[0]
            if first["type"] == "json_invalid":
                torn += 1
                continue
            place = ".".join(map(str, first["loc"])) or "run"
            raise UserError(f"published: {path}, line {number}: {place}: {first['msg']}") from None
        except ValueError as error:
            raise UserError(f"published: {path}, line {number}: {error}") from None
    if not records:
        raise UserError(f"published: {path} holds no run")
    return records, torn


def _whole(record: Record) -> Record:
    """Check that every seat speaks once per round, in the same order; return the record."""
    setting = record.run.condition
    spoken = [(turn.round_num, turn.role) for turn in record.run.turns]
    order = [(t, seat) for t in range(1, setting.rounds + 1) for seat in record.seats]
    if len(record.seats) != setting.n_agents:
        raise ValueError(f"{len(record.seats)} seats speak, not {setting.n_agents}")
    if spoken != order:
        raise ValueError(f"not every seat speaks once in each of {setting.rounds} rounds")
    if len(record.run.ballots) > setting.n_agents:
        raise ValueError(f"{len(record.run.ballots)} ballots of {setting.n_agents} seats")
    return record


def entries(
    record: Record, models: Mapping[str, str], options: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Yield a run as entries of a journal, without the head.

    Arguments, states and votes are as the authors recorded them. For calls of ballots and the
    clerk, the files only have the total usage, which is recorded at the clerk.

    Parameters
    ----------
    models
        The model of each seat, and of the clerk under ``clerk``.
    options
        The labels of possible decisions; any other one counts as ``NONE``.
    """
    run = record.run
    for turn in run.turns:
        state = {"pref": turn.pref, "conf": turn.conf, "tags": turn.tags}
        text = turn.argument.removeprefix("ARGUMENT:").strip()
        yield {
            **_answer("turn", turn.round_num, turn.role, models, turn.argument, turn.usage),
            "argument": text,
            "state": state,
        }
    nothing = ReleasedUsage(input_tokens=0, output_tokens=0)
    for ballot, seat in zip(run.ballots, record.seats, strict=False):
        text = json.dumps({"decision": ballot.vote, "confidence": ballot.confidence_0_100})
        vote = {"decision": ballot.vote, "confidence": ballot.confidence_0_100}
        answer = _answer("ballot", run.condition.rounds, seat, models, text, nothing)
        yield {**answer, "ballot": vote}
    decision = run.final_decision.decision if run.final_decision.decision in options else "NONE"
    clerk = run.final_decision.model_dump_json()
    yield _answer("clerk", run.condition.rounds, "clerk", models, clerk, _rest(run))
    votes = Counter(ballot.vote for ballot in run.ballots)
    yield {
        "kind": "end",
        "status": "completed",
        "decision": decision,
        "votes": votes[decision],
        "total": len(run.ballots),
        "clerk": run.final_decision.decision,
        "clerk_agrees": 2 * votes[decision] > len(run.ballots),
    }


def _answer(
    kind: str, number: int, seat: str, models: Mapping[str, str], text: str, tokens: ReleasedUsage
) -> dict[str, Any]:
    return {
        "kind": kind,
        "round": number,
        "seat": seat,
        "model": models[seat],
        "text": text,
        "tokens_in": tokens.input_tokens,
        "tokens_out": tokens.output_tokens,
        "finish": "stop",
        "cost": None,
    }


def _rest(run: ReleasedRun) -> ReleasedUsage:
    """Return a run's usage apart from its turns: that of ballots and the clerk."""
    taken = {
        name: max(
            0, getattr(run.usage_total, name) - sum(getattr(t.usage, name) for t in run.turns)
        )
        for name in ("input_tokens", "output_tokens")
    }
    return ReleasedUsage(**taken)
