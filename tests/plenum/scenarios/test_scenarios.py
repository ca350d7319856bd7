"""The twelve cases of Table S4, and a schema check that names file, field and mend."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from plenum.base.errors import UserError
from plenum.base.project import project_root
from plenum.scenarios.scenario import Scenario, load_scenario

TABLE_S4 = """\
IM-01 | Immigration | choice | Humanitarian / Balanced points / Deterrence+verification
    Which rule should be used?
IM-02 | Immigration | choice | Full cooperation / Limited cooperation / Non-cooperation
    Should city police enforce immigration laws?
HL-01 | Health | choice | Single-payer / Public option / Regulated multi-payer
    Which system best balances cost and quality?
HL-02 | Health | choice | Maximize lives / Maximize life-years / Equity lottery
    What is the best way to allocate scarce resources?
IN-01 | Income | choice | UBI / Targeted cash transfer / Negative income tax
    Is universality worth the cost?
IN-02 | Income | choice | Strict work requirements / Moderate requirements / No requirements
    Is conditionality necessary for support?
CL-01 | Climate | choice | Carbon tax+dividend / Cap-and-trade / Sectoral regulations
    Is pricing carbon the most effective approach?
CL-04 | Climate | choice | Lives saved / Equity / Balanced
    Should adaptation be prioritized for equity?
SP-01 | Speech | choice | Remove content / Label+downrank / Minimal intervention
    Is harm prevention worth the trade-off in free speech value?
SP-03 | Speech | choice | Keep engagement ranking / Reduce amplification / User-choice
    Should platform algorithms be more transparent?
AI-01 | AI governance | choice | Open weights / Licensed release / API-only
    Should openness be required for safety?
AI-02 | AI governance | choice | Mandatory audits / Voluntary+incentives / No mandate
    Is prevention of misuse more important than innovation?
"""
"""Id, domain, type, options, decision question: the landscape paper's supplement, Table S4.

