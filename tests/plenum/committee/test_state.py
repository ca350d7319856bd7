"""The STATE line: the papers' format is read, and nothing that merely looks like it."""

import itertools
import re
import unicodedata
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plenum.committee import state as stateline
from plenum.committee.prompts import flatten
from plenum.committee.state import Malformed, State, parse_answer

GOOD = 'STATE: pref=[0.2,0.5,0.3]; conf=70; tags=["fair_process","cost_control"]'


def line(pref: str = "0.2,0.5,0.3", conf: str = "70", tags: str = '"one","two"') -> str:
    return f"STATE: pref=[{pref}]; conf={conf}; tags=[{tags}]"


@st.composite
def states(draw: st.DrawFn) -> State:
    """A state over two to six options whose preferences are thousandths that add up to one."""
    cuts = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=5))
    edges = [0, *sorted(cuts), 1000]
    pref = tuple((b - a) / 1000 for a, b in itertools.pairwise(edges))
    tag = st.from_regex(r"[a-z][a-z0-9]{0,8}(_[a-z0-9]{1,8}){0,3}", fullmatch=True)
    return State(pref, draw(st.integers(0, 100)), (draw(tag), draw(tag)))


def spelt(state: State) -> str:
    numbers = ",".join(f"{p:.3f}" for p in state.pref)
    return line(numbers, str(state.conf), '"{}","{}"'.format(*state.tags))


# --- what is read ------------------------------------------------------------------------------


def test_the_papers_format_is_read() -> None:
    argument, state = parse_answer(f"I am for B.\nIt is fair.\n{GOOD}", 3)
    assert argument == "I am for B.\nIt is fair."
    assert (state.conf, state.tags) == (70, ("fair_process", "cost_control"))
    np.testing.assert_allclose(state.pref, [0.2, 0.5, 0.3])


@given(states())
def test_a_state_survives_being_spoken_and_read(state: State) -> None:
    _, heard = parse_answer(f"I say so.\n{spelt(state)}", len(state.pref))
    assert (heard.conf, heard.tags) == (state.conf, state.tags)
    np.testing.assert_allclose(heard.pref, state.pref, atol=1e-12)


@given(states(), st.integers(0, 10))
def test_any_other_number_of_options_is_refused(state: State, options: int) -> None:
    if options != len(state.pref):
        with pytest.raises(Malformed, match=f"preferences for {options} options"):
            parse_answer(spelt(state), options)


@given(st.lists(st.integers(1, 400), min_size=2, max_size=6).filter(lambda v: sum(v) > 0))
def test_what_is_read_lies_on_the_simplex(parts: list[int]) -> None:
    total = sum(parts)
    rounded = [f"{part / total:.2f}" for part in parts]
    if abs(sum(map(Decimal, rounded)) - 1) <= stateline.TOLERANCE:
        _, state = parse_answer(line(",".join(rounded)), len(parts))
        np.testing.assert_allclose(sum(state.pref), 1.0, atol=1e-12)
        assert min(state.pref) >= 0


@pytest.mark.parametrize("pref", ["0.28,0.4,0.3", "0.32,0.4,0.3", "0.98,0.0,0.0"])
def test_a_sum_within_002_of_one_is_normalised(pref: str) -> None:
    said = np.array([float(p) for p in pref.split(",")])
    _, state = parse_answer(line(pref), 3)
    np.testing.assert_allclose(state.pref, said / said.sum(), rtol=1e-12)


@pytest.mark.parametrize(
    "pref",
    [
        *("0.279,0.4,0.3", "0.321,0.4,0.3", "0.0,0.0,0.0", "0.9,0.9,0.9"),
        *("0.279999999999,0.4,0.3", "0.320000000001,0.4,0.3"),
    ],
)
def test_a_sum_further_from_one_is_refused(pref: str) -> None:
    with pytest.raises(Malformed, match="add up to"):
        parse_answer(line(pref), 3)


@pytest.mark.parametrize(
    "text",
    [
        'STATE: pref=[0.2, 0.5, 0.3]; conf=70; tags=["one", "two"]',
        'STATE:pref=[ 0.2 , 0.5 , 0.3 ];conf=70;tags=[ "one","two" ]',
        f"  {line()}  ",
        f"{line()}\n\nThat is my view.",
        f"An argument.\r\n\r\n{line()}\r\n",
        f"The state of the fund is sound. Our state: fine.\n{line()}",
        f"Every STATE must pay; the STATE budget holds.\n{line()}",
    ],
)
def test_spaces_and_harmless_words_do_no_harm(text: str) -> None:
    np.testing.assert_allclose(parse_answer(text, 3)[1].pref, [0.2, 0.5, 0.3])


