"""Replies of a deliberation, most of them with something odd: what the fuzz reads twice."""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

LABELS = "ABCDEF"
LINE_ENDS = ("\n", "\r\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
SPACES = (" ", "  ", "\t", "\u00a0", "\u2003", "\u3000", "\u1680", "\u202f")
BLANKS = (
    *("\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u2066", "\U000e0041"),
    *("\x00", "\x1b", "\x1f", "\x7f", "\x9b", "\x80", "\ud800", "\udfff"),
    *("\u034f", "\u115f", "\u3164", "\uffa0", "\u17b4", "\u180c", "\ufe0f", "\U000e0100"),
)
MARKS = ("*", "**", "_", "`", '"', "'", "~", "#", "- ", "> ", "<b>", "\u0301", "\u00e9", "x", "1")
COLONS = (":", "\uff1a", "\ufe55", "\ufe13", "\u2a74", "\u02d0", "=", "")
ODD = (*LINE_ENDS, *SPACES, *BLANKS, *MARKS, *COLONS, *"[]{},;.\\/0A9-+", "STATE:", "state: pref")
NUMBERS = (
    *("0", "1", "1.", ".5", "-0.1", "+0.1", "1e-1", "0,5", "nan", "inf", "0x1p-1", "0.3_3", "1.0"),
    *("\u0660.\u0665", "\uff10.\uff15", "0.5000000000000", "1.000000000001", "00.5", "0000.5"),
    *("0.000000000000", "100.0", "0.9999999999999999", " 0.5", "0.5 ", "0. 5", "0.5\t", ""),
)
CONFIDENCES = (
    "0",
    "100",
    "101",
    "007",
    "0070",
    "7.5",
    "-1",
    "1e1",
    " 70",
    "\u0667",
    "70%",
    "",
    "x",
)
TAGS = (
    *('"a"', '"a_b"', '"a__b"', '"_a"', '"a_"', '"9a"', '"A"', '"\\u0061b"', '"\\ud800"', "'a'"),
    *("a", '""', '"a b"', "1", "null", '["a"]', '"a"]', '"a" ', '\t"a"', '\u00a0"a"', '"a\\n"'),
    *(f'"{"a" * 40}"', f'"{"a" * 41}"', '"\u00e9"', '"a\u200b"', '"a", "b"', '"a"//', '"a\\u006"'),
)
VALUES = (
    *('"b"', '"G"', '""', '"\\u0042"', '" B"', '"AB"', '"\uff22"', '["B"]', "null", "true", '"80"'),
    *("80.0", "8e1", "-0", "-1", "100", "101", "10000", "10001", "1e400", "NaN", "Infinity", "007"),
    *("+1", "0x10", "1_0", "\u0668", '{"a":1}', '"NONE"', "0", "0.0", '"A"', "1.", "-", "--1"),
    *("9" * 5000, "[" * 400, "1" + "0" * 400),
)
WORDS = (
    *("the cost falls on few", "fair process first", "I hold that B is right", "state of the art"),
    *("ESTATE: a house", "The State: it acts", "STATE of play", "re-state", "a pref: none", ""),
)


Parts = dict[str, Any]
"""The pieces of a turn's answer, by name."""


def turn(random: Random) -> tuple[str, int]:
    """An answer with a STATE line, and the number of options that it is read with."""
    options = random.randint(2, 6)
    parts = {
        "head": "STATE:",
        "numbers": _preferences(random, options),
        "confidence": str(random.randint(0, 100)),
        "tags": [random.choice(('"fair_process"', '"cost"', '"a1_b2"')) for _ in range(2)],
        "spaces": [" ", "", "", " ", " ", ""],
        "around": ["", ""],
        "end": "\n",
        "before": [random.choice(WORDS) for _ in range(random.choice((0, 1, 1, 2)))],
        "behind": [random.choice(WORDS) for _ in range(random.choice((0, 0, 0, 1)))],
    }
    for _ in range(random.choice((0, 0, 0, 1, 1, 1, 2, 3))):
        random.choice(_TURN_CHANGES)(random, parts)
    text = _turn_text(parts)
    return _scribbled(random, text), options + (random.random() < 0.02)


def ballot(random: Random) -> tuple[str, int]:
    """A ballot, and the number of options that it is read with."""
    options = random.randint(2, 6)
    label = json.dumps(random.choice(LABELS[:options]))
    return _object(random, [("decision", label), _whole(random, "confidence", 100)]), options


def count(random: Random) -> tuple[str, int]:
    """A clerk's answer, and the number of options that it is read with."""
    options = random.randint(2, 6)
    label = json.dumps(random.choice([*LABELS[:options], "NONE"]))
    numbers = [_whole(random, key, 9) for key in ("majority_count", "total")]
    return _object(random, [("decision", label), *numbers]), options


def _whole(random: Random, key: str, most: int) -> tuple[str, str]:
    return key, str(random.randint(0, most))


# A turn's changes


def _preferences(random: Random, options: int) -> list[str]:
    """Decimals whose exact sum is 1, or about as far from it as is allowed."""
    places = random.choice((1, 2, 2, 3, 6, 12))
    unit = 10**places
    off = random.choice(
        (0, 0, 0, 0, unit // 50, -(unit // 50), unit // 50 + 1, -(unit // 50) - 1, 1, -1)
    )
    total = max(unit + off, 0)
    cuts = sorted(random.randint(0, total) for _ in range(options - 1))
    shares = [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
    return [f"{share // unit}.{share % unit:0{places}d}" for share in shares]


def _number(random: Random, parts: Parts) -> None:
    numbers = parts["numbers"]
    place = random.randrange(len(numbers))
    if random.random() < 0.8:
        numbers[place] = random.choice(NUMBERS)
    else:
        numbers.insert(place, numbers[place])


def _confidence(random: Random, parts: Parts) -> None:
    parts["confidence"] = random.choice(CONFIDENCES)


def _tags(random: Random, parts: Parts) -> None:
    tags = parts["tags"]
    if tags and random.random() < 0.8:
        tags[random.randrange(len(tags))] = random.choice(TAGS)
    else:
        parts["tags"] = tags[:1] * random.choice((0, 1, 3))


def _space(random: Random, parts: Parts) -> None:
    parts["spaces"][random.randrange(6)] = random.choice(
        ("", " ", "  ", "   ", "\t", "\u00a0", "\n")
    )


def _around(random: Random, parts: Parts) -> None:
    odd = random.choice((SPACES, SPACES, MARKS, BLANKS, LINE_ENDS))
    parts["around"][random.randrange(2)] = random.choice(odd)


def _end(random: Random, parts: Parts) -> None:
    parts["end"] = random.choice(LINE_ENDS)


def _second(random: Random, parts: Parts) -> None:
    """Another marker, hidden: behind a separator, in other letters, with marks inside."""
    glue = random.choice(("", " ", random.choice(LINE_ENDS), random.choice(BLANKS)))
    marker = random.choice(("text", "x", "", "-")) + glue + _marker(random)
    parts[random.choice(("before", "behind"))].append(marker)


def _marker(random: Random) -> str:
    word = random.choice(("STATE", "STATE", "state", "State", "sTATE"))
    if random.random() < 0.4:
        word = "".join(_other_form(random, c) if random.random() < 0.5 else c for c in word)
    between = [random.choice(("", " ", *MARKS[:6], *BLANKS[:6], *LINE_ENDS)) for _ in range(3)]
    if random.random() < 0.3:
        place = random.randint(1, 5)
        word = word[:place] + random.choice((*BLANKS, *LINE_ENDS)) + word[place:]
    tail = random.choice(("", "pref", "PREF=[1.0]", "pr\u200bef", "it acts"))
    return word + between[0] + random.choice(COLONS) + between[1] + tail + between[2]


def _other_form(random: Random, letter: str) -> str:
    """A letter of another block that is the same letter by compatibility."""
    base = 0x41 if letter.isupper() else 0x61
    wide = 0xFF21 if letter.isupper() else 0xFF41
    bold = 0x1D400 if letter.isupper() else 0x1D41A
    ring = 0x24B6 if letter.isupper() else 0x24D0
    return chr(random.choice((wide, bold, ring)) + ord(letter) - base)


def _mark_head(random: Random, parts: Parts) -> None:
    heads = ("STATE :", "**STATE:**", "state:", "State:", "STATE\uff1a", "STATE", "STATE::", "")
    parts["head"] = random.choice((*heads, _marker(random)))


_TURN_CHANGES: Sequence[Callable[[Random, Parts], None]] = (
    *(_number, _number, _confidence, _tags, _tags, _space, _space),
    *(_around, _end, _end, _second, _second, _mark_head),
)


def _turn_text(parts: Parts) -> str:
    space = parts["spaces"]
    line = (
        f"{parts['head']}{space[0]}pref=[{space[1]}{f',{space[2]}'.join(parts['numbers'])}];"
        f"{space[3]}conf={parts['confidence']};{space[4]}tags=[{f',{space[5]}'.join(parts['tags'])}]"
    )
    whole = parts["around"][0] + line + parts["around"][1]
    return str(parts["end"]).join([*parts["before"], whole, *parts["behind"]])


# An object's changes


def _object(random: Random, pairs: list[tuple[str, str]]) -> str:
    if random.random() < 0.5:
        random.shuffle(pairs)
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        random.choice((_value, _value, _value, _key, _more, _fewer))(random, pairs)
    comma, colon = random.choice(((", ", ": "), (",", ":"), (",\n ", " :\t"), (", ", ": ")))
    text = "{" + comma.join(f"{_quoted(random, key)}{colon}{value}" for key, value in pairs) + "}"
    return _scribbled(random, _fenced(random, text))


def _value(random: Random, pairs: list[tuple[str, str]]) -> None:
    if pairs:
        place = random.randrange(len(pairs))
        pairs[place] = (pairs[place][0], random.choice(VALUES))


def _key(random: Random, pairs: list[tuple[str, str]]) -> None:
    if pairs:
        place = random.randrange(len(pairs))
        key = random.choice(("Decision", "vote", "confidence", "decision", "total", "", "x"))
        pairs[place] = (key, pairs[place][1])


def _more(random: Random, pairs: list[tuple[str, str]]) -> None:
    pairs.insert(
        random.randint(0, len(pairs)),
        random.choice([*pairs, ("reason", '"it is fair"'), ("total", "5"), ("a", "[[]]")]),
    )


def _fewer(random: Random, pairs: list[tuple[str, str]]) -> None:
    if pairs:
        pairs.pop(random.randrange(len(pairs)))


def _quoted(random: Random, key: str) -> str:
    if key and random.random() < 0.05:
        return f'"\\u{ord(key[0]):04x}{key[1:]}"'
    return random.choice((f"'{key}'", key)) if random.random() < 0.02 else f'"{key}"'


def _fenced(random: Random, text: str) -> str:
    if random.random() < 0.6:
        return text
    opening = random.choice(("```json", "```json", "```", "```JSON", "``` json", "```json ", "~~~"))
    ends = random.choice(
        (("\n", "\n"), ("\n", "\n"), ("\r\n", "\r\n"), random.choices(LINE_ENDS, k=2))
    )
    closing = random.choice(("```", "```", "```", "  ```", "````", "", "``` ", "```\nmore"))
    return f"{opening}{ends[0]}{text}{ends[1]}{closing}"


# Any text's changes


def _scribbled(random: Random, text: str) -> str:
    """The text, in one case of four with a few characters put in, taken out or moved."""
    for _ in range(random.choice((0,) * 9 + (1, 1, 2))):
        place, length = random.randint(0, len(text)), random.choice((1, 1, 1, 2, 5, 20))
        piece = text[place : place + length]
        rest = text[:place] + text[place + length :]
        text = random.choice(
            (
                text[:place] + random.choice(ODD) + text[place:],
                text[:place] + random.choice(ODD) + text[place:],
                text[:place] + piece + text[place:],
                rest,
                rest[: (position := random.randint(0, len(rest)))] + piece + rest[position:],
                text[:place] + chr(random.randint(0, 0x2FFF)) + text[place + 1 :],
            )
        )
    return text
