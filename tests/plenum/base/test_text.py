"""Text from outside: healthy text stays as it is, and nothing reaches a terminal that it obeys."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.base import terminal
from plenum.base.text import (
    HIDDEN,
    blank_invisible,
    flatten,
    make_printable,
    replace_surrogates,
    split_lines,
    unmask,
    visible_text,
)
from plenum.calls.call_errors import CallError
from plenum.records.failures import Failure

PLAIN = st.text(st.sampled_from([*map(chr, range(32, 127)), *"\t\n\v\f\r"]))
EVERY = list(map(chr, range(0x110000)))


@given(PLAIN)
def test_plain_text_reads_as_it_is(text: str) -> None:
    assert unmask(text) == visible_text(text) == blank_invisible(text) == text
    assert split_lines(text) == text.splitlines()


def test_whatever_ends_a_line_or_parts_words_is_white_space_or_hidden() -> None:
    for c in EVERY:
        if len(f"a{c}b".splitlines()) > 1 or c.isspace():
            assert unmask(c).strip(HIDDEN) == "" or unmask(c)[0].isspace(), ascii(c)


@pytest.mark.slow
@pytest.mark.parametrize("around", ["{}", "é{}"])
def test_a_terminal_is_given_no_control(around: str) -> None:
    shown = make_printable(around.format("".join(EVERY)))
    assert {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"} == {"Cc"}
    assert [c for c in shown if unicodedata.category(c) == "Cc"] == ["\t", "\n"]
    shown.encode()


@given(st.text() | PLAIN)
def test_one_line_is_one_line(text: str) -> None:
    line = flatten(text)
    assert flatten(line) == make_printable(line) == replace_surrogates(line) == line
    assert len(line.splitlines()) <= 1


def test_what_is_said_to_a_terminal_is_clean_and_without_secrets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789")
    terminal.say("a\x1b]52;c;eA==\x07 sk-0123456789\n\tb\udc80")
    assert capsys.readouterr().err == "a\ufffd]52;c;eA==\ufffd <SOME_API_KEY>\n\tb\ufffd\n"


def test_a_failed_calls_detail_is_one_printable_line_without_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789")
    error = CallError(Failure.SERVER, f"\x1b[31m no\r\n\u202e sk-0123456789 \ud800{'x' * 9999}")
    assert error.detail.startswith("[31m no <SOME_API_KEY> xxx")
    assert (len(error.detail), str(error)) == (500, error.detail)
