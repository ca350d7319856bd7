"""Extraction of amounts from a text: numbers, units, currencies, periods, and bounds."""

import re
from collections import Counter
from collections.abc import Iterator

_ONES = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {word: value for value, word in enumerate(_ONES, start=1)}
_WORDS |= {word: value for value, word in enumerate(_TENS, start=2) for value in [10 * value]}
_WORDS |= {"single": 1, "sole": 1}
_POWERS = {"hundred": 100, "thousand": 1000, "dozen": 12, "dozens": 12}
_LARGE = {"million": 1e6, "billion": 1e9}
_PARTS = {
    "half": r"hal(?:f|ves?|ved|ving)",
    "third": r"thirds?",
    "quarter": r"quarters?",
    "double": r"twice|doubl(?:e[sd]?|ing)|twofold",
    "triple": r"thrice|(?:tripl|trebl)(?:e[sd]?|ing)|threefold",
    "quadruple": r"quadrupl(?:e[sd]?|ing)|fourfold",
    "tenfold": r"tenfold",
    **{name: rf"{name}s?" for name in ("fifth", "sixth", "seventh", "eighth", "ninth", "tenth")},
}
_UNITS = (
    "percent", "million", "billion", "day", "week", "month", "year", "hour", "minute", "second",
    "tonne", "point", "metre", "kilometre", "hectare",
)  # fmt: skip
_CURRENCIES = (
    "crown", "mark", "taler", "florin", "guilder", "ducat", "dollar", "euro", "pound", "franc",
    "peso", "rupee", "yen", "yuan", "rouble", "ruble", "lira", "dinar", "krona", "krone", "cent",
)  # fmt: skip

_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
_NUMBER = re.compile(
    rf"""
    (?<![^\W\d])(?=[\dbdefhmnoqst])(?:                      # fails fast where no number begins
      (?:no|not)\ (?:a\ )?(?:one|single)\b               # nobody: no number
      | (?:one[ -])?(?P<part>{"|".join(_PARTS.values())})\b
      | (?:(?P<digits>\d+(?:,\d{{3}})*(?:\.\d+)?)(?:th|nd|rd|st)?
          | (?P<tens>{"|".join(_TENS)})-(?P<ones>{"|".join(_ONES[:9])})\b
          | (?P<word>{_WORD})\b)
        (?:[ ](?P<power>hundred|thousand|dozen)\b)?
      | (?P<bare>hundred|thousand|dozens?)\b
      | (?<=\ba\ )(?P<large>million|billion)\b           # after a number it is a unit
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_UNIT = re.compile(rf"(?:[ -](?:{'|'.join(_UNITS)})s?\b|[ ]?%|[ ]per[ ]cent\b)", re.IGNORECASE)

_CURRENCY = re.compile(
    rf"(?:[ -](?:million|billion))?[ -](?P<name>(?:{'|'.join(_CURRENCIES)})s?)\b", re.IGNORECASE
)
_PERIOD = re.compile(
    r"\b(?:"
    r"(?P<year>(?:an?|per|each|every) (?:year|annum)\b|annual\w*|yearly)"
    r"|(?P<month>(?:a|per|each|every) month\b|monthly)"
    r"|(?P<week>(?:a|per|each|every) week\b|weekly)"
    r"|(?P<day>(?:a|per|each|every) day\b|daily)"
    r"|(?P<hour>(?:an|per|each|every) hour\b|hourly)"
    r")",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:"
    r"(?P<after>after|later than|(?:no|not) (?:sooner|earlier) than|not before)"
    r"|(?P<within>within|before|inside|(?:no|not) later than|sooner than|earlier than)"
    r"|(?P<at_most>at most|up to|(?:no|not) (?:more|greater|higher) than|a maximum of)"
    r"|(?P<at_least>at least|(?:no|not) (?:less|fewer|lower) than|a minimum of)"
    r"|(?P<over>over|above|beyond|exceed\w*|(?:more|greater|higher|longer) than)"
    r"|(?P<under>under|below|(?:less|fewer|lower|shorter) than)"
    r"|(?P<about>about|around|approximately|roughly|nearly|almost|close to|circa|some|estimated)"
    r") (?:(?:the|next|first|coming|a period of|a total of) )*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?: [^\W\d]+){0,4} (?:"
    r"(?P<at_most>or (?:less|fewer|under|below)|at (?:the )?most)"
    r"|(?P<at_least>or (?:more|over|above)|at (?:the )?least)"
    r"|(?P<after>or (?:later|longer)|at the (?:soonest|earliest))"
    r"|(?P<within>or (?:sooner|earlier)|at the latest)"
    r"|(?P<about>or so)"
    r")\b",
    re.IGNORECASE,
)

Number = float | str
"""A value, or the name of a part or multiple, such as ``half``, ``fifth``, ``double``."""


def find_numbers(text: str) -> Iterator[tuple[Number, int, int]]:
    """Yield every number of a text with its start and end."""
    for match in _NUMBER.finditer(text):
        part = match["part"]
        if part:
            known = (name for name, p in _PARTS.items() if re.fullmatch(p, part, re.IGNORECASE))
            yield next(known), match.start(), match.end()
            continue
        value = _value(match)
        if value is not None:
            yield value, match.start(), match.end()


def _value(match: re.Match[str]) -> float | None:
    if match["bare"]:
        return float(_POWERS[match["bare"].lower()])
    if match["large"]:
        return _LARGE[match["large"].lower()]
    if match["digits"]:
        value = float(match["digits"].replace(",", ""))
    elif match["tens"]:
        value = float(_WORDS[match["tens"].lower()] + _WORDS[match["ones"].lower()])
    elif match["word"]:
        value = float(_WORDS[match["word"].lower()])
    else:
        return None
    return value * _POWERS.get((match["power"] or "").lower(), 1)


def numbers(text: str) -> Counter[Number]:
    """Count the numbers of a text, in digits or in words."""
    return Counter(value for value, _, _ in find_numbers(text))


def quantities(text: str) -> Counter[tuple[Number, str]]:
    """Count the numbers followed directly by a unit, such as ``(38.0, "percent")``."""
    pairs: Counter[tuple[Number, str]] = Counter()
    for value, _, end in find_numbers(text):
        unit = _UNIT.match(text, end)
        if unit:
            name = unit[0].strip(" -").lower()
            pairs[value, "percent" if name in ("%", "per cent") else name.removesuffix("s")] += 1
    return pairs


def currencies(text: str) -> set[str]:
    """Return the currencies of a text's numbers: ``crown`` for "3 million crowns"."""
    matches = (_CURRENCY.match(text, end) for _, _, end in find_numbers(text))
    return {match["name"].lower().removesuffix("s") for match in matches if match}


def periods(text: str) -> set[str]:
    """Return the periods that a text counts by: ``year`` for "each year", "yearly", "annual"."""
    return {match.lastgroup for match in _PERIOD.finditer(text) if match.lastgroup}


def bounds(text: str) -> Counter[tuple[str, Number]]:
    """Count bounds and approximations of numbers, such as ``("at least", 3.0)``.

    ``within`` and ``after`` are for deadlines: "within 3 months", "no sooner than 3 months". "About
    48" is ``("about", 48.0)``.
    """
    pairs: Counter[tuple[str, Number]] = Counter()
    for value, start, end in find_numbers(text):
        for match in (_BEFORE.search(text[max(0, start - 40) : start]), _AFTER.match(text, end)):
            if match and match.lastgroup:
                pairs[match.lastgroup.replace("_", " "), value] += 1
    return pairs
