"""The share of private facts that their owners said, judged by their words."""

import re

from plenum.records.transcript import Transcript

_LONG = 4
"""The fewest letters of a word that carries content."""


def find_content(text: str) -> frozenset[str]:
    """Find the words of a text with at least four letters, and its numbers; without any, all.

    Examples
    --------
    >>> from plenum.records.said_facts import find_content
    >>> sorted(find_content("The gate was locked at 7."))
    ['7', 'gate', 'locked']
    """
    words = re.findall(r"\w+", text.casefold())
    content = frozenset(w for w in words if len(w) >= _LONG or any(c.isdigit() for c in w))
    return content or frozenset(words)


def share_said(transcript: Transcript) -> float:
    """Return the share of private facts that their owners said.

    A fact counts as said where one message of its seat holds every word of
    :func:`find_content`: a lower bound, since other words may say the same.

    Raises
    ------
    KeyError
        The condition has no private facts.
    """
    facts = [(s, fact) for s, told in transcript.head["private_facts"].items() for fact in told]
    messages: dict[str, list[frozenset[str]]] = {}
    for turn in transcript.turns:
        # All words, since a fact's may be short where it has no others.
        words = frozenset(re.findall(r"\w+", turn.argument.casefold()))
        messages.setdefault(turn.seat, []).append(words)
    said = (any(find_content(f) <= words for words in messages.get(s, ())) for s, f in facts)
    return sum(said) / len(facts)
