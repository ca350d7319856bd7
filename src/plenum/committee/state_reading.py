"""The lenient reader of states: it reads what has one meaning, and never guesses.

A statement of a state is ``pref``, ``conf`` and ``tags`` with their values, in any order, behind
``STATE:``. The grammar, whose tokens may stand in markdown and be broken over lines::

    statement  = [open] field {[separator] field} [close]
    field      = key (":" | "=") value
    pref       = [open] entry {separator entry} [close]      one kind of separator alone
    entry      = [label (":" | "=")] number                  all of them with labels, or none
    conf       = number ["/" "100"]
    tags       = [open] tag separator tag [close]

What can be read in two ways is refused: numbers whose sum is neither 1 nor 100, a confidence of
0.8 (of 1, or of 100), a sign, a decimal comma, two statements that differ, words around one.
``tests/plenum/committee/test_reading.py`` states for each accepted form a neighbour that isn't.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from plenum.base.json_reply import refuse_repeats, strip_fence
from plenum.base.text import flatten, split_lines, visible_text
from plenum.committee.state import TOLERANCE, Malformed, State, parse_answer, strip_state

_KEYS = {
    **dict.fromkeys(("pref", "prefs", "preference", "preferences"), "pref"),
    **dict.fromkeys(("conf", "confidence"), "conf"),
    **dict.fromkeys(("tag", "tags"), "tags"),
}
_CLOSING = {"[": "]", "(": ")", "{": "}", "<": ">"}
_SEPARATORS = ";,|"
# Quotes of all languages are one kind; NFKC, by which `visible_text` unifies the rest, keeps them.
_QUOTES = str.maketrans("“”„‟«»‘’‚‛´【】、", '""""""\'\'\'\'\'[],')
_ESCAPED = re.compile(r"\\([\[\]_*#~`])")  # as Markdown escapes what isn't markup
_MARKUP = r"[\s*`_~]"
# A dash at the beginning of a line is the mark of a list; elsewhere it is a sign.
_SKIPPED = re.compile(rf"(?:\n[ \t]*[-•][ \t]+|{_MARKUP})*")
_NUMBER = r"[-−–+]?(?:[0-9]{1,3}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][-+]?[0-9]{1,2})?"
_PLAIN_NUMBER = re.compile(r"[0-9]{1,3}(?:\.[0-9]+)?%?")
"""A number as it is asked for; others are noted as another form."""
# Letters or a point behind a number make it none: `2nd`, `1.2.3`.
_TOKEN = re.compile(
    rf"(?P<number>{_NUMBER})(?![\w.])(?: *(?P<percent>%))?"
    r"|(?P<quoted>\"[^\"\n]*\"|'[^'\n]*')|(?P<word>[^\W\d_][\w-]*)|(?P<mark>[^\w\s])"
)
_KEY = r"[\"'*`_]*(?i:pref(?:s|erences?)?)[\"'*`_]*\s*[:=]"
# `State:` may begin a sentence, so that small letters count before a `pref` alone.
_MARKER = re.compile(
    rf"(?<![^\W_])(?:STATE{_MARKUP}*[\"']?{_MARKUP}*[:=]"
    rf"|(?i:state){_MARKUP}*[\"']?{_MARKUP}*[:=](?=[\s*`_~\[({{<]*{_KEY}))"
)
_BARE = re.compile(rf"(?<![^\W_])(?={_KEY})")
_DECORATION = re.compile(r"[\W_]*(?:[0-9]{1,2}[.)][\W_]*)?")
"""Marks of lists, headings and quotes, and a number before an item: they say nothing."""
# What stands before `pref`, or before the marker, and says that this is a state, the seat's own:
# `ESTADO:`, `My final state:`. Any other word may be a name, `Rejected` or `Example`.
_OWN = re.compile(
    r"\W*(?:(?:here|this) is\W+)?(?:(?:my|the|final|current|updated)\W+)*(?:state|position|"
    r"estado|état|etat|zustand|stand|stato|stan|stav|stare|toestand|tillstånd|tilstand|tila|durum|"
    r"állapot|status|keadaan|trạng thái|состояние|стан|κατάσταση|状态|狀態|状態|상태|حالة|मत|स्थिति|"
    r"สถานะ|מצב)\W*",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"~~|<!--")
"""Marks by which a text is struck out, or hidden as a comment: its state is withdrawn."""
_ENDED_SENTENCE = re.compile(r"[.!?][\s*`_\"')]*\Z")
"""An end of a sentence, behind which a state is one of its own."""
_END_OF_TURN = re.compile(
    r"(?:\s*(?:<\|[^|<>\n]{1,30}\|>(?:assistant)?|</s>|<end_of_turn>|\[/INST\]))+\s*\Z"
)
_LEFT_OVER = re.compile(
    r"^[ \t]*(?:(?:```|~~~)\w*|[\"'*`_~{}\[\]().,]+)[ \t]*(?:\n|\Z)", re.MULTILINE
)
_TAG = re.compile(r"[^\W\d_][^\W_]*(?:_[^\W_]+)*")
_LONGEST_TAG = 40
"""As in the strict form."""
_MOST_BRACKETS = 300
"""Opening brackets of an answer's object at most."""


