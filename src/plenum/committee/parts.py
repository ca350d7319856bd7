"""The sentences by which a turn's prompt tells a seat of the parts of its protocol.

A placebo has none: who is told that reasons are of another case, need not read them.
"""

from typing import TYPE_CHECKING

from plenum.base.errors import UserError
from plenum.committee.frame import CONSTRAINED, PLENUM, Frame

if TYPE_CHECKING:
    from plenum.design.settings import Protocol

_REFLECT = (
    " The arguments above are your own earlier ones, and nobody else's reach you. Reflect on them "
    "before you answer: say which of your reasons still hold, and what you overlooked."
)
_SUMMARY = (
    " A neutral moderator sums up each round, and its summary stands above in place of the "
    "members' arguments."
)
_DISCLOSE = (
    " The moderator asks every member: what do you know of this case that only you have seen? Say "
    "it in your argument, even if it speaks against your view; if there is nothing, say so."
)
_AT_ONCE = (
    " All members answer this round at the same time: none of them has read what another one says "
    "in it."
)
_STEP = (
    " From one round to the next your row of the table moves by at most {step:g}: that is how much "
    "of your preference can pass from some options to others. If you state more, your row goes "
    "only so far towards it."
)


def describe_parts(protocol: "Protocol", number: int) -> str:
    """Describe the parts of a protocol to a seat, in the turn of a round.

    Parameters
    ----------
    number
        The round, from 1; before the second one there is nothing to reflect on, or to ask about.

    Returns
    -------
    str
        Sentences, each after a space; none of the usual protocol.

    Examples
    --------
    >>> from plenum.committee.parts import describe_parts
    >>> from plenum.design.settings import Protocol
    >>> describe_parts(Protocol(), 2)
    ''
    >>> describe_parts(Protocol(order="simultaneous"), 1)[:47]
    ' All members answer this round at the same time'
    """
    later = number > 1
    sentences = {
        _REFLECT: protocol.exchange == "reflection" and later,
        _SUMMARY: protocol.moderator == "summary",
        _DISCLOSE: protocol.moderator == "discloser" and later,
        _AT_ONCE: protocol.order == "simultaneous",
        _STEP.format(step=protocol.step): protocol.step < 1,
    }
    return "".join(sentence for sentence, holds in sentences.items() if holds)


def require_sentences(protocol: "Protocol", frame: Frame, name: str) -> None:
    """Refuse parts that the prompts have no sentences for.

    Parameters
    ----------
    frame, name
        The frame of the prompts, and the name of their set.

    Raises
    ------
    UserError
        They aren't plenum's.
    """
    parts = [part for part in protocol.parts if part not in ("no_feedback", "one_shot")]
    if parts and frame not in (PLENUM, CONSTRAINED):
        raise UserError(
            f"protocol: {'+'.join(parts)}, but the prompts {name} have no words for it; use "
            "prompts=plenum, or protocol=deliberation, no_feedback or one_shot"
        )
