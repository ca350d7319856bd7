"""Rules that were tampered with, are another program's, or have expired: none acts."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum_audit.gate import compose_gate
from plenum_audit.program_gate import apply_act_rule
from plenum_audit.programs.compose import Audit
from plenum_audit.programs.condition import require_program
from plenum_verdicts.acting.case_act import apply_rule
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.judge import judge_log, load_runs
from plenum_verdicts.reports.acting import publish_acts, read_rule
from plenum_verdicts.reports.subjects import list_log_subjects

CONF = Path(__file__).resolve().parents[2] / "conf"
OPTIONS = {"A": "Hire", "B": "Wait"}
AB = '["A", "B"]'
TODAY = datetime.now(UTC).date()
Held = dict[str, Any]


def day(days: int) -> str:
    return (TODAY + timedelta(days)).isoformat()


def compose_rule(folder: Path, rule: Path, *more: str, options: Held = OPTIONS) -> Audit:
    """The audit of one case to which a rule is applied; nothing is run."""
    (folder / "program.py").write_text("def committee(case, run):\n    return 'A'\n")
    (folder / "case.yaml").write_text(json.dumps({"id": "new", "text": "?", "options": options}))
    given = (
        f"committee.target={folder}/program.py:committee", f"case={folder}/case.yaml",
        f"rule={rule}", f"out={folder}/acts", "tracking=none", "dry_run=true", *more,
    )  # fmt: skip
    with initialize_config_dir(str(CONF), version_base="1.3"):
        audit = compose_gate(compose("audit", list(given)))
    assert isinstance(audit, Audit)
    return audit


@pytest.fixture(scope="module")
def of_log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The JSON of a stable suite with a rule that was learnt from a log."""
    folder = tmp_path_factory.mktemp("learnt")
    rows = [
        {"case": f"c{case}", "decision": "AB"[case < 26 and run == 0], "answer": "A"}
        | {"options": OPTIONS}
        for case in range(200)
        for run in range(3)
    ]
    log = folder / "runs.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    # By the usual limits its disagreement, 9 %, lies between both.
    limits: Held = {"acceptable_disagreement": 0.1}
    settings = VerdictConfig(logs=str(log), out=str(folder), suite=True, decide=True, **limits)
    judge_log(load_runs(settings, "hiring", "rules", ""))
    text = (folder / "suite.json").read_text()
    assert json.loads(text)["verdict"]["verdict"] == "stable"
    return text


@pytest.fixture
def of_program(of_log: str, tmp_path: Path) -> Held:
    """The same rule, learnt from runs of the program itself."""
    rule = tmp_path / "rule.json"
    rule.write_text(of_log)
    held: Held = json.loads(of_log)
    condition = require_program(compose_rule(tmp_path, rule).jobs[0].condition)
    held["acting"]["learnt"] |= {"source": "program", "identity": condition.program_identity}
    seal(held)
    return held


def seal(held: Held) -> None:
    """Write the digest of a rule that was changed, as somebody does who means it."""
    if isinstance(rule := held.get("acting"), dict):
        rule.pop("digest", None)
        rule["digest"] = digest(rule)


def put(path: str, value: Any) -> Callable[[Held], None]:
    """A change of one value: ``acting.rules.0.shown``."""

    def change(held: Held) -> None:
        *names, last = path.split(".")
        at: Any = held
        for name in names:
            at = at[int(name) if isinstance(at, list) else name]
        at[int(last) if isinstance(at, list) else last] = value

    return change


def drop(path: str) -> Callable[[Held], None]:
    def change(held: Held) -> None:
        *names, last = path.split(".")
        at: Any = held
        for name in names:
            at = at[name]
        del at[last]

    return change


def both(*changes: Callable[[Held], None]) -> Callable[[Held], None]:
    def change(held: Held) -> None:
        for each in changes:
            each(held)

    return change


