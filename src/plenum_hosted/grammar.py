"""The grammar of constrained answers of one schema, and what its parts take at most."""

import json
import math
from collections.abc import Mapping
from typing import Any

from llguidance import LLMatcher, LLTokenizer

_LAYOUT: Any = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
}
"""The layout that prompts show; with spaces left free, a small model may write nothing else."""


class Grammar:
    """The common part of answers of one schema: the grammar, and the tokens that its parts take.

    Attributes
    ----------
    matcher
        The grammar before the first token.
    texts
        The places of free texts: each is the number of quotation marks that stand before it.
    values
        The places of numbers, and of lists of them, next to free texts.
    least, usual
        Tokens that the rest behind each number of quotation marks takes, if it is short or
        ordinary.
    full
        Tokens that the short rest takes at most if its numbers and lists are as long as they may.
    """

    def __init__(self, reader: LLTokenizer, schema: Mapping[str, Any]) -> None:
        grammar = LLMatcher.grammar_from_json_schema(_limit_decimals(schema), overrides=_LAYOUT)
        self.matcher = LLMatcher(reader, grammar)
        if self.matcher.is_error():
            raise ValueError(self.matcher.get_error())
        self.texts, values = _places(schema["properties"])
        self.values = frozenset(values if self.texts else ())

        def sizes(text: str) -> list[int]:
            parts = text.split('"')
            rests = ['"'.join(parts[n:]) for n in range(len(parts))]
            # One more for each value, since tokens may be cut there, and some to end what is begun.
            return [len(reader.tokenize_str(rest)) + rest.count(":") + 4 for rest in rests]

        self.least = sizes(json.dumps(_example(schema, "a", 0)))
        # An ordinary tag has two words, and an ordinary number two digits.
        self.usual = sizes(json.dumps(_example(schema, "common_example", 50)))
        self.full = [
            tokens + sum(values[at] for at in self.values if at >= place)
            for place, tokens in enumerate(self.least)
        ]


def _places(properties: Mapping[str, Any]) -> tuple[tuple[int, ...], dict[int, int]]:
    """Find the places of free texts, and those of numbers with the characters that they may have.

    A model may take a token for each character.
    """
    texts, values, quotes = [], {}, 0
    for schema in properties.values():
        # Places are counted in quotes, of which the key itself has two.
        quotes += 2
        if schema == {"type": "string"}:
            # One more, for the mark that opens the text.
            texts.append(quotes + 1)
        elif characters := _characters(schema):
            values[quotes] = characters
        quotes += json.dumps(_example(schema, "a", 0)).count('"')
    return tuple(texts), values


def _characters(schema: Mapping[str, Any]) -> int:
    """Return how many characters a number, or a list of numbers, has at most; 0 of others."""
    kind = schema.get("type")
    if kind == "array" and (item := _characters(schema["items"])):
        # Two characters between items, a comma and a space, and two brackets.
        return int(schema["maxItems"]) * (item + 2) + 2
    if kind in ("integer", "number"):
        # One more, for the point.
        decimals = 1 + _decimals(schema) if kind == "number" else 0
        return len(str(int(schema["maximum"]))) + decimals
    return 0


def _decimals(schema: Mapping[str, Any]) -> int:
    """Return decimals of a number: two, and more where the largest is below 1."""
    # A largest number of 0.05 has four: with two decimals it could take six values alone.
    return max(2, 2 - math.floor(math.log10(schema["maximum"])))


def _limit_decimals(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Give the numbers of a schema a last decimal; without one, a small model may never end."""
    made = {
        key: _limit_decimals(value) if isinstance(value, dict) else value
        for key, value in schema.items()
    }
    if schema.get("type") == "number":
        made["multipleOf"] = 10.0 ** -_decimals(schema)
    return made


def _example(schema: Mapping[str, Any], text: str, number: int) -> Any:
    """Make a value of a schema, with this text and number wherever they are free."""
    if "enum" in schema:
        # The longest one, since these values bound what is still to be written.
        return max(schema["enum"], key=len)
    if schema["type"] == "object":
        return {k: _example(value, text, number) for k, value in schema["properties"].items()}
    if schema["type"] == "array":
        return [_example(schema["items"], text, number)] * schema.get("minItems", 1)
    return text if schema["type"] == "string" else number
