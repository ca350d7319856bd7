"""What a text states, as far as patterns can tell: the screen compares these facts."""

import re
from collections import Counter
from collections.abc import Iterator

_ONES = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
    "twenty",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {word: value for value, word in enumerate(_ONES, start=1)}
_WORDS |= {word: value for value, word in enumerate(_TENS, start=2) for value in [10 * value]}
_WORDS |= {"single": 1, "sole": 1}
_POWERS = {"hundred": 100, "thousand": 1000}
_PARTS = {
    "half": r"hal(?:f|ves?|ved|ving)",
    "third": r"thirds?",
    "quarter": r"quarters?",
    "double": r"twice|doubl(?:e[sd]?|ing)",
}
_UNITS = (
    *("percent", "million", "billion", "day", "week", "month", "year", "hour"),
    *("kilometre", "hectare"),
)

_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
_NUMBER = re.compile(
    rf"""
    (?<![^\W\d])(?=[\ddefhnoqst])(?:                      # fails fast where no number begins
      (?:no|not)\ (?:a\ )?(?:one|single)\b               # nobody: no number
      | (?:one[ -])?(?P<part>{"|".join(_PARTS.values())})\b
      | (?:(?P<digits>\d+(?:,\d{{3}})*(?:\.\d+)?)(?:th|nd|rd|st)?
          | (?P<tens>{"|".join(_TENS)})-(?P<ones>{"|".join(_ONES[:9])})\b
          | (?P<word>{_WORD})\b)
        (?:[ ](?P<power>hundred|thousand)\b)?
      | (?P<bare>hundred|thousand)\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_UNIT = re.compile(rf"(?:[ -](?:{'|'.join(_UNITS)})s?\b|[ ]?%|[ ]per[ ]cent\b)", re.IGNORECASE)

Number = float | str
"""A value, or the name of a part: ``half``, ``third``, ``quarter``, ``double``."""


def _found(text: str) -> Iterator[tuple[Number, int, int]]:
    """Every number of a text, with its first character and the one after its last."""
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
    """The numbers of a text, in digits or in words, with how often each stands there."""
    return Counter(value for value, _, _ in _found(text))


def quantities(text: str) -> Counter[tuple[Number, str]]:
    """The numbers that a unit follows directly, such as ``(38.0, "percent")``."""
    pairs: Counter[tuple[Number, str]] = Counter()
    for value, _, end in _found(text):
        unit = _UNIT.match(text, end)
        if unit:
            name = unit[0].strip(" -").lower()
            pairs[value, "percent" if name in ("%", "per cent") else name.removesuffix("s")] += 1
    return pairs


def _opens(text: str, place: int) -> bool:
    """Whether a sentence begins at this place."""
    return not text[:place].strip("\"'“‘(") or bool(
        re.search(r"[.?!][\"'”’)]*\s+[\"'“‘(]*$", text[:place])
    )


def _labels(text: str, known: tuple[str, ...]) -> list[re.Match[str]]:
    """Standalone option labels; an ``A`` that opens a sentence is taken for the article."""
    return [
        match
        for match in re.finditer(r"\b[A-Z]\b", text)
        if match[0] in known and not (match[0] == "A" and _opens(text, match.start()))
    ]


def labels(text: str, known: tuple[str, ...]) -> Counter[str]:
    """The option labels that a text names, with how often it does."""
    return Counter(match[0] for match in _labels(text, known))


def allotted(text: str, known: tuple[str, ...]) -> tuple[dict[str, set[Number]], ...]:
    """Which numbers stand by which option label: before it, and after it.

    Labels that are joined, as in ``A or B``, share their numbers. A number is before a label
    where no other label stands between them.
    """
    groups: list[list[re.Match[str]]] = []
    for match in _labels(text, known):
        joint = text[groups[-1][-1].end() : match.start()] if groups else "-"
        if re.fullmatch(r",?(?: (?:and|or|nor))?(?: (?:under|option))* ", joint):
            groups[-1].append(match)
        else:
            groups.append([match])
    before: dict[str, set[Number]] = {}
    after: dict[str, set[Number]] = {}
    found = list(_found(text))
    for index, group in enumerate(groups):
        low = groups[index - 1][-1].end() if index else 0
        high = groups[index + 1][0].start() if index + 1 < len(groups) else len(text)
        first, last = group[0].start(), group[-1].end()
        for match in group:
            before.setdefault(match[0], set()).update(
                value for value, start, end in found if low <= start and end <= first
            )
            after.setdefault(match[0], set()).update(
                value for value, start, end in found if last <= start and end <= high
            )
    return before, after


def capitalised(text: str) -> set[str]:
    """The words that a capital begins in mid-sentence, but for ``Option``: names."""
    words = re.finditer(r"\b[A-Z][^\W\d_]+", text)
    found = {word[0] for word in words if not _opens(text, word.start())}
    return found - {"Option", "Options"}


def words(text: str) -> set[str]:
    """The words of a text as they are written."""
    return set(re.findall(r"[^\W\d_]+", text))


def stems(text: str) -> set[str]:
    """The content words of a text: those of four letters or more, by their first five."""
    return {word.lower()[:5] for word in words(text) if len(word) >= 4}


_DENIAL = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|neither|nor|without|cannot|otherwise|unable|uninsured)\b"
    r"|n't\b"
)
_NO_DENIAL = re.compile(
    r"\b(?:nothing but|not only|without (?:charge|cost|delay)|no (?:later|more|less|fewer) than)\b"
)
_FORBIDS = (
    r"forb(?:id|ids|ade|idden|idding)|prohibit\w*|ban(?:s|ned)?|bar(?:s|red)?|illegal|unlawful"
)
_OBLIGES = r"requir\w+|oblig\w+|mandatory|compulsory"
_OVER = r"more than|exceed\w*|above|beyond|in excess of|greater than|longer than|higher than"
_UNDER = r"less than|fewer than|below|lower than|shorter than"
_FORCE = {
    "leave": rf"\b(?:not|never|no longer) (?:be )?(?:{_FORBIDS}|{_OBLIGES})\b|\bneed not\b",
    "ceiling": rf"\b(?:not?|never) (?:be )?(?:{_OVER})\b|\bnot exceed\b|\bat most\b|\bup to\b"
    r"|\blimit(?:s|ed)?\b|\bcap(?:s|ped)?\b|\bceilings?\b|\bmaxim(?:um|al)\b|\bat or below\b",
    "floor": rf"\bat least\b|\b(?:not?|never) (?:be )?(?:{_UNDER})\b|\bminim(?:um|al)\b"
    r"|\bat or above\b|\bfloors?\b",
    "ban": rf"\b(?:{_FORBIDS})\b|\b(?:may|must|shall|can|could) (?:not|never)\b"
    r"|\bcannot\b|\bcan't\b"
    r"|\bnot (?:be )?(?:allowed|permitted|possible)\b|\bimpossible\b"
    r"|\b(?:no|none|nobody|neither)\b[^.;,]{0,60}\b(?:may|can)\b|\bno\b[^.;,]{0,60}\ballowed\b"
    r"|\b(?:may|can)\b[^.;,]{0,40}\bonly (?:after|from|if|once|when|with)\b",
    "duty": rf"\b(?:must|shall|{_OBLIGES}|demand\w*|bound to|needs? to)\b|\bha(?:ve|s|d) to\b",
}


def denies(text: str) -> bool:
    """Whether a sentence denies something, by its words."""
    left = _NO_DENIAL.sub(" ", text.lower().replace("’", "'"))
    return _DENIAL.search(left) is not None


def force(text: str) -> set[str]:
    """What a rule does: of ``ceiling``, ``floor``, ``ban``, ``duty`` and ``leave`` those found.

    A ban on more than an amount is a ceiling, and a ban on less a floor: "may not grow by more
    than 3 percent" and "may grow by at most 3 percent" have one force.
    """
    left = f" {text.lower()} ".replace("’", "'")
    found = set()
    for name, pattern in _FORCE.items():
        left, count = re.subn(pattern, " ", left)
        found |= {name} if count else set()
    if "ban" in found:
        bounds = {"ceiling": _OVER, "floor": _UNDER}
        bounded = {
            name for name, pattern in bounds.items() if re.search(rf"\b(?:{pattern})\b", left)
        }
        found = (found - {"ban"}) | bounded if bounded else found
    return found
