"""What this folder's hiring committees share: their seats, and how they vote."""

import os
import re
from collections.abc import Iterable, Mapping

MODEL = os.environ.get("MODEL", "gpt-4o-mini")
SEATS = {
    "team_lead": "You lead the team that the new colleague joins. You want work done well at once.",
    "personnel": "You answer for personnel. You want people who stay and get on with others.",
    "treasurer": "You answer for the money. You want what somebody costs to be worth it, all told.",
}
RULE = "Argue in three sentences. End with the line `VOTE: <label>`, the label of an option."


def vote(text: str, options: Mapping[str, str]) -> str | None:
    """The label after the last ``VOTE:``; none where it is no option's."""
    labels = [label for label in re.findall(r"VOTE:\W*(\w+)", text) if label in options]
    return labels[-1] if labels else None


def majority(votes: Iterable[str | None]) -> str | None:
    """The label with most votes, the earliest of those that tie; none where nobody voted."""
    cast = [label for label in votes if label]
    return max(cast, key=cast.count) if cast else None
