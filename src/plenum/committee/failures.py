"""Reasons for answers that break the format."""

import re

from plenum.calls.chat import Reply
from plenum.records.failures import Failure

_CANNOT = (
    r"(?:can['’]?t|can ?not|(?:am|['’]m|are|['’]re) (?:not able|unable)|won['’]t|must decline)\b"
)
_DECLINED = (
    r"(?:help|assist|provide|comply|answer|respond|participate|take (?:part|a|sides)|vote|engage|"
    r"fulfil|complete|do (?:this|that)|discuss)"
)
# Bounded gaps, `{0,20}` and `{0,80}`: "can't" must belong to the same clause, and a search in a
# long argument ends.
_REFUSAL = re.compile(
    rf"\W*(?:(?:I|we)[^.!?,\n]{{0,20}}?{_CANNOT} (?:be able to |to )?{_DECLINED}\b|"
    rf"(?:(?:I['’]m|I am|we['’]re|we are) )?(?:very |so )?(?:sorry|afraid|unfortunately)\b"
    rf"[^.!?\n]{{0,80}}?{_CANNOT}|"
    rf"I apologi[sz]e\b[^.!?\n]{{0,80}}?{_CANNOT}|"
    rf"as an? (?:AI|artificial|language)\b[^.!?\n]{{0,80}}?{_CANNOT})",
    re.IGNORECASE,
)


_LETTER = "A-Za-z\u00c0-\u024f"
# Without I, which alone is a word of every English refusal.
_OF_THE_FORM = re.compile(rf"[\d\[\]{{}}=%]|STATE|(?<![{_LETTER}])[A-HJ-Z](?![{_LETTER}])")
"""A number, a bracket, or an option's letter alone: a part of what was asked for."""

_LONGEST_REFUSAL = 300
"""Letters; what is longer is an argument, of a model that has gone astray. The number is plenum's
own: refusals are a sentence or two."""


def classify_failure(reply: Reply, reading: str = "strict") -> Failure:
    """Classify a reply that doesn't follow the format, though a repair may have asked for it.

    A refusal is what the provider says is one, or a short text with nothing of what was asked for.
    That holds in any language, since no word is read. Conditions that read strictly are older: they
    know a refusal by its opening words, in English.
    """
    # What the provider says comes first: a text that was cut off may look like a refusal.
    if reply.finish == "content_filter":
        return Failure.CONTENT_FILTER
    if reply.finish == "length":
        return Failure.LENGTH
    if not reply.text.strip():
        return Failure.EMPTY
    if reading == "strict":
        # An answer that speaks of the form has tried to follow it.
        declined = "STATE" not in reply.text and bool(_REFUSAL.match(reply.text))
    else:
        declined = len(reply.text) <= _LONGEST_REFUSAL and not _OF_THE_FORM.search(reply.text)
    if reply.finish == "refusal" or declined:
        return Failure.REFUSAL
    return Failure.PARSE
