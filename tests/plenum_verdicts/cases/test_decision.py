"""Decisions are read from labels and texts, and refused where they name none or several."""

import pytest

from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.cases.decision import (
    GivenDecision,
    UnreadableDecision,
    look_alike,
    read_decision,
    rule_problem,
)

CASE = AuditCase(
    id="hiring",
    text="Whom do we hire?",
    options={"A": "the engineer", "B": "the engineer with a degree", "C": "nobody"},
)


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
        ("<think>A or B?</think>\nB", "", "B"),
        ("I take the engineer, not the deserter.\n</think>\nOption B", "name", "B"),
        (
            '<|channel|>analysis<|message|>A<|end|><|channel|>final<|message|>{"d": "B"}',
            "json:d",
            "B",
        ),
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
        with pytest.raises(UnreadableDecision):
            read_decision(GivenDecision(text=text), CASE.options, rule)
    else:
        assert read_decision(GivenDecision(text=text), CASE.options, rule) == decision


def test_the_program_s_rule_goes_before_the_audit_s() -> None:
    given = GivenDecision(text="B; final: A", extract="regex:final: (.)")
    assert read_decision(given, CASE.options, "regex:^(.)") == "A"


def test_a_label_is_one_of_the_case_s() -> None:
    assert read_decision(GivenDecision(option="c"), CASE.options) == "C"
    with pytest.raises(UnreadableDecision, match="no option: D"):
        read_decision(GivenDecision(option="D"), CASE.options)


@pytest.mark.parametrize(
    "rule", ["guess", "regex:", "regex:(", "regex:a{99999999999}", "regex:" + "(" * 2000, "json:"]
)
def test_a_rule_that_nothing_can_be_read_by_is_refused(rule: str) -> None:
    assert rule_problem(rule)


@pytest.mark.parametrize(
    ("options", "text", "rule", "decision"),
    [
        ({"A": "B", "B": "A"}, "A", "", "A"),
        ({"A": "B", "B": "A"}, "B", "regex:(.)", "B"),
        ({"A": "B", "B": "A"}, '{"d": "B"}', "json:d", "B"),
        ({"A": "B", "B": "A"}, "b.", "", None),
        ({"a": "one", "A": "two"}, " A\n", "", "A"),
        ({"a": "one", "A": "two"}, "A.", "", None),
        ({"A": "Yes", "B": "yes"}, "yes", "", "B"),
        ({"A": "Yes", "B": "yes"}, "YES", "", None),
        ({"A": "<", "B": ">"}, ">", "", "B"),
        ({"A": "<", "B": ">"}, "(", "", None),
        ({"A": "<", "B": ">"}, "it is option b, or so", "name", "B"),
        ({"A": "+", "B": "-"}, "'-'", "", "B"),
        ({"1": "2", "2": "3"}, "2", "", "2"),
        ({"none": "no", "null": "yes"}, '{"d": null}', "json:d", None),
    ],
)
def test_an_exact_label_goes_before_an_exact_name_and_that_before_what_looks_alike(
    options: dict[str, str], text: str, rule: str, decision: str | None
) -> None:
    if decision is None:
        with pytest.raises(UnreadableDecision):
            read_decision(GivenDecision(text=text), options, rule)
    else:
        assert read_decision(GivenDecision(text=text), options, rule) == decision


VERDICTS = {"A": "Approve", "B": "Reject"}


@pytest.mark.parametrize(
    "text",
    [
        "I do not approve of it.",
        "We don't approve.",
        "We DON\u2019T **approve**!",
        "I am not going to vote for option A",
        "It cannot be: approve",
        "Never approve; neither now.",
        "We decided against\nApprove.",
        "Something else rather than Approve.",
        "We wait instead of voting to approve",
        "It is fine, but there is no way to approve it",
        "We approve. We do not approve.",
        "I would not, as Mr. Smith says, approve",
        "not-approve",
    ],
)
def test_a_text_that_denies_an_option_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableDecision, match="it denies an option"):
        read_decision(GivenDecision(text=text), VERDICTS, "name")


@pytest.mark.parametrize(
    ("text", "options", "decision"),
    [
        ("I approve of it.", VERDICTS, "A"),
        ("We choose Approve.", VERDICTS, "A"),
        ("We approve, which is not easy.", VERDICTS, "A"),
        ("It is not easy. We reject it.", VERDICTS, "B"),
        ('They said "never again." Approve', VERDICTS, "A"),
        ("Why not? Approve!", VERDICTS, "A"),
        ("We noted nothing new and another notion: option B", VERDICTS, "B"),
        ("Not one of the many who spoke to us at length had doubts: Approve", VERDICTS, "A"),
        ("I do not approve", {"A": "Approve", "B": "Do not approve"}, "B"),
        ("We find him not guilty.", {"A": "Guilty", "B": "Not guilty"}, "B"),
        ("We say no.", {"A": "Yes", "B": "No"}, "B"),
        ("It is prof. Jones. Of course", {"A": "Prof. Jones", "B": "Dr. Jones"}, "A"),
    ],
)
def test_a_text_that_denies_no_option_is_read(
    text: str, options: dict[str, str], decision: str
) -> None:
    assert read_decision(GivenDecision(text=text), options, "name") == decision


@pytest.mark.parametrize(
    ("options", "pair"),
    [
        ({"A": "B", "B": "A"}, ("A", "B")),
        ({"a": "one", "A": "two"}, ("a", "A")),
        ({"A": "one", "\uff21": "two"}, ("A", "\uff21")),
        ({"A": ".5 mg", "B": "5 mg", "C": "50 mg"}, ("A", "B")),
        ({"A": "<", "B": ">"}, ("A", "B")),
        ({"A": "C", "B": "C."}, ("A", "B")),
        ({"1": "2", "2": "3"}, ("1", "2")),
        ({"A": "Option B", "B": "no"}, ("A", "B")),
        ({"A": "B no", "B": "no"}, ("A", "B")),
        ({"A": "+", "B": "-"}, None),
        ({"A": "<", "B": "more"}, None),
        ({"A": "A", "B": "B"}, None),
        (CASE.options, None),
    ],
)
def test_options_that_one_text_would_name_are_found(
    options: dict[str, str], pair: tuple[str, str] | None
) -> None:
    found = look_alike(options)
    assert (found and found[:2]) == pair