SEVEN = {"rule": {"runs": 7, "agreeing": 4}, "at_most": 0.01, "shown": True}
WRONG = "holds no rule, as "
TAMPERED: dict[str, tuple[Callable[[Held], None], str]] = {
    "runs as text": (put("acting.chosen.runs", "2"), WRONG),
    "agreeing as text": (put("acting.chosen.agreeing", "2"), WRONG),
    "runs as a float": (put("acting.chosen.runs", 2.0), WRONG),
    "runs as true": (put("acting.chosen.runs", True), WRONG),
    "no run": (put("acting.chosen", {"runs": 0, "agreeing": 0}), WRONG),
    "fewer runs than shown": (put("acting.chosen", {"runs": 1, "agreeing": 1}), WRONG),
    "more runs than the fewest": (put("acting.chosen", {"runs": 3, "agreeing": 3}), WRONG),
    "more runs than in the table": (put("acting.chosen", {"runs": 5, "agreeing": 5}), WRONG),
    "millions of runs": (put("acting.chosen", {"runs": 9**9, "agreeing": 9**9}), WRONG),
    "half of the runs": (put("acting.chosen", {"runs": 2, "agreeing": 1}), WRONG),
    "2 of 3 where all had to agree": (put("acting.chosen", {"runs": 3, "agreeing": 2}), WRONG),
    "4 of 7 in the table": (
        both(put("acting.chosen", SEVEN["rule"]), put("acting.rules", [SEVEN])),
        WRONG,
    ),
    "the table has 2 of 3": (put("acting.rules.2.rule.agreeing", 2), WRONG),
    "a list for the rule": (put("acting.chosen", [2, 2]), WRONG),
    "a number for the rule": (put("acting.chosen", 2), WRONG),
    "no rule chosen": (put("acting.chosen", None), "none was shown"),
    "without a table": (drop("acting.rules"), WRONG),
    "an empty table": (put("acting.rules", []), WRONG),
    "nothing shown": (put("acting.rules.1.shown", False), WRONG),
    "shown as text": (put("acting.rules.1.shown", "yes"), WRONG),
    "a bound above the risk": (put("acting.rules.1.at_most", 0.06), WRONG),
    "a bound above 1": (put("acting.rules.1.at_most", 1.5), WRONG),
    "a negative bound": (put("acting.rules.1.at_most", -0.5), WRONG),
    "another risk": (put("acting.risk", 0.01), WRONG),
    "risk 0.99": (put("acting.risk", 0.99), WRONG),
    "risk as text": (put("acting.risk", "0.05"), WRONG),
    "an infinite risk": (put("acting.risk", float("inf")), "Infinity is no number"),
    "NaN beside it": (put("acting.least", float("nan")), "NaN is no number"),
    "unknown whether answers are known": (drop("acting.known"), WRONG),
    "known as text": (put("acting.known", "true"), WRONG),
    "without a schema": (drop("acting.schema"), WRONG),
    "another schema": (put("acting.schema", "plenum.rule/9"), WRONG),
    "learnt from nothing": (drop("acting.learnt"), WRONG),
    "learnt from null": (put("acting.learnt", None), WRONG),
    "without a digest of rows": (drop("acting.learnt.rows"), WRONG),
    "simulated": (put("acting.learnt.source", "simulated"), "simulated"),
    "another source": (put("acting.learnt.source", "people"), WRONG),
    "without a source": (drop("acting.learnt.source"), WRONG),
    "an unstable suite": (put("verdict.verdict", "unstable"), "is unstable"),
    "a suite without a verdict": (put("verdict", None), WRONG),
    "a verdict that is no word": (put("verdict", ["stable"]), WRONG),
    "expired": (put("acting.learnt.day", day(-91)), "valid from then until"),
    "years old": (put("acting.learnt.day", "2020-02-29"), "valid from then until"),
    "of the day after tomorrow": (put("acting.learnt.day", day(2)), "valid from then until"),
    "no day": (put("acting.learnt.day", "yesterday"), WRONG),
    "a number for the day": (put("acting.learnt.day", 20000), WRONG),
    "another program": (put("acting.learnt.identity", "0" * 16), "another program"),
    "no program": (put("acting.learnt.identity", ""), "another program"),
    "another log": (put("acting.learnt.source", "log"), "committee.name="),
    "options with other names": (
        put("acting.learnt.options", {AB: digest({"A": "Wait", "B": "Hire"})}),
        "other options",
    ),
    "other options": (put("acting.learnt.options", {'["no", "yes"]': ""}), "other options"),
    "one option more": (
        put("acting.learnt.options", {'["A", "B", "C"]': ""}),
        "other options",
    ),
    "no options": (put("acting.learnt.options", {}), "other options"),
    "options as text": (put("acting.learnt.options", "A, B"), WRONG),
}
TEXTS = {
    "nothing": "",
    "no JSON": "not json",
    "a list": "[]",
    "a bare rule": '{"acting": {"chosen": {"runs": 1, "agreeing": 1}}}',
    "no answer": '{"acting": null}',
    "an infinite number of runs": '{"acting": {"chosen": {"runs": Infinity, "agreeing": 1}}}',
    "too deep": "[" * 200_000,
    "too many digits": '{"acting": {"risk": ' + "9" * 5000 + "}}",
    "a suite that is text": '{"suite": "acting", "acting": 1}',
    "a key twice": '{"acting": {"known": true, "known": false}}',
}


def refuse(folder: Path, text: str) -> str:
    rule = folder / "rule.json"
    rule.write_text(text)
    with pytest.raises(UserError) as told:
        apply_act_rule(compose_rule(folder, rule))
    (line,) = str(told.value).splitlines()
    assert line.startswith("rule: ")
    return line


