"""Reasons for answers that break the format."""

import re
from collections.abc import Sequence

from plenum.models import Reply
from plenum.records import Failure

_LONGEST_REFUSAL = 300
"""Letters; what is longer is an argument, of a model that has gone astray."""

_OF_THE_FORM = re.compile(r"[\d\[\]{}=%]|STATE")
_LETTER = "A-Za-z\u00c0-\u024f"


def classify_failure(reply: Reply, labels: Sequence[str]) -> Failure:
    """Classify a reply that doesn't follow the format, though it was asked for twice.

    A refusal is what the provider says is one, or a short text with nothing of what was asked for:
    no number, no bracket and no option. That holds in any language, since no word is read.

    Parameters
    ----------
    labels
        Those of the options.
    """
    if reply.finish == "content_filter":
        return Failure.CONTENT_FILTER
    if reply.finish == "length":
        return Failure.LENGTH
    if not reply.text.strip():
        return Failure.EMPTY
    options = "|".join(map(re.escape, labels))
    named = re.search(rf"(?<![{_LETTER}])(?:{options})(?![{_LETTER}])", reply.text)
    is_long = len(reply.text) > _LONGEST_REFUSAL
    if reply.finish == "refusal" or not (named or is_long or _OF_THE_FORM.search(reply.text)):
        return Failure.REFUSAL
    return Failure.PARSE
