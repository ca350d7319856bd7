"""The sentences of a scenario with their places, and scenarios with other sentences."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from plenum.scenarios.scenario import LISTS, Scenario

_TEXTS = ("situation", "question", "endpoint")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a packet.

    Parameters
    ----------
    field
        The scenario's field that it stands in.
    item
        Which item of that field, or which option, from 0; 0 for a text.
    text
        The sentence, one space between words.
    """

    field: str
    item: int
    text: str


def list_sentences(scenario: Scenario) -> tuple[Sentence, ...]:
    """List the sentences of a scenario in the order of its packet.

    Title, domain, option labels and option names are not among them, since they stay as they are.
    """
    descriptions = tuple(option.description for option in scenario.options)
    fields = [
        ("situation", (scenario.situation,)),
        *((field, getattr(scenario, field)) for field in LISTS),
        ("options", descriptions),
        ("question", (scenario.question,)),
        ("endpoint", (scenario.endpoint,)),
    ]
    return tuple(
        Sentence(field, item, text)
        for field, texts in fields
        for item, paragraph in enumerate(texts)
        for text in split_sentences(paragraph)
    )


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences, after a full stop, ``?`` or ``!`` that white space follows."""
    return re.split(r"(?<=[.?!])\s+", text.strip())


def replace_sentences(scenario: Scenario, texts: Sequence[str]) -> Scenario:
    """Replace each sentence of a scenario, in the order of :func:`list_sentences`."""
    replaced = zip(list_sentences(scenario), texts, strict=True)
    places = groupby(replaced, key=lambda pair: (pair[0].field, pair[0].item))
    joined = {place: " ".join(text for _, text in pairs) for place, pairs in places}
    fields = {field: joined[field, 0] for field in _TEXTS}
    lists = {
        field: tuple(joined[field, item] for item in range(len(getattr(scenario, field))))
        for field in LISTS
    }
    options = tuple(
        replace(option, description=joined["options", item])
        for item, option in enumerate(scenario.options)
    )
    return replace(scenario, **fields, **lists, options=options)  # type: ignore[arg-type]