def read_answer(
    text: str, labels: Sequence[str], others: Collection[str] = ()
) -> tuple[str, State, tuple[str, ...]]:
    r"""Split an answer into its argument and its state, in any form that has one meaning.

    Parameters
    ----------
    text
        The whole answer, without the model's reasoning.
    labels
        The options' labels, in their order.
    others
        Names of the other seats, whose lines aren't this one's.

    Returns
    -------
    argument, state, forms
        ``forms`` names how the statement differs from the prescribed one; it is empty where a
        strict reader (:func:`~plenum.committee.state.parse_answer`) accepts it too.

    Raises
    ------
    Malformed
        There is no statement, or it has two meanings; the message quotes the part.

    Examples
    --------
    >>> said = "We can wait.\n- **State**: pref = [20, 30, 50]; conf: 70; tags: [fair, slow]"
    >>> argument, state, forms = read_answer(said, "ABC")
    >>> argument, state.pref, state.conf, forms
    ('We can wait.', (0.2, 0.3, 0.5), 70, ('marker', 'markup', 'of_100', 'quotes'))
    """
    text = strip_end_of_turn(text)
    # What strict reading accepts is read alike: the grammar only ever adds forms.
    with suppress(Malformed):
        argument, state = parse_answer(text, len(labels))
        return _clean_argument(argument), state, ()
    if whole := _read_whole_object(text, labels, others):
        return whole
    given = split_lines(text)
    lines = [unify_characters(line) for line in given]
    found = _find_statements("\n".join(lines), labels)
    first, *again = found
    if any(other.state != first.state for other in again):
        raise Malformed(f"{len(found)} STATE lines, which differ; one is allowed")
    forms = set[str]().union(*(each.forms for each in found), ["repeated"] if again else [])
    for each in reversed(found):  # from the end, since each takes its lines out
        before, more = _read_surroundings("\n".join(lines), each, others)
        forms |= more | ({"characters"} if given[each.lines] != lines[each.lines] else set())
        given[each.lines] = [before] if before else []
    argument = strip_state("\n".join(given))  # which drops lines that speak of the form
    return _clean_argument(argument), first.state, tuple(sorted(forms)) or ("around",)


def strip_end_of_turn(text: str) -> str:
    """Remove the marks by which chat templates end a turn, where a server left them."""
    return _END_OF_TURN.sub("", text)


def unify_characters(text: str) -> str:
    """Write full-width characters, digits and quotes of all languages as ASCII does."""
    plain = visible_text(_ESCAPED.sub(r"\1", text.translate(_QUOTES)))
    return re.sub(r"\d", lambda digit: str(int(digit[0])), plain)


def _clean_argument(argument: str) -> str:
    """Remove lines of marks alone, which stood around a statement: fences, quotes, brackets."""
    return _LEFT_OVER.sub("", argument).strip()


@dataclass(frozen=True)
class _Statement:
    """A state, where it begins and ends, its lines, and how it differs from the form."""

    state: State
    start: int
    end: int
    lines: slice
    forms: frozenset[str]


