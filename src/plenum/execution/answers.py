"""The answers to a call, and the reasons why one couldn't be read, from a replicate's journal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plenum.base.secrets import redact
from plenum.calls.conversation import Ask, Entry
from plenum.records.journal import drop_revoked


@dataclass(frozen=True)
class WrittenAnswer:
    """An answer to a call, or to its repair.

    Attributes
    ----------
    call
        The kind of call, as the journal names it.
    content
        The text, without secrets; empty where no answer came.
    finish
        Why the model stopped writing; empty where no answer came.
    problem
        Why it couldn't be read, or why none came; empty where it was read.
    replaced
        True if another answer was asked for in its place, by ``retry_failed=all``.
    """

    call: str
    content: str
    finish: str
    problem: str
    replaced: bool

    @property
    def title(self) -> str:
        """The kind of call, and how its answer was handled."""
        became = self.problem and ("not read: " if self.finish else "no answer: ") + self.problem
        ended = f"ended by {self.finish}" if self.finish not in ("", "stop") else ""
        again = "asked again later" if self.replaced else ""
        return "; ".join(filter(None, (self.call, became, ended, again)))


def read_answers(ask: Ask, entries: Sequence[Entry]) -> Iterator[WrittenAnswer]:
    """Yield a model's answers to a call and to its repair, in order; also a missing one.

    Parameters
    ----------
    entries
        All entries of the replicate's journal.
    """
    kinds = (ask.kind, f"{ask.kind}_repair")
    counted = {id(entry) for entry in drop_revoked(entries)}
    answered = False
    for entry in entries:
        ended = entry["kind"] == "end"
        at = entry.get("at", {}) if ended else {**entry, "call": entry["kind"]}
        if at.get("call") not in kinds or (at.get("round"), at.get("seat")) != (
            ask.round,
            ask.seat,
        ):
            continue
        if not ended:
            answered = at["call"] == kinds[1]
            text, why = redact(str(entry["text"])), redact(str(entry.get("problem", "")))
            finish = str(entry.get("finish") or "stop")
            yield WrittenAnswer(entry["kind"], text, finish, why, id(entry) not in counted)
        elif not answered:
            why = redact(f"{entry['reason']}: {entry.get('detail', '')}")
            yield WrittenAnswer(at["call"], "", "", why, entry is not entries[-1])