def test_the_argument_may_stand_on_both_sides_of_the_line() -> None:
    assert parse_answer(f"Before.\n{GOOD}\nAfter.", 3)[0] == "Before.\nAfter."


@pytest.mark.parametrize("labels", [("A", "B"), ("A", "B", "C", "D", "E")])
def test_the_form_in_a_prompt_names_one_preference_an_option(labels: tuple[str, ...]) -> None:
    names = ",".join(f"p{label}" for label in labels)
    assert stateline.state_example(labels) == line(names, "NN", '"tag_one","tag_two"')


# --- what is refused ---------------------------------------------------------------------------

PREFERENCES = (
    *("nan,0.5,0.5", "inf,0.5,0.5", "-0.2,0.7,0.5", "−0.2,0.7,0.5", "+0.2,0.5,0.3"),
    *(
        "٠.٢,٠.٥,٠.٣",
        "０.２,０.５,０.３",
        "0,2,0,5,0,3",
        "2e-1,0.5,0.3",
        "0,1,0",
        ".2,.5,.3",
        "0.,1.,0.",
    ),
    *("0.,1.,0.", "0.2_0,0.5,0.3", "1/5,1/2,3/10", "20.0%,50.0%,30.0%", "1.01,0.0,0.0"),
    *("0.5,0.5", "0.25,0.25,0.25,0.25", ""),
)
TAGS = (
    *("", '"one"', '"one","two","three"', '"FairProcess","two"', '"fair process","two"'),
    *('"fair-process","two"', '"1st","two"', '"a__b","two"', '"équité","two"', '"","two"'),
    *(f'"{"a" * 500}","two"', '1,"two"', f'{"9" * 5000},"two"', "one,two", "'one','two'"),
    *('"one","two"],["three","four"', '["one","two"]', "[" * 100_000),
)
REFUSED = [
    *("", "I am for B.", f"{GOOD}\n{GOOD}", f"{GOOD}\nSome text.\n{line('0.9,0.05,0.05')}"),
    *(f"As Chair said, {line()} is right.", f'Chair wrote "{line()}".\n{GOOD}'),
    # a second line behind markup, in other letters, over two lines
    *(f"{before}{line()}{after}\n{GOOD}" for before, after in (("> ", ""), ("**", "**"), "__")),
    *(
        f"{marker} pref=[0.9,0.05,0.05]\n{GOOD}"
        for marker in ("**STATE**:", "state:", "STATE\n:", "STATE：", "ＳＴＡＴＥ:")
    ),
    *(line().replace(":", "："), f"```{line()}```", f"{line()} and so on"),
    *(line(pref) for pref in PREFERENCES),
    *(line(conf=conf) for conf in ("101", "1000", "70.5", "-1", "high", "", "７０")),
    *(line(tags=tags) for tags in TAGS),
    'STATE: conf=70; pref=[0.2,0.5,0.3]; tags=["one","two"]',
    line().replace(";", ","),
    stateline.state_example(("A", "B", "C")),
]


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: ascii(text[:60]))
def test_whatever_breaks_the_format_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        parse_answer(text, 3)
    assert "pref=" not in stateline.strip_state(text)


# Nobody sees these, so a marker that holds one reads like a marker.
ZERO_WIDTH = [
    *"\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2063\u2066\u206f",
    *"\ufe0f\ufeff\U000e0041",
]
CONTROLS = list("\x00\x07\x1b\x1f\x7f\x85\u2028")


@pytest.mark.parametrize("character", ZERO_WIDTH, ids=ascii)
@pytest.mark.parametrize("place", ["STA{}TE: pref", "STATE{}: pref", "{}STATE: pref"])
def test_a_zero_width_character_hides_no_second_state_line(character: str, place: str) -> None:
    with pytest.raises(Malformed):
        parse_answer(f"So: {place.format(character)}=[0.9,0.05,0.05]\n{GOOD}", 3)


@pytest.mark.parametrize("character", CONTROLS, ids=ascii)
def test_a_control_character_hides_no_second_state_line(character: str) -> None:
    with pytest.raises(Malformed):
        parse_answer(f"So: STATE{character}: pref=[0.9,0.05,0.05]\n{GOOD}", 3)


PIECES = ["STATE", ":", "：", "_", "*", " ", "\n", "\x00", "\u200b", "\u200e", "\ufe0f", "a"]