class _Scan:
    """The tokens of a statement, from a place in the text on."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.forms = text, at, set[str]()

    def peek(self) -> tuple[str, str, int, int]:
        """Return the next token: its kind, what it says, where it begins and ends."""
        skipped = _SKIPPED.match(self.text, self.at)
        assert skipped is not None  # it may be empty
        token = _TOKEN.match(self.text, skipped.end())
        if token is None:
            return "end", "", skipped.end(), skipped.end()
        kind = token.lastgroup if token.lastgroup != "percent" else "number"
        said = token[0].strip("\"'") if kind == "quoted" else token[0]
        return str(kind), said, token.start(), token.end()

    def accept(self, marks: str) -> str:
        """Take the next token if it is one of these marks."""
        kind, said, start, end = self.peek()
        if kind != "mark" or said not in marks:
            return ""
        if set(self.text[self.at : start]) & set("*`_~"):
            self.forms.add("markup")
        self.at = end
        return said

    def take(self) -> tuple[str, str]:
        """Take the next token, whatever it is."""
        kind, said, _, self.at = self.peek()
        return kind, said

    def accept_name(self, names: Collection[str]) -> str:
        """Take a name and the ``=`` or ``:`` behind it, if it is one of these in any case."""
        before = self.at
        kind, said = self.take()
        if kind in ("word", "quoted") and said.casefold() in names and self.accept(":="):
            if kind == "quoted":
                self.forms.add("json")
            return said.casefold()
        # Put back, since a word that is no such name may be something else.
        self.at = before
        return ""

    def refuse(self, problem: str) -> NoReturn:
        """Raise an error that quotes what stands here."""
        # 24 characters show where it is, and leave the repair short.
        rest = flatten(self.text[self.at : self.at + 24])
        raise Malformed(f"{problem} at {rest!r}" if rest else f"{problem} at its end")


def _find_statements(shown: str, labels: Sequence[str]) -> list[_Statement]:
    """Find all statements; a marker without a number behind it only speaks of the form."""
    markers = [(m.start(), m.end()) for m in _MARKER.finditer(shown)]
    # A bare `pref` counts only where nothing says STATE: beside it, it may be part of the argument.
    markers = markers or [(m.start(), m.start()) for m in _BARE.finditer(shown)]
    found: list[_Statement] = []
    for start, begin in markers:
        # A marker within the last statement, such as a `pref` behind `STATE:`.
        if found and start < found[-1].end:
            continue
        # "I keep to the form STATE: pref=[...]" states nothing; a number makes it a statement.
        if not re.search("[0-9]", shown[begin:].lstrip().partition("\n")[0]):
            continue
        scan = _Scan(shown, begin)
        state = _read_statement(scan, labels)
        # Without a marker, or with another than was asked for.
        if start == begin or shown[start : start + 6] != "STATE:":
            scan.forms.add("marker")
        if "\n" in shown[start : scan.at]:
            scan.forms.add("wrapped")
        lines = slice(shown.count("\n", 0, start), shown.count("\n", 0, scan.at) + 1)
        found.append(_Statement(state, start, scan.at, lines, frozenset(scan.forms)))
    if not found:
        raise Malformed("no STATE line" if not markers else "the STATE line has no numbers")
    return found


def _read_statement(scan: _Scan, labels: Sequence[str]) -> State:
    """Read the fields of a statement, in any order."""
    before = scan.at
    closing = _CLOSING.get(scan.accept("".join(_CLOSING)), "")
    fields: dict[str, Any] = {}
    readers: dict[str, Callable[[_Scan], Any]] = {
        "pref": partial(_read_preferences, labels=labels),
        "conf": _read_confidence,
        "tags": _read_tags,
    }
    while len(fields) < len(readers):
        name = _KEYS.get(scan.accept_name(_KEYS), "")
        if not name and not fields and not closing and _starts_labelled(scan, labels):
            name = "pref"  # `STATE: A=0.2, B=0.8; ...`
        if not name or name in fields:
            break
        fields[name] = readers[name](scan)
        if len(fields) < len(readers) and scan.accept(_SEPARATORS) not in ("", ";"):
            scan.forms.add("separators")
    if missing := [name for name in readers if name not in fields]:
        if not fields:
            scan.at = before
        scan.refuse(f"the STATE line has no {missing[0]}= where it breaks off")
    if closing:
        scan.forms.add("brackets")
        if not scan.accept(closing):
            scan.refuse(f"the STATE line has no {closing}")
    return State(fields["pref"], fields["conf"], fields["tags"])


def _starts_labelled(scan: _Scan, labels: Sequence[str]) -> bool:
    before = scan.at
    named = bool(scan.accept_name(_label_names(labels)))
    scan.at = before
    return named


def _label_names(labels: Sequence[str]) -> dict[str, str]:
    """Map how a label may be written, also as the prompt's example names it, to the label."""
    prefixed = {f"p{label}".casefold(): label for label in labels}
    return prefixed | {label.casefold(): label for label in labels}


