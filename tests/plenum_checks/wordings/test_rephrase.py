"""Which ways the ten rephrasings combine."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from plenum import scenarios
from plenum.base.errors import UserError
from plenum.scenarios import variant_files
from plenum_checks.wordings import rephrase


@settings(max_examples=15)
@given(st.integers(4, 45), st.integers(0, 3))
def test_ten_distinct_combinations_that_change_half_and_use_every_way(n: int, seed: int) -> None:
    made = rephrase.combinations("WA-01", n, seed)
    assert len(set(made)) == len(made) == 10
    assert all(len(digits) == n and set(digits) <= set("012") for digits in made)
    assert all(2 * digits.count("0") <= n for digits in made)
    for column in zip(*made, strict=True):
        assert min(column.count("1"), column.count("2")) >= 2


def test_they_lie_far_apart_and_are_always_the_same() -> None:
    made = rephrase.combinations("IM-01", 29)
    apart = [
        sum(a != b for a, b in zip(one, other, strict=True))
        for place, one in enumerate(made)
        for other in made[:place]
    ]
    assert min(apart) >= 14  # two independent draws would differ in about 19 of 29
    assert made == rephrase.combinations("IM-01", 29)
    assert made != rephrase.combinations("IM-01", 29, seed=1)
    assert not set(made) & set(rephrase.combinations("IM-02", 29))
    with pytest.raises(UserError, match="3 sentences; it takes 4 or more"):
        rephrase.combinations("WA-01", 3)


def test_they_are_appended_once_and_comments_survive(tmp_path: Path, root: Path) -> None:
    case = scenarios.load_scenario(root / "scenarios" / "IM-01.yaml")
    text = (root / "scenarios" / "variants" / "IM-01.yaml").read_text()
    text = text[: text.index("\nrephrasings:") + 1] if "\nrephrasings:" in text else text
    path = tmp_path / "IM-01.yaml"
    path.write_text(text.rstrip("\n"))  # without a line break at its end
    assert rephrase.append_rephrasings(variant_files.read_wordings(path, case))
    first = path.read_text()
    assert first.startswith(text.rstrip("\n") + "\nrephrasings:\n")
    read = variant_files.read_wordings(path, case)
    assert read.rephrasings == rephrase.combinations("IM-01", 29)
    assert list(variant_files.find_problems(read, case)) == []
    assert not rephrase.append_rephrasings(read)
    assert path.read_text() == first
    assert yaml.safe_load(first)["rephrasings"] == list(read.rephrasings)
