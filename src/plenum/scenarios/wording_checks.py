"""Checks that a wording keeps its scenario's numbers, bounds, option labels and endpoint.

They see patterns; meaning is for people, and for the judge of ``scripts/screen_variants.py``.

- Numbers: the same ones as often, in digits or words: ``ten`` is 10, ``forty thousand`` 40,000,
  ``single`` and ``sole`` 1; half, third, quarter, fifth, tenth, double and triple count in every
  form (``halve``, ``doubled``). ``no one`` and ``not a single`` are none.
- Units: percent, million, billion, a unit of time from second to year, tonne, point, metre,
  kilometre or hectare follows the number that it followed. ``70 under B`` may become
  ``70 percent under B`` where the sentence has ``percent``.
- Bounds of numbers: right before a number, or up to four words behind it, stands what stood there:
  ``about`` (nearly, roughly, or so), ``over`` (more than, exceeds), ``under``, ``at least`` (no
  fewer than, or more), ``at most`` (up to), ``within`` (before, no later than) or ``after`` (no
  sooner than).
- Bounds of rules: in constraints, in the endpoint, and in sentences with a ceiling or floor, the
  same set is found, clause by clause: ceiling (``at most``, ``limited to``, ``may not exceed``),
  floor (``at least``, ``may not fall below``), excess (``may exceed``), shortfall, no limit.
- Option labels: the same ones as often. An ``A`` that opens a sentence is the article.
- Numbers by label: where each label has numbers, as in ``38 percent under A, 56 under B``, it keeps
  one of them next to it, with the numbers all before or all after the labels.
- Endpoint: it has ``A, B or C`` as the scenario writes it, ``exactly one`` and ``discrete
  decision``, says that one must be adopted (chosen, selected, picked, taken, decided on, given
  first priority), and adds no ``or``, ``unless``, ``except`` or ``if``.
- Writing: no formatting mark, and no ``STATE:``.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from plenum.scenarios.sentences import Sentence

Number = float | str  # a value, or the name of a part or multiple, such as "half"

_ONES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_ONES += " sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: float(value) for value, word in enumerate(_ONES.split(), 1)}
_VALUES |= {word: 10.0 * value for value, word in enumerate(_TENS.split(), 2)}
_POWERS = {"hundred": 100, "thousand": 1000, "dozen": 12}
_PARTS = {part: rf"{part}s?" for part in ("third", "quarter", "fifth", "tenth", "tenfold")}
_PARTS |= {"half": r"hal(?:f|ves?|ved|ving)", "double": r"twice|twofold|doubl(?:e[sd]?|ing)"}
_PARTS |= {"triple": r"thrice|threefold|(?:tripl|trebl)(?:e[sd]?|ing)"}
_NUMBER = re.compile(
    r"(?i)(?<![^\W\d])(?:(?:no|not) (?:a )?(?:one|single)\b"  # nobody: no number
    rf"|(?:one[ -])?(?:{'|'.join(f'(?P<{name}>{forms})' for name, forms in _PARTS.items())})\b"
    r"|(?:(?P<digits>\d+(?:,\d{3})*(?:\.\d+)?)(?:th|nd|rd|st)?"
    r"|(?P<words>a(?= (?:hundred|thousand|dozen|million|billion)\b)|(?:single|sole"
    rf"|(?:(?:{_TENS.replace(' ', '|')})-)?(?:{'|'.join(_VALUES)}))\b))"
    r"(?: (?P<power>hundred|thousand|dozen)\b)?)"
    r"(?:[ -]?(?P<unit>percent|per cent|%|million|billion|day|week|month|year|hour|minute|second"
    r"|tonne|point|metre|kilometre|hectare)s?(?!\w))?"
)
_BEFORE = re.compile(  # the bound that a number has right before it
    r"(?i)\b(?:(?P<after>after|later than|(?:no|not) (?:sooner|earlier) than|not before)"
    r"|(?P<within>within|before|inside|(?:no|not) later than|sooner than|earlier than)"
    r"|(?P<at_most>at most|up to|(?:no|not) (?:more|greater|higher) than|a maximum of)"
    r"|(?P<at_least>at least|(?:no|not) (?:less|fewer|lower) than|a minimum of)"
    r"|(?P<over>over|above|beyond|exceed\w*|(?:more|greater|higher|longer) than)"
    r"|(?P<under>under|below|(?:less|fewer|lower|shorter) than)"
    r"|(?P<about>about|around|approximately|roughly|nearly|almost|close to|circa|some|estimated)"
    r") (?:(?:the|next|first|coming|a period of|a total of) )*$"
)
_AFTER = re.compile(  # or up to four words behind it
    r"(?i)(?: [^\W\d]+){0,4} (?:(?P<at_most>or (?:less|fewer|under|below)|at (?:the )?most)"
    r"|(?P<at_least>or (?:more|over|above)|at (?:the )?least)|(?P<about>or so)|(?P<after>or (?:"
    r"later|longer)|at the (?:soonest|earliest))|(?P<within>or (?:sooner|earlier)|at the latest))\b"
)
_OVER = (
    r"\b(?:more than|exceed\w*|surpass\w*|tops|above|beyond|(?:greater|higher) than|over (?=\d))\b"
)
_UNDER = r"\b(?:(?:less|fewer|lower) than|below|under (?=\d))\b"
_RULE = {  # how a clause bounds something; what was found is cut out before the next is looked for
    "no limit": r"(?:\b(?:not|never|no longer)|n't) (?:be )?(?:limit|capp)ed\b|\bunlimited\b"
    r"|\bno (?:limit|cap|ceiling|maximum|floor|minimum)\b",
    "ceiling": rf"\b(?:not?|never) (?:be |by )?{_OVER}|\b(?:at most|up to|or less|or fewer|at or"
    r" below|limits?|limited|caps?|capped|ceilings?|maximum|maximal)\b",
    "floor": rf"\b(?:not?|never) (?:be |by )?{_UNDER}|\b(?:at least|or more|at or above|floors?"
    r"|minimum|minimal)\b",
    "ban": r"\b(?:forb\w+|prohibit\w*|bans?|banned|bars|barred|illegal|unlawful|cannot|can't)\b"
    r"|\b(?:may|must|shall|can|could) (?:not|never)\b|\bnot (?:be )?(?:allow|permit)\w*"
    r"|\b(?:no|none|neither|nor)\b[^.;,]{0,60}\b(?:may|can|allowed)\b",
    "excess": _OVER,
    "shortfall": _UNDER,
}
_BANNED = {"excess": "ceiling", "shortfall": "floor"}
_CLAUSE = re.compile(r"[,;:]\s|\b(?:and|but|yet|while|although|whereas)\b")
_LISTED = re.compile(r"\b[A-Z](?:(?:, (?:or |and )?|/| or | and )[A-Z])+\b")
_OPENING_A = re.compile(r"(?:^|[.?!][\"'”’)]*\s+)[\"'“‘(]*A\b")  # the article
_MUST = r"\b(?:must|shall|ha(?:s|ve) to|(?:required|obliged) to)\b(?! not| never| avoid)"
_CHOICE = re.compile(rf"{_MUST}[^.;]*\b(?:adopt|choos|chosen|select|pick|take|decid|priority)")


def check_wording(sentence: Sentence, way: str, labels: str) -> list[str]:
    """Return what another wording of a sentence changes, each with a remedy; empty if it passes.

    ``labels`` are those of the scenario's options, such as ``ABC``.
    """
    text, problems = sentence.text, []
    if re.search(r"STATE\s*:|[*_#|<>]", way, re.IGNORECASE):
        problems.append("it holds 'STATE:' or a formatting mark; write it without")
    problems += _check_numbers(text, way)
    # A rule says one bound in many ways, so its bounds are compared wherever they stand in it.
    ruled = sentence.field in ("constraints", "endpoint") or {"ceiling", "floor"} & _bounds(text)
    if ruled:
        problems += _compare("bounds of the rule", *(Counter(_bounds(t)) for t in (text, way)))
    apart = ("at_most", "at_least", "over", "under") if ruled else ()
    problems += _compare("bounds of numbers", *(_count_bounds(t, apart) for t in (text, way)))
    problems += _check_labels(text, way, labels)
    if sentence.field == "endpoint":
        problems += _check_endpoint(text, way)
    return problems


@lru_cache(maxsize=256)
def _find_numbers(text: str) -> list[tuple[Number, str, int, int]]:
    """Find the numbers of a text, in digits or in words, with their unit, start and end."""
    numbers: list[tuple[Number, str, int, int]] = []
    for match in _NUMBER.finditer(text):
        value: Number | None = next((part for part in _PARTS if match[part]), None)
        if match["digits"] or match["words"]:
            digits, words = (match["digits"] or "").replace(",", ""), (match["words"] or "").lower()
            value = float(digits or sum(_VALUES.get(word, 1) for word in words.split("-")))
            value *= _POWERS.get((match["power"] or "").lower(), 1)
        if value is not None:
            unit = re.sub("%|per cent", "percent", (match["unit"] or "").lower())
            numbers.append((value, unit, *match.span()))
    return numbers


def _count_numbers(text: str) -> Counter[Number]:
    return Counter(value for value, *_ in _find_numbers(text))


def _check_numbers(text: str, way: str) -> list[str]:
    if problems := _compare("numbers", _count_numbers(text), _count_numbers(way)):
        return problems
    was, now = (Counter((v, u) for v, u, *_ in _find_numbers(t) if u) for t in (text, way))
    # "38 percent under A, 56 under B" may become "56 percent under B": a known unit is repeated.
    known = {unit for _, unit in was}
    added = Counter({amount: n for amount, n in (now - was).items() if amount[1] not in known})
    return _compare("amounts with their units", was - now, added)


def _count_bounds(text: str, apart: tuple[str, ...]) -> Counter[tuple[str, Number]]:
    """Count the bounds that stand by numbers, such as ``("within", 12.0)``, but those apart."""
    bounds: Counter[tuple[str, Number]] = Counter()
    for value, _, start, end in _find_numbers(text):
        for match in (_BEFORE.search(text[max(0, start - 40) : start]), _AFTER.match(text, end)):
            if match and match.lastgroup and match.lastgroup not in apart:
                bounds[match.lastgroup.replace("_", " "), value] += 1
    return bounds


def _bounds(text: str) -> set[str]:
    """Return how a rule bounds something, clause by clause; a ban on more is a ceiling."""
    found = set()
    for clause in _CLAUSE.split(text.lower().replace("’", "'")):
        bounds = set()
        for name, pattern in _RULE.items():
            clause, count = re.subn(pattern, " ", clause)
            bounds |= {name} if count else set()
        if "ban" in bounds:
            bounds = {_BANNED.get(name, name) for name in bounds} - {"ban"}
        found |= bounds
    return found


def _check_labels(text: str, way: str, labels: str) -> list[str]:
    text, way = (_OPENING_A.sub(lambda opening: opening[0].lower(), t) for t in (text, way))
    was, now = (Counter(re.findall(rf"\b[{labels}]\b", t)) for t in (text, way))
    if problems := _compare("option labels", was, now):
        return problems
    # Each number stays by its option's label, all before or all after the labels. Of "only 900,
    # of which A needs 850, B 900", the side counts on which the options differ most.
    sides = [side for side in _split_by_label(text, labels) if len(side) > 1 and all(side.values())]
    apart = [len(set(map(frozenset, side.values()))) for side in sides]
    stated = [side for side, n in zip(sides, apart, strict=True) if n == max(apart)]
    given = _split_by_label(way, labels)
    if not stated or any(all(a[k] & b[k] for k in a) for a in stated for b in given):
        return []
    return ["its numbers stand by other options; put each by its option, all before or all after"]


def _split_by_label(text: str, labels: str) -> tuple[dict[str, set[Number]], ...]:
    """Return the numbers right before each label, and right after; ``A or B`` share theirs."""
    joined = rf"\b[{labels}]\b(?:,?(?: (?:and|or|nor))?(?: (?:under|option))* [{labels}]\b)*"
    groups = list(re.finditer(joined, text))
    edges = [0, *(edge for group in groups for edge in group.span()), len(text)]
    sides: tuple[dict[str, set[Number]], ...] = ({}, {})
    for place, group in enumerate(groups):
        for side, at in zip(sides, (2 * place, 2 * place + 2), strict=True):
            for label in re.findall(rf"\b[{labels}]\b", group[0]):
                side.setdefault(label, set()).update(
                    _count_numbers(text[edges[at] : edges[at + 1]])
                )
    return sides


def _check_endpoint(text: str, way: str) -> Iterator[str]:
    listed = max(_LISTED.findall(text), key=len, default="")
    for words in (listed, "exactly one", "discrete decision"):
        if words.lower() in text.lower() and words.lower() not in way.lower():
            yield f"{words!r} is lost; keep these words"
    if _CHOICE.search(text) and not _CHOICE.search(way):
        yield f"it doesn't say that one must be adopted; write 'must adopt exactly one of {listed}'"
    found = (re.findall(r"\b(?:or|unless|except|if)\b", t.replace(listed, "")) for t in (text, way))
    yield from _compare("ways out of the choice", *map(Counter, found))


def _compare(what: str, was: Counter[Any], now: Counter[Any]) -> list[str]:
    changes = [("lacks", was - now), ("adds", now - was)]
    named = [f"{verb} {', '.join(map(_name, c.elements()))}" for verb, c in changes if c]
    return [f"{what} differ: it {' and '.join(named)}; keep them as they are"] if named else []


def _name(fact: Any) -> str:
    parts = fact if isinstance(fact, tuple) else (fact,)
    return " ".join(f"{part:,g}" if isinstance(part, float) else str(part) for part in parts)
