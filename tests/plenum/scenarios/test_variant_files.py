"""The files of wordings: what they hold, what is refused, what becomes of them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from plenum.base.errors import UserError
from plenum.scenarios import perturbations, variant_files
from plenum.scenarios.perturbations import FAMILIES
from plenum.scenarios.scenario import Scenario, load_scenario

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "scenarios" / "variants"
CASES = {path.stem: load_scenario(path) for path in sorted((ROOT / "scenarios").glob("*.yaml"))}
TWENTY = ("canonical", "rephrase", "format")

Fields = dict[str, Any]
Mend = Callable[[Fields], object]


@pytest.fixture
def case() -> Scenario:
    return CASES["IM-01"]


@pytest.fixture
def fields(case: Scenario) -> Fields:
    """The ways of IM-01 as plain data, to be spoilt."""
    data: Fields = yaml.safe_load((FOLDER / "IM-01.yaml").read_text())
    return data


def written(folder: Path, content: Any, name: str = "IM-01.yaml") -> Path:
    path = folder / name
    path.write_text(
        content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
    )
    return path


def refused(load: Callable[[], object]) -> str:
    with pytest.raises(UserError) as error:
        load()
    assert "\n" not in str(error.value)
    return str(error.value)


# ---- the data


@pytest.mark.parametrize("name", CASES)
def test_a_scenario_has_twenty_wordings_that_pass(name: str) -> None:
    made = perturbations.load_variants("variants20", TWENTY, CASES[name], FOLDER)
    assert [v.family for v in made] == ["canonical", *["rephrase"] * 10, *["format"] * 9]
    assert len({v.packet for v in made}) == len({v.name for v in made}) == 20
    assert all(f"{name}: {CASES[name].title}".lower() in v.packet.lower() for v in made[:11])


def test_im_01_has_the_six_registers_of_the_paper(case: Scenario) -> None:
    made = perturbations.load_variants("registers6", ("canonical", "register"), case, FOLDER)
    assert [v.name for v in made] == [
        *("canonical", "register_formal", "register_conversational", "register_legalistic"),
        *("register_passive", "register_synonym"),
    ]
    assert made[0].packet == case.packet


@pytest.mark.parametrize("name", CASES)
def test_the_documented_rephrasings_lie_far_apart(name: str) -> None:
    read = variant_files.read_wordings(FOLDER / f"{name}.yaml", CASES[name])
    apart = [
        sum(a != b for a, b in zip(one, other, strict=True))
        for place, one in enumerate(read.rephrasings)
        for other in read.rephrasings[:place]
    ]
    assert min(apart) >= len(read.sentences) / 3


# ---- loading


def test_variants_stand_in_the_order_of_the_families(case: Scenario) -> None:
    every = perturbations.load_variants("own", tuple(reversed(FAMILIES)), case, FOLDER)
    assert list(dict.fromkeys(v.family for v in every)) == list(FAMILIES)


def test_an_unknown_family_is_refused(case: Scenario) -> None:
    told = refused(lambda: perturbations.load_variants("own", ("rhyme",), case, FOLDER))
    assert told == (
        "perturbation own: families: 'rhyme' is not one of canonical, rephrase, format, register"
    )


@pytest.mark.parametrize(("family", "what"), [("rephrase", "variants"), ("register", "registers")])
def test_a_scenario_without_wordings_is_told_which_file_is_missing(
    tmp_path: Path, case: Scenario, family: str, what: str
) -> None:
    told = refused(lambda: perturbations.load_variants("own", (family,), case, tmp_path))
    file = "IM-01.yaml" if family == "rephrase" else "IM-01.registers.yaml"
    assert told.startswith(f"perturbation own: scenario IM-01 has no {what}: {tmp_path / file} ")
    assert "docs/perturbations.md" in told


def test_rephrasings_that_were_never_combined_are_asked_for(
    tmp_path: Path, case: Scenario, fields: Fields
) -> None:
    del fields["rephrasings"]
    path = written(tmp_path, fields)
    told = refused(lambda: perturbations.load_variants("own", ("rephrase",), case, tmp_path))
    assert str(path) in told
    assert "combine=true 'scenarios=[IM-01]'" in told


def test_a_changed_file_is_read_again(tmp_path: Path, case: Scenario, fields: Fields) -> None:
    path = written(tmp_path, fields)
    first = perturbations.load_variants("own", ("rephrase",), case, tmp_path)
    assert perturbations.load_variants("own", ("rephrase",), case, tmp_path) is first
    fields["rephrasings"].reverse()
    written(tmp_path, fields)
    os.utime(path, ns=(1, 1))
    second = perturbations.load_variants("own", ("rephrase",), case, tmp_path)
    assert [v.packet for v in second] == [v.packet for v in reversed(first)]


# ---- what a file may not say


def first(fields: Fields) -> Fields:
    entry: Fields = fields["sentences"][0]
    return entry


def reword(fields: Fields, number: int, old: str, new: str) -> None:
    ways = fields["sentences"][number - 1]["ways"]
    assert old in ways[0]
    ways[0] = ways[0].replace(old, new)


REFUSED: dict[str, tuple[Mend, str, str]] = {
    "unknown key": (lambda f: f.update(way=1), ", way:", "the keys are scenario, sentences"),
    "no scenario": (lambda f: f.pop("scenario"), ", scenario:", "add it"),
    "another scenario": (lambda f: f.update(scenario="HL-01"), ", scenario:", "write IM-01"),
    "no list": (lambda f: f.update(sentences="x"), ", sentences:", "one entry a sentence"),
    "a sentence less": (
        lambda f: (f["sentences"].pop(), f.update(rephrasings=[])),
        ", sentences:",
        "the file has 28 and the scenario has 29",
    ),
    "an entry with another key": (
        lambda f: first(f).update(note="x"),
        ", sentence 1:",
        "give it sentence, ways and nothing else",
    ),
    "one way": (lambda f: first(f)["ways"].pop(), ", sentence 1:", "at least 2 wordings"),
    "a way that is no text": (
        lambda f: first(f)["ways"].__setitem__(1, 5),
        ", sentence 1, way 2:",
        "put it in quotes",
    ),
    "a changed scenario": (
        lambda f: first(f).update(sentence="The Republic of Velmar has 7 applications."),
        ", sentence 1:",
        "the scenario has changed",
    ),
    "a way that is the sentence": (
        lambda f: first(f)["ways"].__setitem__(0, first(f)["sentence"]),
        ", sentence 1, way 1:",
        "change more than one",
    ),
    "a way like another but for a word": (
        lambda f: first(f)["ways"].__setitem__(1, first(f)["ways"][0].replace("are", "were")),
        ", sentence 1, way 2:",
        "it is way 1 but for 1 word",
    ),
    "a way that the checks refuse": (
        lambda f: first(f)["ways"].__setitem__(1, "Velmar has applications at its frontier."),
        ", sentence 1, way 2:",
        "numbers differ: it lacks 20,000",
    ),
    "another bound": (
        lambda f: reword(f, 16, "within twelve", "after twelve"),
        ", sentence 16, way 1:",
        "bounds of numbers differ: it lacks within 12 and adds after 12; keep them as they are",
    ),
    "another option": (
        lambda f: reword(f, 10, "ption A", "ption B"),
        ", sentence 10, way 1:",
        "option labels differ: it lacks A and adds B; keep them as they are",
    ),
    "an endpoint that binds nobody": (
        lambda f: reword(f, 29, " must ", " may "),
        ", sentence 29, way 1:",
        "it doesn't say that one must be adopted; write 'must adopt exactly one of A, B or C'",
    ),
    "nine rephrasings": (
        lambda f: f["rephrasings"].pop(),
        ", rephrasings:",
        "there are 9; write 10",
    ),
    "a number for digits": (
        lambda f: f["rephrasings"].__setitem__(3, 12),
        ", rephrasings:",
        "put each in quotes",
    ),
    "a digit less": (
        lambda f: f["rephrasings"].__setitem__(3, f["rephrasings"][3][1:]),
        ", rephrasing 4:",
        "it has 28 digits; write one for each of the 29 sentences",
    ),
    "a way that isn't there": (
        lambda f: f["rephrasings"].__setitem__(3, "9" * 29),
        ", rephrasing 4:",
        "digit 1 is '9'; sentence 1 has",
    ),
    "a rephrasing that changes little": (
        lambda f: f["rephrasings"].__setitem__(3, "1" * 14 + "0" * 15),
        ", rephrasing 4:",
        "it changes 14 of 29 sentences; change half",
    ),
    "a rephrasing twice": (
        lambda f: f["rephrasings"].__setitem__(3, f["rephrasings"][0]),
        ", rephrasing 4:",
        "it stands twice",
    ),
}


@pytest.mark.parametrize(("spoil", "place", "mend"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_names_the_file_the_sentence_and_the_mend(
    tmp_path: Path, case: Scenario, fields: Fields, spoil: Mend, place: str, mend: str
) -> None:
    spoil(fields)
    path = written(tmp_path, fields)
    told = refused(lambda: perturbations.load_variants("own", ("rephrase",), case, tmp_path))
    assert told.startswith(("variants file", str(path)))
    assert f"{path}{place}" in told
    assert mend in told


REGISTERS: dict[str, tuple[Mend, str]] = {
    "one is missing": (
        lambda f: first(f).pop("passive"),
        "sentence 1: malformed; give it sentence, formal, conversational",
    ),
    "one is checked": (
        lambda f: f["sentences"][-1].update(legalistic="The committee shall adopt one."),
        "sentence 29, legalistic: ",
    ),
    "one changes too little": (
        lambda f: [entry.update(synonym=entry["sentence"]) for entry in f["sentences"][:15]],
        "register synonym: it changes 14 of 29 sentences; change half",
    ),
}


@pytest.mark.parametrize(("spoil", "mend"), REGISTERS.values(), ids=REGISTERS)
def test_a_register_is_whole_and_checked_and_changes_half(
    tmp_path: Path, case: Scenario, spoil: Mend, mend: str
) -> None:
    fields = yaml.safe_load((FOLDER / "IM-01.registers.yaml").read_text())
    spoil(fields)
    written(tmp_path, fields, "IM-01.registers.yaml")
    assert mend in refused(
        lambda: perturbations.load_variants("own", ("register",), case, tmp_path)
    )