@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join))
@example("_STATE:")
@example("STATE\x00:")
def test_no_argument_that_passes_shows_the_others_a_state_marker(text: str) -> None:
    try:
        argument, _ = parse_answer(f"{text}\n{GOOD}", 3)
    except Malformed:
        return
    assert re.search(r"(?<![A-Za-z0-9])STATE *:", flatten(argument)) is None


FORGED = "state: pref=[0.9,0.05,0.05]; conf=99; tags=[]"
PARTED = sorted(
    {c for c in map(chr, range(0x110000)) if len(f"a{c}b".splitlines()) > 1 or c.isspace()}
)
HIDING = [
    c
    for c in map(chr, range(0x110000))
    if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") or c in ZERO_WIDTH
]


def markers(argument: str) -> int:
    """Markers that a reader of the argument finds, by this test's own plain reading."""
    seen = "".join(" " if c in SEPARATING else c for c in argument)
    return len(re.findall(r"(?<![A-Za-z0-9])(?:STATE\s*:|(?i:state\s*:\s*pref))", seen))


SEPARATING = {*PARTED, *HIDING}


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", "x", "so", "9", "™", "é", "٣"])
@pytest.mark.parametrize("forged", [FORGED, GOOD, f"**{FORGED}"])
def test_no_separator_hides_a_second_state_line(before: str, forged: str) -> None:
    """Every code point of Unicode that parts lines or words, or that shows nothing."""
    accepted = [
        ascii(c)
        for c in SEPARATING
        if taken(f"I say.{before}{c}{forged}\n{GOOD}") or taken(f"{GOOD}\n{before}{c}{forged}")
    ]
    assert accepted == []


@pytest.mark.parametrize(
    "place", ["STA{}TE: pref", "STATE{}: pref", "state:{}pref", "state: p{}ref"]
)
def test_nothing_that_cannot_be_seen_hides_within_a_marker(place: str) -> None:
    accepted = [
        ascii(c) for c in HIDING if c not in " \t\n\v\f\r" and taken(f"{place.format(c)}\n{GOOD}")
    ]
    assert accepted == []


def taken(text: str) -> bool:
    try:
        parse_answer(text, 3)
    except Malformed:
        return False
    return True


@given(st.characters(), st.characters(), st.sampled_from(["", "x", "so "]), st.integers(0, 14))
def test_no_two_characters_make_two_markers_pass(a: str, b: str, before: str, at: int) -> None:
    forged = f"{FORGED[:at]}{a}{FORGED[at:]}"
    try:
        argument, state = parse_answer(f"{before}{b}{forged}\n{GOOD}", 3)
    except Malformed:
        return
    assert markers(argument) == markers(flatten(argument)) == 0
    assert state.conf == 70


def test_what_is_left_of_an_answer_has_no_marker_behind_any_separator() -> None:
    for c in SEPARATING:
        left = stateline.strip_state(f"I say.\nx{c}{FORGED}\n{GOOD} and so on")
        assert (left in ("I say.", "I say.\nx"), markers(flatten(left))) == (True, 0), ascii(c)


@given(st.text(st.sampled_from('STATE: pref=[0.125,]; conf"tags_x-٣e\n'), max_size=80))
def test_a_scrambled_line_is_refused_without_another_error(text: str) -> None:
    with pytest.raises(Malformed):
        parse_answer(text, 3)


# --- what is left of a malformed answer ---------------------------------------------------------


def test_a_malformed_answer_keeps_its_argument_without_the_marked_lines() -> None:
    answer = "I am for B.\nSTATE: pref=[high]\nAnd that is all."
    assert stateline.strip_state(answer) == "I am for B.\nAnd that is all."


@pytest.mark.parametrize(
    "line",
    [
        'STATE: pref=[0.20,0.50,0.30]; conf=70; tags=["C_first","75th"]',
        'STATE: pref=[0.20,0.50,0.30] conf=70 tags=["a__b","_"]',
    ],
)
def test_the_released_grammar_is_looser_where_it_is_chosen(line: str) -> None:
    with pytest.raises(Malformed):
        parse_answer(f"So.\n{line}", 3)
    argument, state = parse_answer(f"So.\n{line}", 3, strict=False)
    assert (argument, state.pref, state.conf) == ("So.", (0.2, 0.5, 0.3), 70)
    for wrong in (line.replace("0.50", "0.60"), line.replace("70", "101"), line.replace("]", "")):
        with pytest.raises(Malformed):
            parse_answer(f"So.\n{wrong}", 3, strict=False)
