"""The form that an answer is held to, by a JSON schema."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class AnswerSchema:
    """The JSON object that an answer has to be, which a backend enforces where it can.

    Attributes
    ----------
    name
        What is asked for: ``turn``, ``ballot`` or ``count``; of audits ``points`` or ``choice``; of
        worlds ``message``, ``action`` or ``plan``.
    schema
        Its JSON schema, in the part of the standard that OpenAI's strict mode takes: all properties
        are required, and no others are allowed.
    """

    name: str
    schema: Mapping[str, Any] = field(hash=False)


WHOLE = {"type": "integer", "minimum": 0, "maximum": 100}
"""The schema of a whole number from 0 to 100."""


def make_schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Make the JSON schema of an object that has exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