def _read_preferences(scan: _Scan, labels: Sequence[str]) -> tuple[float, ...]:
    """Read one number for each option; they add up to 1 or to 100."""
    closing = _open(scan)
    names = _label_names(labels)
    values: dict[str | int, float] = {}
    separators, percents = set[str](), set[bool]()
    while True:
        label = scan.accept_name(names)
        number, percent = _read_number(scan, "a preference")
        key = names[label] if label else len(values)
        if key in values:
            scan.refuse(f"option {key} has two preferences")
        values[key] = number
        percents.add(percent)
        separator = scan.accept(_SEPARATORS)
        # Without a bracket only their number says where they end.
        if scan.accept(closing) if closing else len(values) == len(labels):
            break
        separators.add(separator)
    if len(values) != len(labels):
        raise Malformed(f"{len(values)} preferences for {len(labels)} options")
    # `0,20; 0,30` are two numbers with decimal commas, or four: one kind of separator is clear.
    if len(separators) > 1:
        raise Malformed("the preferences have different separators; write 0.20 with a point")
    if values.keys() == set(labels):
        scan.forms.add("labels")
    elif values.keys() != set(range(len(labels))):
        raise Malformed("some preferences have a label, and others have none")
    if len(percents) > 1:
        raise Malformed("some preferences have a percent sign, and others have none")
    if separators & {";", "|", ""}:
        scan.forms.add("separators")
    places: Sequence[str | int] = labels if "labels" in scan.forms else range(len(labels))
    return _normalise(scan, [values[place] for place in places], percents == {True})


def _normalise(scan: _Scan, values: Sequence[float], percent: bool) -> tuple[float, ...]:
    """Divide shares of 1 or of 100 by their sum, which may be off by two hundredths."""
    total = sum(values)
    # Rounded here and below: a sum of decimals that is just off by so much isn't in floats.
    if round(abs(total - 100), 9) <= 100 * TOLERANCE:
        scan.forms.add("of_100")
    elif percent or round(abs(total - 1), 12) > TOLERANCE:
        raise Malformed(f"the preferences add up to {total:.4g}{' %' if percent else ''}")
    return tuple(value / total for value in values)


def _read_confidence(scan: _Scan) -> int:
    """Read a whole number from 0 to 100."""
    before = scan.at
    value, percent = _read_number(scan, "the confidence")
    given = scan.text[before : scan.at].strip()
    # "80 %" and "80/100" say what they are of, so they can't be shares of 1.
    of_100 = percent
    if scan.accept("/"):
        of_100 = scan.take() == ("number", "100")
        if not of_100:
            raise Malformed(f"confidence {given} of something else than 100")
    return check_share(value, given, of_100)


def check_share(value: float, given: str, of_100: bool = False) -> int:
    """Return a confidence as a whole number from 0 to 100.

    A fraction up to 1 is of 1 or of 100, unless a sign says so.
    """
    if not of_100 and 0 < value <= 1 and "." in given:
        raise Malformed(f"confidence {given} may be of 1 or of 100; write a whole number")
    if not value.is_integer() or not 0 <= value <= 100:
        raise Malformed(f"confidence {given} is no whole number from 0 to 100")
    return int(value)


def _read_number(scan: _Scan, what: str) -> tuple[float, bool]:
    """Read a number, maybe in quotes, and whether it has a percent sign."""
    kind, said, _, end = scan.peek()
    number = re.fullmatch(rf" *({_NUMBER}) *(%?) *", said)
    if kind not in ("number", "quoted") or number is None:
        scan.refuse(f"{what} is no number")
    if number[1][0] in "-−–":
        scan.refuse(f"{what} below 0")
    scan.at = end
    if not _PLAIN_NUMBER.fullmatch(said):
        scan.forms.add("numbers")
    if number[2]:
        scan.forms.add("percent")
    if kind == "quoted":
        scan.forms.add("quotes")
    return float(number[1]), bool(number[2])


def _read_tags(scan: _Scan) -> tuple[str, str]:
    """Read two tags, with quotes or without; spaces and hyphens become underscores."""
    closing = _open(scan)
    # Without a bracket tags end where a field, a line or an outer bracket may.
    behind = re.compile(rf"[^{re.escape(closing)}]*" if closing else r"[^;|\n)\]}>]*")
    match = behind.match(scan.text, scan.at)
    assert match is not None  # it may be empty
    scan.at = match.end()
    if closing and not scan.accept(closing):
        scan.refuse("the tags have no end")
    given = re.split("[,;|]", match[0])
    # Quotes, and marks by which Markdown sets off words, are no part of a tag.
    each = [part.strip(" \t\n\"'*`~#._") for part in given]
    # without a bracket or a quote nothing says where a tag of several words ends
    if not closing and any(
        " " in tag and not set(part) & set("\"'") for part, tag in zip(given, each, strict=True)
    ):
        raise Malformed(f"words behind the STATE line: {flatten(match[0])[-24:]!r}")
    each = each[:-1] if len(each) == 3 and not each[-1] else each  # a comma behind the last one
    if len(each) != 2:
        raise Malformed(f"{len(each)} tags, two are required")
    tags = [re.sub(r"[\s-]+", "_", tag.casefold()) for tag in each]
    for tag in tags:
        if len(tag) > _LONGEST_TAG or not _TAG.fullmatch(tag):
            raise Malformed(f"tag {tag!r} is not in snake_case")
    # Two tags as they are asked for have four quotes.
    if match[0].count('"') != 4:
        scan.forms.add("quotes")
    if tags != each:
        scan.forms.add("tags")
    return tags[0], tags[1]


