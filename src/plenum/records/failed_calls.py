"""The call at which a replicate failed, and the beginning of its answer."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from plenum.base.secrets import redact
from plenum.base.text import flatten
from plenum.records.transcript import Transcript

_SHOWN = 100
"""Characters of an answer that a message quotes."""


@dataclass(frozen=True)
class FailedCall:
    """The call at which a replicate failed.

    Attributes
    ----------
    replicate
        Its index.
    reason, detail
        Why it failed, and in words.
    call, round, seat
        The kind of call, as journals name it; empty, 0 and empty for a program under audit.
    wrote
        The beginning of the answer that couldn't be read, in one printable line without secrets;
        ``None`` where no answer came.
    """

    replicate: int
    reason: str
    detail: str
    call: str = ""
    round: int = 0
    seat: str = ""
    wrote: str | None = None

    def __str__(self) -> str:
        """Describe the call in one line, for people."""
        return " ".join(filter(None, (self.place, flatten(redact(self.detail)), self._quote)))

    @property
    def place(self) -> str:
        """The seat, the kind of call and the round."""
        if not self.call:
            return ""
        kind = self.call.removesuffix("_repair").replace("_", " ")
        again = " after a repair" if self.call.endswith("_repair") else ""
        return f"{kind} of {self.seat} in round {self.round}{again}:"

    @property
    def _quote(self) -> str:
        if self.wrote is None:
            return ""
        return f"(the answer begins: {self.wrote!r})" if self.wrote else "(the answer is empty)"


def find_failed_call(transcript: Transcript) -> FailedCall | None:
    """Find the call at which a replicate failed; ``None`` if it hasn't."""
    end = transcript.end
    if end is None or transcript.status != "failed":
        return None
    at = end.get("at") or {}
    named = {name: at[name] for name in ("call", "round", "seat") if name in at}
    why = str(end.get("reason", "")), str(end.get("detail", ""))
    return FailedCall(transcript.head["replicate"], *why, **named, wrote=_answer(transcript, at))


def group_failures(calls: Iterable[FailedCall]) -> list[dict[str, Any]]:
    """Group failed replicates by reason, kind of call and seat, the first of each as its example.

    Returns
    -------
    list of dict
        The fields of :class:`FailedCall`, and how many ``replicates`` failed so.
    """
    groups: dict[tuple[str, str, str], dict[str, Any]] = {}
    for each in sorted(calls, key=lambda call: call.replicate):
        key = each.reason, each.call.removesuffix("_repair"), each.seat
        groups.setdefault(key, {**asdict(each), "replicates": 0})["replicates"] += 1
    return list(groups.values())


def select_example(group: Mapping[str, Any]) -> FailedCall:
    """Return the example of a group of :func:`group_failures`."""
    return FailedCall(**{key: value for key, value in group.items() if key != "replicates"})


def _answer(transcript: Transcript, at: Mapping[str, Any]) -> str | None:
    """Return the answer that ended a replicate, if it is the journal's last.

    A failed call without an answer is named in the journal, but has no entry.
    """
    last = transcript.calls[-1] if transcript.calls else {}
    if "problem" not in last or any(last[k] != at.get(k) for k in ("round", "seat")):
        return None
    if last["kind"] != at.get("call"):
        return None
    text = flatten(redact(str(last.get("text", ""))))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rstrip()} ..."
