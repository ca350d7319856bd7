"""Percent signs stand in one way everywhere: after a space."""

import re
from pathlib import Path

from plenum.base.shares import (
    format_number_between,
    format_percent_between,
    format_signed_percent,
    keep_finite,
    percent,
)
from plenum.show import formats

ROOT = Path(__file__).resolve().parents[3]


def test_a_share_has_a_space_before_its_sign() -> None:
    assert percent(0.57) == "57 %"
    assert format_percent_between(0.15, 0.032, 0.379) == "15 % [3, 38]"
    assert (format_signed_percent(0.06), format_signed_percent(-0.5)) == ("+6 %", "-50 %")
    assert formats.format_percent(0.25) == "25.0 %"
    assert formats.format_percent(float("nan")) == formats.NONE
    assert formats.format_whole_percent(0.25) == "25 %"
    assert formats.format_whole_percent(None) == formats.NONE


def test_a_number_says_that_it_has_no_interval() -> None:
    assert format_number_between(0.0241, 0.0054, 0.0429, digits=3) == "0.024 [0.005, 0.043]"
    assert format_number_between(1.0, float("nan"), float("inf"), digits=1) == "1.0 [no interval]"


def test_neither_nan_nor_infinity_is_written_as_a_number() -> None:
    values = (3, 0.5, float("nan"), float("inf"), float("-inf"))
    assert [repr(keep_finite(value)) for value in values] == ["3", "0.5", "None", "None", "None"]
    assert [*map(formats.format_finite(1), values)] == ["3.0", "0.5", *[formats.NONE] * 3]


def test_no_text_of_ours_sets_a_share_in_another_way() -> None:
    files = [file for room in ("src", "scripts") for file in (ROOT / room).rglob("*")]
    texts = [f for f in files if f.suffix in (".py", ".j2") and "attacks" not in f.parts]
    assert len(texts) > 400
    tight = re.compile(r":[+]?(\.\d)?%[}\"]|[\d}]%(?![\w}(%])")
    found = {
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in texts
        for line in file.read_text(encoding="utf-8").splitlines()
        if tight.search(re.sub(r"\{%.*?%\}", "", line))
    }
    assert found == set()