def _open(scan: _Scan) -> str:
    """Take an opening bracket, if there is one, and return the closing one."""
    opening = scan.accept("".join(_CLOSING))
    if opening != "[":
        scan.forms.add("brackets")
    return _CLOSING.get(opening, "")


def _read_surroundings(
    shown: str, statement: _Statement, others: Collection[str]
) -> tuple[str, set[str]]:
    """Return the words in front of a statement in its line, and how that differs from the form."""
    before = shown[shown.rfind("\n", 0, statement.start) + 1 : statement.start]
    behind = shown[statement.end :].partition("\n")[0]
    # A closing tag, as of XML, says nothing.
    if re.search(r"[^\W_]", behind) and not re.fullmatch(r"\W*/state\W*", behind, re.IGNORECASE):
        raise Malformed(f"words behind the STATE line: {flatten(behind)[:24]!r}")
    kept, form = _check_before(before, others)
    return kept, form | ({"markup"} if (before + behind).strip() and not kept else set())


def _check_before(before: str, others: Collection[str]) -> tuple[str, set[str]]:
    """Check that what stands before a state in its line leaves it the seat's own, and valid.

    Returns the words that belong to the argument, and the names of forms.
    """
    if _STRUCK.search(before):
        raise Malformed("the STATE line is struck out")
    if _DECORATION.fullmatch(before):
        return "", set()
    if _OWN.fullmatch(before):
        return "", {"marker"}
    if any(name.casefold() in before.casefold() for name in others):
        raise Malformed(f"the STATE line may be another seat's: {flatten(before)[-24:]!r}")
    if not _ENDED_SENTENCE.search(before):
        raise Malformed(f"words before the STATE line: {flatten(before)[-24:]!r}")
    return before.rstrip(), {"inline"}


def _read_whole_object(
    text: str, labels: Sequence[str], others: Collection[str]
) -> tuple[str, State, tuple[str, ...]] | None:
    """Read an answer that is one JSON object, with its state and maybe its argument.

    Words may stand before it, in place of the argument.
    """
    before, brace, rest = strip_fence(text).partition("{")
    before = before.rpartition("```")[0] if "```" in before else before
    data = parse_json((brace + rest).strip().removesuffix("```"))
    # A statement in front of the object is a second one: the general reader compares the two.
    if not isinstance(data, dict) or _MARKER.search(before):
        return None
    holders = _list_states(data)
    if not holders:
        return None
    _check_before(before.rpartition("\n")[2], others)
    if len(holders) > 1:
        raise Malformed(f"{len(holders)} states in one object; one is allowed")
    # Written again as JSON, so that one reader judges all forms by the same rules; members that are
    # no part of a state don't spoil it.
    known = {key: value for key, value in holders[0].items() if key.casefold() in _KEYS}
    state = _read_statement(_Scan(json.dumps(known, ensure_ascii=False), 0), labels)
    argument = data.get("argument", before)
    return _clean_argument(argument) if isinstance(argument, str) else "", state, ("json",)


def _list_states(data: Any) -> list[dict[str, Any]]:
    """List the objects in an object, and itself, that have preferences."""
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    found = [state for each in inner for state in _list_states(each)]
    own = isinstance(data, dict) and any(_KEYS.get(key.casefold()) == "pref" for key in data)
    return [data, *found] if own else found


def parse_json(text: str) -> Any:
    """Parse JSON; ``None`` where it is none, and refused where a key stands twice."""
    # What is looked through level by level may have no more levels than Python has frames.
    # Counted before parsing: a hostile answer may nest for ever.
    if text.count("{") + text.count("[") > _MOST_BRACKETS:
        return None
    try:
        return json.loads(text, object_pairs_hook=refuse_repeats(Malformed))
    # A key that stands twice: refused, and not passed over as other ValueErrors are.
    except Malformed:
        raise
    except (ValueError, RecursionError):
        return None