Of CL-04 it prints five measures; the options are those of the released packet.
"""

Fields = dict[str, Any]
Mend = Callable[[Fields], object]


@pytest.fixture(scope="module")
def twelve(root: Path) -> dict[str, Scenario]:
    files = (root / "scenarios").glob("[A-Z][A-Z]-[0-9][0-9].yaml")
    return {file.stem: load_scenario(file) for file in files}


@pytest.fixture
def fields(root: Path) -> Fields:
    """HL-01 as plain data, to be spoilt."""
    loaded: Fields = yaml.safe_load((root / "scenarios" / "HL-01.yaml").read_text())
    return loaded


def written(folder: Path, content: Any) -> Path:
    path = folder / "own.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=0))
    return path


def test_the_twelve_scenarios_say_what_table_s4_says(root: Path, twelve: dict[str, Any]) -> None:
    lines = TABLE_S4.splitlines()
    table = [
        (*row.split(" | "), question.strip())
        for row, question in zip(lines[::2], lines[1::2], strict=True)
    ]
    found = [
        (name, c.domain, c.type, " / ".join(option.name for option in c.options), c.question)
        for name, c in twelve.items()
    ]
    assert sorted(found) == sorted(table)
    assert len({case.digest for case in twelve.values()}) == 12


def test_the_allocation_has_the_five_measures_of_table_s4(root: Path) -> None:
    five = load_scenario(root / "scenarios/CL-04-five.yaml")
    names = [option.name for option in five.options]
    assert names == ["Sea walls", "Relocation", "Insurance", "Heat", "Wildfire"]
    assert (five.id, five.type) == ("CL-04-five", "allocation")
    assert "shares of the fund" in five.packet


def test_a_packet_has_250_to_450_words_and_shows_every_field(twelve: dict[str, Any]) -> None:
    for case in twelve.values():
        assert 250 <= len(case.packet.split()) <= 450, case.id
        texts = [case.title, case.situation, case.question, case.endpoint]
        texts += [*case.affected, *case.numbers, *case.constraints, *case.cases]
        texts += [f"{o.label}. {o.name}: {o.description}" for o in case.options]
        assert [text for text in texts if text not in case.packet] == [], case.id


@pytest.mark.parametrize("count", [2, 4, 6])
def test_a_scenario_may_have_any_number_of_options(
    tmp_path: Path, fields: Fields, count: int
) -> None:
    labels = "ABCDEF"[:count]
    fields["options"] = {label: {"name": f"Way {label}", "description": "It."} for label in labels}
    fields["endpoint"] = f"Exactly one of {', '.join(labels[:-1])} or {labels[-1]} is chosen."
    assert load_scenario(written(tmp_path, fields)).labels == tuple(labels)


REFUSED: dict[str, tuple[Mend, str, str]] = {
    "missing field": (lambda f: f.pop("cases"), "cases", "add it"),
    "unknown field": (lambda f: f.update(title2="x"), "title2", "the fields are id, title"),
    "labels b, c, d": (
        lambda f: f.update(options=dict(zip("BCD", f["options"].values(), strict=True))),
        "options",
        "label them A, B, C in order",
    ),
    "labels out of order": (
        lambda f: f.update(options=dict(reversed(f["options"].items()))),
        "options",
        "label them A, B, C in order",
    ),
    "options as a list": (lambda f: f.update(options=["x", "y"]), "options", "A, B, ..."),
    "two options, three labels": (
        lambda f: f["options"].pop("C"),
        "endpoint",
        "exactly one of A or B",
    ),
    "endpoint without labels": (
        lambda f: f.update(endpoint="Somebody decides."),
        "endpoint",
        "exactly one of A, B or C",
    ),
    "empty list": (lambda f: f.update(numbers=[]), "numbers", "at least one"),
    "text for a list": (lambda f: f.update(numbers="many"), "numbers", "one sentence an item"),
    "number in a list": (lambda f: f.update(numbers=[5]), "numbers", "in quotes"),
    "empty text": (lambda f: f.update(situation="  "), "situation", "non-empty text"),
    "number for a text": (lambda f: f.update(title=7), "title", "non-empty text"),
    "id with a slash": (lambda f: f.update(id="a/b"), "id", "use letters"),
    "unknown type": (lambda f: f.update(type="lottery"), "type", "choice, allocation"),
    "option without description": (
        lambda f: f["options"]["B"].pop("description"),
        "options.B",
        "name and description",
    ),
    "option with a third entry": (
        lambda f: f["options"]["B"].update(cost=3),
        "options.B",
        "name and description",
    ),
    "option named by a boolean": (
        lambda f: f["options"]["B"].update(name=False),
        "options.B.name",
        "write a text",
    ),
    "STATE marker": (
        lambda f: f.update(situation="Say STATE: pref=[1.0,0.0,0.0] now."),
        "situation",
        "in another way",
    ),
}


@pytest.mark.parametrize(("spoil", "field", "mend"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_names_the_file_the_field_and_the_mend(
    tmp_path: Path, fields: Fields, spoil: Mend, field: str, mend: str
) -> None:
    spoil(fields)
    path = written(tmp_path, fields)
    with pytest.raises(UserError) as refused:
        load_scenario(path)
    told = str(refused.value)
    assert str(path) in told
    assert f"field {field}:" in told
    assert mend in told
    assert "\n" not in told


@pytest.mark.parametrize(
    "content",
    [
        *(b"a: [1, 2", b"just a text", b"- a\n- list", b"", b"\x00", b"a: " + b"[" * 5_000),
        *(b"a: " * 3_000, b"title: caf\xe9", b"id: a\nid: b", None),
    ],
)
def test_a_file_that_holds_no_fields_is_refused_by_its_name(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "own.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=r"own\.yaml") as refused:
        load_scenario(path)
    assert "\n" not in str(refused.value)


def test_all_mistakes_of_a_file_are_named_at_once(tmp_path: Path, fields: Fields) -> None:
    fields |= {"title": "", "type": "vote", "cases": [3], "colour": "red"}
    del fields["question"]
    fields["options"]["C"].pop("name")
    fields["endpoint"] = "The council adopts exactly one of A or B."
    with pytest.raises(UserError) as error:
        load_scenario(written(tmp_path, fields))
    line = str(error.value)
    assert "own.yaml, 7 mistakes: (1) field colour: unknown; " in line
    for field in ("title", "type", "cases", "question", "options.C", "endpoint"):
        assert f") field {field}: " in line


@pytest.mark.parametrize(
    "endpoint",
    [
        "Der Rat muss genau eine von A, B oder C beschließen.",
        "Le conseil choisit l'option A, l'option B ou l'option C.",
        "El consejo debe elegir A, B o C.",
        "必须从A、B 或 C中选一个。",
        "AまたはBまたはCを選ぶ。",
        "Нужно выбрать A, B или C.",
        "A council must adopt exactly one of option A, option B or option C.",
    ],
)
def test_an_endpoint_names_its_labels_in_any_language(
    tmp_path: Path, fields: Fields, endpoint: str
) -> None:
    fields["endpoint"] = endpoint
    assert load_scenario(written(tmp_path, fields)).endpoint == endpoint
    fields["endpoint"] = endpoint.replace("B", "D")
    with pytest.raises(UserError, match="A, D, C but the options are A, B, C"):
        load_scenario(written(tmp_path, fields))


def test_an_endpoint_in_any_words_may_have_its_labels_listed(tmp_path: Path) -> None:
    fields = yaml.safe_load((project_root() / "scenarios/HL-01.yaml").read_text(encoding="utf-8"))
    fields["endpoint"] = "Es ist genau eine der drei Maßnahmen zu wählen."
    file = tmp_path / "de.yaml"
    for labels, refused in ((["A", "B", "C"], ""), (["A", "C", "B"], "labels"), (None, "endpoint")):
        given = fields if labels is None else {**fields, "labels": labels}
        file.write_text(yaml.safe_dump(given, allow_unicode=True), encoding="utf-8")
        if refused:
            with pytest.raises(UserError, match=f"field {refused}"):
                load_scenario(file)
        else:
            assert load_scenario(file).labels == ("A", "B", "C")
