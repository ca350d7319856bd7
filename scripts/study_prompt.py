"""The exact prompt of a call, rebuilt from the condition and the journal."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from plenum.base.errors import UserError
from plenum.base.text import make_printable
from plenum.calls.conversation import Ask, Entry
from plenum.design.condition import Condition
from plenum.design.ranges import StrictSettings, Whole, require
from plenum.execution.answers import read_answers
from plenum.execution.replay import ReadDifferently, convert_messages, replay_calls
from plenum.records.chain import DamagedJournal
from plenum.records.transcript import Transcript, read_transcript
from plenum.tracking.provenance import rebuild_condition
from plenum.tracking.study import Study

_Value = TypeVar("_Value", int, str)


@dataclass(frozen=True)
class WantedCall(StrictSettings):
    """The call of a study whose prompt is wanted; ``None`` for the only one there is.

    Attributes
    ----------
    uri
        The store that holds the study.
    condition
        The first letters of an identity, or the name of a run.
    call
        As journals name it; ``None`` for the first kind that the replicate has.
    answer
        True if the answers are wanted in the prompt's place.
    """

    study: str
    uri: str
    condition: str | None
    replicate: Annotated[Whole, Field(ge=0)]
    call: str | None
    round: Annotated[Whole, Field(ge=1)] | None
    seat: str | None
    format: Literal["text", "json"]
    journals: str
    answer: bool = False


def show_call(wish: WantedCall) -> None:
    """Print a prompt, message by message, or its answers; the call's place goes to standard error.

    Raises
    ------
    UserError
        There is no such study, condition, replicate or call, or the prompt can't be rebuilt.
    """
    condition, ask, entries = find_call(wish)
    simulated = " (simulated)" if condition.backend.name == "simulated" else ""
    place = f"replicate {wish.replicate}, {ask.kind}, round {ask.round}, {ask.seat}"
    print(f"{condition}: {place}, {ask.chat.model}{simulated}", file=sys.stderr)
    if wish.answer:
        written = list(read_answers(ask, entries))
        parts = [(answer.title, answer.content) for answer in written]
        records = list(map(asdict, written))
        require(bool(parts), f"answer: the call hasn't been answered yet ({place})")
    else:
        records = convert_messages(ask)
        parts = [(message["role"], message["content"]) for message in records]
    if wish.format == "json":
        print(json.dumps(records, indent=1))
        return
    text = "\n\n".join(f"[{title}]\n{content}" for title, content in parts)
    print(make_printable(text) if sys.stdout.isatty() else text)


def find_call(wish: WantedCall) -> tuple[Condition, Ask, Sequence[Entry]]:
    """Find the condition, the call that is wanted, and all entries of its replicate's journal.

    Raises
    ------
    UserError
        As :func:`show`.
    """
    tracked = Study(wish.study, wish.uri)
    run = _choose(tracked.condition_runs, wish.condition)
    condition = rebuild_condition(tracked.client, run)
    transcript = _transcript(tracked, run, condition, wish)
    try:
        asks = [call.ask for call in replay_calls(condition, transcript)]
    except ReadDifferently as problem:
        raise UserError(f"replicate: {wish.replicate}; {problem}") from None
    if not asks:
        raise UserError(f"condition: {wish.condition}; it asks no model")
    kinds = list(dict.fromkeys(ask.kind for ask in asks))
    kind = _one("call", wish.call or kinds[0], kinds)
    asks = [ask for ask in asks if ask.kind == kind]
    number = _one("round", wish.round, list(dict.fromkeys(ask.round for ask in asks)))
    asks = [ask for ask in asks if ask.round == number]
    seat = _one("seat", wish.seat, list(dict.fromkeys(ask.seat for ask in asks)))
    return condition, next(ask for ask in asks if ask.seat == seat), transcript.entries


def _choose(runs: Sequence[Any], name: str | None) -> Any:
    """Find the run of the condition of that name or identity."""

    def identity(run: Any) -> str:
        return str(run.data.tags["plenum.condition"])

    fits = [r for r in runs if name is None or identity(r).startswith(name)]
    fits = fits or [run for run in runs if run.info.run_name == name]
    if len({identity(run) for run in fits}) == 1:
        return fits[0]
    named = {identity(run): run.info.run_name for run in fits or runs}
    known = "; ".join(f"{key} ({title})" for key, title in list(named.items())[:12])
    wrong = f"{name!r} is {'several' if fits else 'none'} of them" if name else "missing"
    raise UserError(f"condition: {wrong}; one of {known}{'; ...' if len(named) > 12 else ''}")


def _transcript(study: Study, run: Any, condition: Condition, wish: WantedCall) -> Transcript:
    """Read a replicate's journal: the one here, else the copy in the tracking store."""
    here = Path(wish.journals) / condition.folder / f"{wish.replicate:03d}.jsonl"
    try:
        if here.exists():
            return read_transcript(here)
        with study.transcripts([run.info.run_id]) as kept:
            replicates = {
                replicate.replicate: replicate for replicate in kept.get(run.info.run_id, ())
            }
            _one("replicate", wish.replicate, list(replicates))
            return replicates[wish.replicate].verify()
    except DamagedJournal as problem:
        raise UserError(str(problem)) from None


def _one(key: str, value: _Value | None, known: Sequence[_Value]) -> _Value:
    """Return a value if it is known; the only known one if none is given."""
    if value is None and len(known) == 1:
        return known[0]
    if value is not None and value in known:
        return value
    wrong = "missing" if value is None else repr(value)
    names = ", ".join(map(str, known)) or "none"
    first = known[0] if known else ""
    if isinstance(first, int) and list(known) == list(range(first, first + len(known))):
        names = f"{first} to {known[-1]}"
    raise UserError(f"{key}: {wrong}; one of {names}")