@pytest.mark.parametrize("name", TAMPERED)
def test_rules_refused(tmp_path: Path, of_program: Held, name: str) -> None:
    change, words = TAMPERED[name]
    change(of_program)
    seal(of_program)
    assert words in refuse(tmp_path, json.dumps(of_program))


EDITED = {
    "wrong": put("acting.rules.1.wrong", 0.5),
    "cases": put("acting.rules.1.acts.cases", 3),
    "unlike cases": put("acting.rules.1.alike", False),
    "level": put("acting.alpha", 0.99),
    "no level": drop("acting.alpha"),
    "a key more": put("acting.more", 1),
    "rows": put("acting.learnt.rows", "zz"),
    "known": put("acting.known", False),
    "a shorter rule": both(
        put("acting.rules.0.shown", True),
        put("acting.rules.0.at_most", 0.04),
        put("acting.chosen", {"runs": 1, "agreeing": 1}),
    ),
    "as a log's": put("acting.learnt.source", "log"),
    "no digest": drop("acting.digest"),
}


@pytest.mark.parametrize("name", EDITED)
def test_a_rule_that_was_edited_is_refused(tmp_path: Path, of_program: Held, name: str) -> None:
    EDITED[name](of_program)
    assert "its digest is another one" in refuse(tmp_path, json.dumps(of_program))


@pytest.mark.parametrize("name", TEXTS)
def test_texts_refused(tmp_path: Path, name: str) -> None:
    assert WRONG in refuse(tmp_path, TEXTS[name])


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", "absent", "."):
        with pytest.raises(UserError, match="can't be read: "):
            apply_act_rule(compose_rule(tmp_path, tmp_path / name))
    (tmp_path / "large").write_bytes(b" " * (2**26 + 1))
    with pytest.raises(UserError, match=WRONG):
        apply_act_rule(compose_rule(tmp_path, tmp_path / "large"))


def test_a_good_rule_acts_for_its_own_program_and_options(
    tmp_path: Path, of_program: Held, of_log: str
) -> None:
    rule = tmp_path / "rule.json"
    rule.write_text(json.dumps(of_program))
    assert apply_act_rule(compose_rule(tmp_path, rule)) == 0
    for more, options, words in (
        ("+overrides.temperature=1", OPTIONS, "another program"),
        ("backend=simulated", OPTIONS, "another program"),
        ("max_runs=90", {"A": "Fire", "B": "Wait"}, "case new has other options"),
    ):
        with pytest.raises(UserError, match=words):
            apply_act_rule(compose_rule(tmp_path, rule, more, options=options))
    # The rule of a log acts for the program that the user calls as the log was.
    rule.write_text(of_log)
    assert apply_act_rule(compose_rule(tmp_path, rule, "committee.name=hiring")) == 0
    with pytest.raises(UserError, match=r'committee\.name="hiring"'):
        apply_act_rule(compose_rule(tmp_path, rule, "committee.name=firing"))


def test_an_act_never_reads_like_a_refusal(tmp_path: Path, of_log: str) -> None:
    (tmp_path / "rule.json").write_text(of_log)
    rule, settings = read_rule(str(tmp_path / "rule.json")), VerdictConfig(out=str(tmp_path))
    option = 'ask a person (0 of 1 runs decided "B")'
    acts = [
        apply_rule(rule.chosen, "new", [option] * 2),
        apply_rule(rule.chosen, "odd", ["A", "B"]),
    ]
    first, second, origin, _ = publish_acts(acts, rule, "study", settings, [])
    assert first.startswith(
        'new: "ask a person (0 of 1 runs decided \\"B\\")" (2 of 2 runs agree; '
    )
    assert first.endswith("at most 5 % of such acts are wrong)")
    assert second == 'odd: ask a person (1 of 2 runs decided "A")'
    held = json.loads((tmp_path / "acts.json").read_text())
    learnt = json.loads(of_log)["acting"]["learnt"]
    assert (held["risk"], held["learnt"]) == (0.05, learnt)
    assert learnt["rows"] in origin
    assert day(0) in origin


def test_a_log_that_was_changed_while_it_was_read_has_no_digest(tmp_path: Path) -> None:
    log = tmp_path / "runs.jsonl"
    row = '{"case": "a", "decision": "x"}\n'
    log.write_text(row * 2)
    runs = load_runs(VerdictConfig(logs=str(log), out=str(tmp_path / "out")), "", "study", "")
    assert list_log_subjects(str(log), runs.log.program, None)[0].role == "logs"
    log.write_text(row * 3)
    with pytest.raises(UserError, match="was changed while it was read"):
        list_log_subjects(str(log), runs.log.program, None)
