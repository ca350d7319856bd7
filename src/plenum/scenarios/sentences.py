"""The sentences of a scenario, each with its place, and a scenario with others in their place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from plenum.scenarios import Scenario
from plenum.scenarios.scenario import LISTS

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


def sentences(scenario: Scenario) -> tuple[Sentence, ...]:
    """The sentences of a scenario in the order of its packet.

    Title, domain, option labels and option names are none: they stay as they are.
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
        for text in split(paragraph)
    )


def split(text: str) -> list[str]:
    """The sentences of a text: it is cut after a full stop, ``?`` or ``!`` with a space."""
    return re.split(r"(?<=[.?!])\s+", text.strip())


def reworded(scenario: Scenario, texts: Sequence[str]) -> Scenario:
    """The scenario with each of its sentences replaced, in the order of :func:`sentences`."""
    replaced = zip(sentences(scenario), texts, strict=True)
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
