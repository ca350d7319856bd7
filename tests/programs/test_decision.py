"""Decisions are read from labels and texts, and refused where they name none or several."""

import pytest
from program_runs import CASE

from plenum.programs.decision import Given, Unreadable, read, rule_problem


@pytest.mark.parametrize(
    ("text", "rule", "decision"),
    [
        ("A", "", "A"),
        (" b.\n", "", "B"),
        ("**Option C**", "", "C"),
        ("B: The Engineer with a Degree", "", "B"),
        ("the\u200bengineer", "name", None),
        ("the engineer", "", "A"),
        ("\uff21", "", "A"),
        ("", "", "none"),
        ("  \n", "name", "none"),
        ("A or B", "", None),
        ("D", "", None),
        ("I want the engineer with a degree.", "name", "B"),
        ("The engineer, not the engineer with a degree", "name", None),
        ("we went with option A", "name", "A"),
        ("a good day", "name", None),
        ("Vote: A\nVote: A", "regex:Vote: (.)", "A"),
        ("Vote: A\nVote: B", "regex:Vote: (.)", None),
        ("Vote: A", r"regex:[A-C]$", "A"),
        ("nothing", "regex:Vote: (.)", None),
        ('{"result": [{"label": "C"}]}', "json:result.0.label", "C"),
        ('It is\n{"label": "nobody"}', "json:label", "C"),
        ('{"label": ["A"]}', "json:label", None),
        ('{"label": "A"}', "json:option", None),
        ("[" * 100_000, "json:option", None),
        ("a" * 60 + "!", "regex:(a+)+$", None),
        ("x" * 10_000_000 + "\nVote: A", "regex:Vote: (.)", "A"),
    ],
)
def test_a_text_is_read_by_its_rule(text: str, rule: str, decision: str | None) -> None:
    if decision is None:
        with pytest.raises(Unreadable):
            read(Given(text=text), CASE.options, rule)
    else:
        assert read(Given(text=text), CASE.options, rule) == decision


def test_the_program_s_rule_goes_before_the_audit_s() -> None:
    given = Given(text="B; final: A", extract="regex:final: (.)")
    assert read(given, CASE.options, "regex:^(.)") == "A"


def test_a_label_is_one_of_the_case_s() -> None:
    assert read(Given(option="c"), CASE.options) == "C"
    with pytest.raises(Unreadable, match="no option: D"):
        read(Given(option="D"), CASE.options)


@pytest.mark.parametrize(
    "rule", ["guess", "regex:", "regex:(", "regex:a{99999999999}", "regex:" + "(" * 2000, "json:"]
)
def test_a_rule_that_nothing_can_be_read_by_is_refused(rule: str) -> None:
    assert rule_problem(rule)
