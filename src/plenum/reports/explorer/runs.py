"""The data of each run on the page of worlds: a record, and its rounds as they were played."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from plenum.records.episodes import list_played_rounds
from plenum.records.transcript import Transcript

REPAIRED, CUT, ABSTAINS = 1, 2, 4
"""Flags of an answer: it came after a repair, it was cut, it couldn't be read."""


def make_record(number: int, transcript: Transcript | None) -> dict[str, Any]:
    """Make the record of a run.

    A damaged one, which has no transcript, is listed and not hidden.
    """
    if transcript is None:
        why = "its journal doesn't verify"
        return {"n": number, "status": "damaged", "reason": why, "course": [], "metrics": {}}
    head, end = transcript.head, transcript.end or {}
    rounds = list_played_rounds(transcript)
    known: dict[str, Any] = {
        "n": number,
        "status": transcript.status,
        "episode": number // int(head.get("runs", 1)),
        "course": [entry["performance"] for entry in rounds],
        "events": [[e["round"], *events] for e in rounds if (events := _events(e))],
        "metrics": end.get("metrics", {}),
    }
    return known | {key: end[key] for key in ("reason", "at", "detail") if end.get(key)}


class WorldTalk:
    """The rounds of a condition's runs: every text once, and knowledge, words and actions.

    A round has its report (text, kind), views (lines by agent, or those of all), answers (agent,
    step, action, words, reasons, flags), actions by unit, and its marks.

    Parameters
    ----------
    staged
        Makes the scene of a run from its head and its rounds.
    """

    def __init__(self, staged: Callable[..., Mapping[str, Any]]) -> None:
        self._staged = staged
        self._numbers: dict[str, int] = defaultdict(count().__next__)  # in the order of appearance
        self._runs: dict[int, dict[str, Any]] = {}

    def add(self, number: int, transcript: Transcript) -> None:
        """Collect the rounds of a run."""
        self._runs[number] = _run(transcript, self._staged, self._numbers)

    def as_block(self) -> dict[str, Any]:
        """Return the rounds by run, and the texts in the order of their numbers."""
        return {"runs": self._runs, "texts": list(self._numbers)}


def _run(
    transcript: Transcript, staged: Callable[..., Mapping[str, Any]], numbers: Mapping[str, int]
) -> dict[str, Any]:
    rounds = list_played_rounds(transcript)
    stage = staged(transcript.head, rounds)
    unseen: dict[str, Any] = {"ground": {}, "legend": [], "pictures": [{"marks": []}] * len(rounds)}
    scene = stage["scene"] or unseen
    answers = _answers(transcript, numbers)
    played = [
        {
            "report": [[numbers[text], kind] for text, kind in _reports(entry, transcript.head)],
            "views": [[numbers[line] for line in view.splitlines()] for view in views],
            "actions": [numbers[format_action(action)] for action in entry["actions"]],
            "tied": entry["tied"],
            "score": entry["score"],
            "performance": entry["performance"],
            "events": _events(entry),
            **picture,
        }
        for entry, views, picture in zip(rounds, stage["views"], scene["pictures"], strict=True)
    ]
    return {
        "ground": scene["ground"],
        "legend": scene["legend"],
        "rounds": played,
        "answers": answers,
    }


def _reports(entry: Mapping[str, Any], head: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List the statements of a round, and their recipients if these differ."""
    if "received" not in entry:
        return [(each["text"], each["kind"]) for each in entry["report"]]
    reached: dict[tuple[str, str], list[str]] = {}
    for named, statements in zip(head["seats"], entry["received"], strict=True):
        for each in statements:
            reached.setdefault((each["text"], each["kind"]), []).append(named["seat"])
    return [(f"{text} ({', '.join(names)})", kind) for (text, kind), names in reached.items()]


def _answers(transcript: Transcript, numbers: Mapping[str, int]) -> list[list[Any]]:
    """List every answer in order: round, agent, step, action, words, reasons, flags."""
    place = {named["seat"]: number for number, named in enumerate(transcript.head["seats"])}
    answers: list[list[Any]] = []
    calls = transcript.calls
    following = [*(entry["kind"] for entry in calls[1:]), ""]
    for entry, then in zip(calls, following, strict=False):
        unread = "read" not in entry
        if unread and then == f"{entry['kind']}_repair":
            continue
        step = entry["kind"].removesuffix("_repair")
        flags = (REPAIRED if entry["kind"] != step else 0) + (CUT if entry.get("cut") else 0)
        flags += ABSTAINS if unread else 0
        read = entry.get("read", {"action": None, "message": ""})
        words = read["message"] if not unread else entry["text"]
        reasons = "" if unread else _reasons(entry["text"])
        answers.append(
            [
                entry["round"],
                place.get(entry["seat"], -1),
                numbers[step],
                numbers[format_action(read["action"])],
                numbers[words],
                numbers[reasons],
                flags,
            ]
        )
    return answers


def _reasons(text: str) -> str:
    """Return the texts of an answer besides its action and its message, which others never read."""
    body = text[text.find("{") : text.rfind("}") + 1]
    try:
        answer = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return text
    values = answer.items() if isinstance(answer, dict) else ()
    return "\n".join(v for name, v in values if isinstance(v, str) and name != "message")


def _events(entry: Mapping[str, Any]) -> list[str]:
    return list(entry["state"].get("events", ()))


def format_action(action: Any) -> str:
    """Write an action in a line."""
    if action is None:
        return "nothing"
    return json.dumps(action, separators=(",", ":"))
