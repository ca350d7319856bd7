"""The STATE line, in which an agent reports its preferences, and its strict parser.

docs/protocol.md has the grammar of the line. STATE lines are counted by their markers: the word
``STATE`` in capitals and a colon, or ``state`` in any case, a colon, and ``pref`` in any case, with
no ASCII letter or digit directly before it. Nothing hides one:

- Between word, colon and ``pref`` may be white space, line ends, and the marks ``*``, ``_``, the
  backquote, ``"`` and ``'``.
- There, and between letters, may be characters that show nothing: those of the categories Cc (but
  not the tab and U+000A to U+000D), Cf, Zl, Zp and Cs, and U+034F, U+115F, U+1160, U+17B4, U+17B5,
  U+180B to U+180F, U+2065, U+2800, U+3164, U+FE00 to U+FE0F, U+FFA0, U+FFF0 to U+FFF8, U+E0000 to
  U+E0FFF.
- Any other character with a compatibility form (NFKC), such as a full-width letter, counts as that
  form, and a character that shows nothing.
"""

import json
import re
from dataclasses import dataclass
from functools import cached_property

from plenum.base.text import HIDDEN, split_lines, unmask
from plenum.calls.conversation import Misread

TOLERANCE = 0.02
"""The largest accepted difference of the preferences' sum from 1: four that are rounded to two
decimals may be off by as much."""

# Digits are spelt [0-9]: \d would also match other scripts' digits.
# Bounded in length: a number of thousands of digits is no preference.
_DECIMAL = r"[0-9]{1,3}\.[0-9]{1,12}"
_LINE, _LOOSE_LINE = (
    re.compile(
        rf"STATE: *pref=\[ *({_DECIMAL}(?: *, *{_DECIMAL})*) *\]{gap}conf=([0-9]{{1,3}}){gap}"
        r"tags=\[(.*)\]"
    )
    for gap in ("; *", "[; ]+")
)
_TAG, _LOOSE_TAG = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"), re.compile(r"[A-Za-z0-9_]+")
_TAG_LENGTH = 40
"""Tags stand in every later prompt: unbounded, one could be a text of its own."""
# A second state line may hide behind markup, a full-width colon, a separator or an invisible
# character: both of the latter are HIDDEN to `unmasked`, and may stand anywhere in a marker.
_STATE, _PREF = (f"{HIDDEN}*".join(word) for word in ("STATE", "PREF"))
_MARKS = rf"[\s{HIDDEN}*_`\"']*"
_FIRST = "[Ss](?<![A-Za-z0-9].)"  # a letter in front: a search looks for it alone
_MARKER = re.compile(
    rf"{_FIRST}(?:(?<=S){_STATE[1:]}{_MARKS}:|(?i:{_STATE[1:]}{_MARKS}:{_MARKS}{_PREF}))"
)


class Malformed(Misread):
    """An answer that doesn't follow the format; the message says how."""


@dataclass(unsafe_hash=True)
class State:
    """The report of an agent: preferences on the simplex, confidence 0-100, two tags."""

    pref: tuple[float, ...]
    conf: int
    tags: tuple[str, str]

    @cached_property
    def cells(self) -> str:
        """The state as cells of the committee table, which every seat reads."""
        # Rounded, since normalised numbers such as thirds have no end.
        pref = " | ".join(f"{p:.3f}" for p in self.pref)
        return f"{pref} | {self.conf} | {', '.join(self.tags)}"


def state_example(labels: tuple[str, ...]) -> str:
    """Write the STATE line's form for these option labels, as a prompt shows it."""
    names = ",".join(f"p{label}" for label in labels)
    return f'STATE: pref=[{names}]; conf=NN; tags=["tag_one","tag_two"]'


def make_even_state(options: int) -> State:
    """Make a state between all options, as the papers' released code gives a seat at first.

    Equal hundredths, the rest to the last option: 0.33, 0.33, 0.34; confidence 50.
    """
    each = 100 // options
    # In whole hundredths, so that they add up exactly.
    shares = [each] * (options - 1) + [100 - each * (options - 1)]
    return State(tuple(share / 100 for share in shares), 50, ("init", "init"))


def parse_answer(text: str, options: int, strict: bool = True) -> tuple[str, State]:
    """Split an answer into its argument and its state.

    Parameters
    ----------
    text
        The whole answer.
    options
        How many preferences the STATE line must hold.
    strict
        Otherwise spaces may stand for semicolons, and tags are any letters, digits and underscores,
        as in the released code of the papers.

    Returns
    -------
    argument, state
        The text without the STATE line; preferences are normalised to a sum of 1.

    Raises
    ------
    Malformed
        There is no STATE line, more than one, one inside the argument, or one that breaks the
        format (section S2.3 and its implementation note).
    """
    # Counted in the whole text, hidden ones too: a quoted line could be taken for the seat's own.
    markers = _MARKER.findall(unmask(text))
    if not markers:
        raise Malformed("no STATE line")
    if len(markers) > 1:
        raise Malformed(f"{len(markers)} STATE lines, one is allowed")
    each = split_lines(text.strip())
    indices = [n for n, line in enumerate(each) if line.strip().startswith("STATE:")]
    if len(indices) != 1:
        raise Malformed("the STATE line must stand on a line of its own")
    state = _parse_line(each[indices[0]].strip(), options, strict)
    argument = "\n".join(each[: indices[0]] + each[indices[0] + 1 :]).strip()
    return argument, state


def strip_state(text: str) -> str:
    """Return the argument of an answer with a malformed STATE line.

    Lines with a marker of a STATE line are dropped.
    """
    kept = [line for line in split_lines(text) if not _MARKER.search(unmask(line))]
    argument = "\n".join(kept).strip()
    # A marker can be spread over a line break; then nothing of the text can be trusted.
    return "" if _MARKER.search(unmask(argument)) else argument


def _parse_line(line: str, options: int, strict: bool) -> State:
    match = (_LINE if strict else _LOOSE_LINE).fullmatch(line)
    if match is None:
        raise Malformed("the STATE line breaks the format")
    pref = [float(number) for number in match[1].split(",")]
    if len(pref) != options:
        raise Malformed(f"{len(pref)} preferences for {options} options")
    # The form alone takes up to 999; a negative one it has no sign for.
    if any(p > 1 for p in pref):
        raise Malformed("a preference above 1")
    total = sum(pref)
    if round(abs(total - 1), 12) > TOLERANCE:  # in floats 0.28 + 0.4 + 0.3 is less than 0.98
        raise Malformed(f"the preferences add up to {total:.4g}")
    conf = int(match[2])
    if conf > 100:
        raise Malformed(f"confidence {conf} is above 100")
    # Normalised, so that distances between states don't depend on rounding.
    return State(
        tuple(p / total for p in pref), conf, _tags(match[3], _TAG if strict else _LOOSE_TAG)
    )


def _tags(text: str, form: re.Pattern[str]) -> tuple[str, str]:
    try:
        # JSON's rules for quotes and escapes; deep nesting ends in a RecursionError.
        tags = json.loads(f"[{text}]")
    except (ValueError, RecursionError):
        raise Malformed("the tags are no quoted list") from None
    if len(tags) != 2:
        raise Malformed(f"{len(tags)} tags, two are required")
    for tag in tags:
        if not isinstance(tag, str) or len(tag) > _TAG_LENGTH or not form.fullmatch(tag):
            raise Malformed(f"tag {tag!r} is not in snake_case")
    return tags[0], tags[1]
