"""The shared contents of all kinds' pages: the list of conditions, and the rest's gathering."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from plenum.design.factors import list_varying
from plenum.dynamics.warnings import WARNINGS
from plenum.records.transcript import Transcript
from plenum.reports.explorer.page import Layout
from plenum.reports.labels import origin
from plenum.reports.settings import Settings
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.transcripts import StoredTranscript

Records = Sequence[Mapping[str, Any]]
"""Records of replicates, as the page lists them."""


class Talk(Protocol):
    """A collector of what the shown transcripts of a condition say, fed one by one."""

    def add(self, number: int, transcript: Transcript) -> None:
        """Collect what was said in a replicate."""

    def as_block(self) -> dict[str, Any]:
        """Return the page's block."""


@dataclass(frozen=True)
class Explorer:
    """The explorer of a kind's studies: their data, and the page that shows them.

    Attributes
    ----------
    layout
        What its pages are made of.
    estimate
        Returns conditions with their estimates, by the settings: what the others call estimated.
    describe
        Describes an estimated condition for the list, by its name and a transcript's head, which
        may be empty.
    draw
        Collects figures and facts of an estimated condition, by the settings, a transcript's head
        and the records of its replicates.
    record
        Makes the record of a replicate from its number and its transcript, ``None`` where the
        journal doesn't verify.
    select
        Selects the completed replicates to show, from their records and how many.
    collect
        Begins the talk of a condition.
    name_axis
        Names what the estimates in the list of conditions are, from its entries.
    """

    layout: Layout
    estimate: Callable[[Sequence[TrackedCondition], Settings], Sequence[Any]]
    describe: Callable[[Any, str, Mapping[str, Any]], dict[str, Any]]
    draw: Callable[[Any, Settings, Mapping[str, Any], Records], dict[str, Any]]
    record: Callable[[int, Transcript | None], dict[str, Any]]
    select: Callable[[Records, int], set[int]]
    collect: Callable[[], Talk]
    name_axis: Callable[[Sequence[Mapping[str, Any]]], str]


def gather_study(
    explorer: Explorer,
    chosen: Settings,
    conditions: Sequence[TrackedCondition],
    kept: Mapping[str, Sequence[StoredTranscript]],
    most: int | None = None,
) -> dict[str, Any]:
    """Gather the page's data by id: the index, and figures and talk of every condition.

    Parameters
    ----------
    chosen
        The study's name, and the settings of its estimates.
    conditions
        The ones to show; they are estimated here.
    kept
        Their transcripts, by run.
    most
        The most completed transcripts of a condition; ``None`` for all.
    """
    data: dict[str, Any] = {"index": {}}
    entries = []
    estimates = explorer.estimate(conditions, chosen)
    names = name_keys(conditions)
    for at, (condition, estimated) in enumerate(zip(conditions, estimates, strict=True)):
        stored = kept.get(condition.run_id, ())
        records, head, talk = read_replicates(explorer, stored, most)
        entry = explorer.describe(estimated, names[at], head)
        entries.append(entry | {"transcripts": sum(bool(each.get("shown")) for each in records)})
        data[f"figures-{at}"] = draw_condition(explorer, chosen, estimated, head, records)
        data[f"talk-{at}"] = talk
    axis = explorer.name_axis(entries)
    return data | {"index": make_index(chosen.study, conditions, entries, axis)}


def draw_condition(
    explorer: Explorer, chosen: Settings, estimated: Any, head: Mapping[str, Any], records: Records
) -> dict[str, Any]:
    """Collect the figures of a condition, the records of its replicates among them."""
    drawn = explorer.draw(estimated, chosen, head, records)
    seats = [select_seat(each) for each in head.get("seats", ())]
    return {"seats": seats, "replicates": records, **drawn}


def read_replicates(
    explorer: Explorer, stored: Sequence[StoredTranscript], most: int | None
) -> tuple[list[dict[str, Any]], Mapping[str, Any], dict[str, Any]]:
    """Read the transcripts of a condition: a record of each, a head, and what the shown ones say.

    Transcripts are read one by one and none is kept: those of a large condition take gigabytes.
    """
    records: list[dict[str, Any]] = []
    head: Mapping[str, Any] = {}
    talk = explorer.collect()
    for each in stored:
        transcript = each.read()
        record = explorer.record(each.replicate, transcript)
        records.append(record)
        if transcript is None:
            continue
        record["shown"] = True
        head = head or transcript.head
        if most is None:
            talk.add(each.replicate, transcript)
    if most is not None:  # which ones are shown is known once all were read
        ended = [record for record in records if record["status"] == "completed"]
        chosen = {r["n"] for r in ended} if len(ended) <= most else explorer.select(ended, most)
        for each, record in zip(stored, records, strict=True):
            record["shown"] = record["status"] != "completed" or record["n"] in chosen
            transcript = each.read() if record["shown"] else None
            if transcript is not None:
                talk.add(each.replicate, transcript)
    return records, head, talk.as_block()


def make_index(
    study: str,
    conditions: Sequence[TrackedCondition],
    entries: Sequence[dict[str, Any]],
    axis: str,
) -> dict[str, Any]:
    """Make the list of conditions and the facts about the whole page.

    Parameters
    ----------
    axis
        What the estimates of the list are.
    """
    names = conditions[0].kind.distinct_factors
    differing = list_varying((condition.factors for condition in conditions), names)
    own, every = (conditions[0].settings, conditions[0].factors.get("settings", ""))
    alike = [word for word in every.split(" ") if own and word not in own.split(" ")]
    warned = {name for entry in entries for name in entry["warnings"]}
    return {
        "study": study,
        "provenance": origin(conditions),
        "differing": differing,
        "common": [[n, conditions[0].factors[n]] for n in names if n not in differing]
        + ([["settings", " ".join(alike)]] if "settings" in differing and alike else []),
        "axis": axis,
        "meanings": {n: WARNINGS[n].short for n in sorted(warned) if n in WARNINGS},
        # A page without entries wants the facts alone.
        "conditions": [
            entry | {"cell": condition.cell}
            for condition, entry in zip(conditions, entries, strict=False)
        ],
    }


def name_keys(conditions: Sequence[TrackedCondition]) -> list[str]:
    """List identities; one that occurs under several labels gets a number."""
    met: Counter[str] = Counter()
    numbered = []
    for identity in (condition.identity for condition in conditions):
        met[identity] += 1
        numbered.append(identity if met[identity] == 1 else f"{identity}.{met[identity]}")
    return numbered


def select_seat(named: Mapping[str, Any]) -> dict[str, Any]:
    """Select the page's fields of a seat or an agent."""
    return {key: named[key] for key in ("seat", "label", "mandate", "model") if key in named}
