"""The frame of the prompts: every fixed sentence around the varying parts, as templates."""

from dataclasses import dataclass, replace
from functools import lru_cache
from string import Template

from plenum.base.identity import digest

_SYSTEM = "$preamble\n\nYour seat: $label$mandate"
_CASE = (
    "## Scenario\n$packet\n\n## Recent arguments\n$window\n\n"
    "## Committee table\n| seat | $columns | confidence | tags |\n$table\n\n"
)
_NO_STATE = " and no STATE line"
_BALLOT = (
    "Nobody sees your vote. Answer with one JSON object and nothing else, no argument"
    f"{_NO_STATE}:\n$ballot_form"
)
_REPAIR_JSON = (
    "Your previous answer was not the JSON object that was asked for ($problem). Answer with "
    "that object and nothing else:\n$form"
)


@dataclass(frozen=True)
class Frame:
    """The templates of the prompts.

    :data:`plenum.committee.frame_files.PLACEHOLDERS` has what each may hold.

    Attributes
    ----------
    system, turn
        The two messages of a turn.
    ballot_system, ballot, ballot_alone
        Those of a ballot, with a discussion before it or without.
    clerk_system, clerk
        Those of the clerk.
    mandate
        The mandate of a seat that has one, where the messages hold ``$mandate``.
    remark, nothing, withheld
        An argument of the window; an empty window; one that the protocol doesn't show.
    row, blank
        A seat's row of the committee table; that of a seat that hasn't spoken.
    last
        What ``$last`` stands for in the last round; in earlier ones for nothing.
    round_line
        What ``$round_line`` stands for where the protocol has ``round_lines``; otherwise for
        nothing.
    repair, repair_ballot, repair_clerk
        What follows a malformed answer.
    answers
        Which JSON objects ballots and clerk answer with, in
        :data:`plenum.committee.ballots.FORMS`.
    """

    system: str = _SYSTEM
    turn: str = (
        f"{_CASE}## Your turn\nYou are $label.$round_line Give your argument, then your STATE "
        "line:\n$state_format"
    )
    ballot_system: str = _SYSTEM
    ballot: str = f"{_CASE}## Private ballot\nYou are $label. The discussion is over. {_BALLOT}"
    ballot_alone: str = f"{_CASE}## Private ballot\nYou are $label. {_BALLOT}"
    clerk_system: str = "You are the clerk of a committee. You count its ballots."
    clerk: str = (
        "The private ballots, one a line:\n$ballots\n\n"
        "Find the option that more than half of the ballots name. If there is none, the "
        'decision is "NONE" and majority_count the largest number of votes for one option. '
        "Answer with one JSON object and nothing else:\n$clerk_form"
    )
    mandate: str = "\nYour mandate: $mandate"
    remark: str = "$label: $quoted"
    nothing: str = "Nobody has spoken yet."
    withheld: str = "Arguments are not shown."
    row: str = "| $label | $cells |"
    blank: str = "| $label | $blanks | - | - |"
    last: str = (
        " It is the final round: say plainly which option you favour now, and name the one doubt "
        "that weighs most."
    )
    round_line: str = " This is round $round of $rounds.$last"
    repair: str = (
        "Your previous answer had no valid STATE line ($problem). Answer with the corrected STATE "
        "line and nothing else, in this form:\n$state_format"
    )
    repair_ballot: str = _REPAIR_JSON
    repair_clerk: str = _REPAIR_JSON
    answers: str = "short"

    @property
    def digest(self) -> str:
        """The digest of the templates; empty for plenum's, which ``PROTOCOL_VERSION`` covers."""
        return "" if self == PLENUM else digest(vars(self))


PLENUM = Frame()
"""plenum's own frame."""

CONSTRAINED = replace(
    PLENUM,
    turn=f"{_CASE}## Your turn\nYou are $label.$round_line Answer with one JSON object, your "
    "argument and your state, with your own words for the dots and numbers for NN:\n"
    "$state_format",
    repair="Your previous answer was not the JSON object that was asked for ($problem). Answer "
    "with that object and nothing else, in this form:\n$state_format",
    ballot=PLENUM.ballot.replace(_NO_STATE, ""),
    ballot_alone=PLENUM.ballot_alone.replace(_NO_STATE, ""),
)
"""plenum's frame for answers whose form the backend enforces."""


def fill(template: str, **values: object) -> str:
    """Write a template with these values in place of its placeholders."""
    return _as_format(template) % values


# Far more templates than all sets of prompts of a study have.
@lru_cache(maxsize=1024)
def _as_format(template: str) -> str:
    """Convert ``$name`` to ``%(name)s``, which is filled several times as fast."""
    # A percent sign of the prompt's own must not begin a placeholder.
    escaped = Template(template.replace("%", "%%"))
    return escaped.substitute({name: f"%({name})s" for name in escaped.get_identifiers()})
