"""Reasons for answers that break the format."""

import re

from plenum.models import Reply
from plenum.records import Failure

_CANNOT = (
    r"(?:can['’]?t|can ?not|(?:am|['’]m|are|['’]re) (?:not able|unable)|won['’]t|must decline)\b"
)
_DECLINED = (
    r"(?:help|assist|provide|comply|answer|respond|participate|take (?:part|a|sides)|vote|engage|"
    r"fulfil|complete|do (?:this|that)|discuss)"
)
_REFUSAL = re.compile(
    rf"\W*(?:(?:I|we)[^.!?,\n]{{0,20}}?{_CANNOT} (?:be able to |to )?{_DECLINED}\b|"
    rf"(?:(?:I['’]m|I am|we['’]re|we are) )?(?:very |so )?(?:sorry|afraid|unfortunately)\b"
    rf"[^.!?\n]{{0,80}}?{_CANNOT}|"
    rf"I apologi[sz]e\b[^.!?\n]{{0,80}}?{_CANNOT}|"
    rf"as an? (?:AI|artificial|language)\b[^.!?\n]{{0,80}}?{_CANNOT})",
    re.IGNORECASE,
)


def classify_failure(reply: Reply) -> Failure:
    """Classify a reply that doesn't follow the format.

    A refusal is recognised by the text's opening words, in English.
    """
    if reply.finish == "content_filter":
        return Failure.CONTENT_FILTER
    if reply.finish == "length":
        return Failure.LENGTH
    if not reply.text.strip():
        return Failure.EMPTY
    declined = "STATE" not in reply.text and _REFUSAL.match(reply.text)
    if reply.finish == "refusal" or declined:
        return Failure.REFUSAL
    return Failure.PARSE
