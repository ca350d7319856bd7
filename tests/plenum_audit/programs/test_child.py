"""A function of a program in a process and an interpreter of its own."""

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from program_runs import CASE, audit_of, script

from plenum.base.errors import UserError
from plenum.design.validation import validate
from plenum_audit.design import CommitteeConfig
from plenum_audit.programs.adapters.committee import find_program
from plenum_audit.programs.adapters.environment import CLIENT
from plenum_audit.programs.adapters.target_suggestions import nameless


def test_a_function_gets_its_case_and_reports_what_happens(tmp_path: Path) -> None:
    target = script(
        tmp_path,
        """
async def committee(case: Case, run: Run) -> Decision:
    print("garbage" * 3)
    text = call(run, f"{case.text} {case.extras['budget']}")
    run.say(1, "chair", text, preferences={"A": .2, "B": .5, "C": .3}, confidence=80)
    run.vote("chair", "B")
    return Decision("B")
""",
    )
    audit = audit_of(tmp_path, target=target)
    first, second = audit.run(2)
    assert [first.decision, second.decision] == ["B", "B"]
    assert [entry["kind"] for entry in first.entries] == ["call", "say", "vote", "end"]
    assert first.entries[1]["preferences"] == {"A": 0.2, "B": 0.5, "C": 0.3}
    assert "garbage" in audit.journal(0).with_suffix(".output").read_text()


def test_a_decision_is_read_from_what_it_returns(tmp_path: Path) -> None:
    returned = {
        "'the engineer'": "A",
        "'**B**.'": "B",
        "None": "none",
        "'whatever'": "none",
        "Decision(text='We take A, option B says no', extract='regex:take (.)')": "A",
        "Decision(text='the engineer, or nobody', extract='name')": "none",
    }
    body = f"def committee(case, run):\n    return [{', '.join(returned)}][run.index]\n"
    runs = audit_of(tmp_path, target=script(tmp_path, body)).run(len(returned))
    assert {run.status for run in runs} == {"completed"}
    assert [run.decision for run in runs] == [*returned.values()]


def test_it_runs_by_an_interpreter_that_has_nothing_of_plenum(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    python = str(tmp_path / "venv/bin/python")
    body = "def committee(case, run):\n    run.say(1, 'x', sys.prefix)\n    return 'C'\n"
    audit = audit_of(tmp_path, target=script(tmp_path, body), python=python)
    (run,) = audit.run()
    assert run.decision == "C"
    assert run.entries[0]["text"] == str(tmp_path / "venv")
    assert audit.program.identity["packages"] == {}


def test_knobs_are_declared_by_the_program_and_given_to_a_run(tmp_path: Path) -> None:
    body = """
class Committee:
    knobs = {"memory": [15, 3], "moderator": [True, False]}
    async def deliberate(self, case, run):
        return "A" if run.knobs["memory"] == 3 else "B"
committee = Committee
"""
    audit = audit_of(tmp_path, target=script(tmp_path, body))
    assert audit.program.knobs == {"memory": [15, 3], "moderator": [True, False]}
    assert audit.run(memory=3)[0].decision == "A"


def test_seeds_differ_by_run_and_repeat_by_audit(tmp_path: Path) -> None:
    body = "def committee(case, run):\n    run.say(1, 's', f'{run.index} {run.seed}')\n"
    seeds = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        target = script(folder, body)
        seeds.append([run.entries[0]["text"] for run in audit_of(folder, target=target).run(2)])
    assert seeds[0] == seeds[1]
    assert len({line.split()[1] for line in seeds[0]}) == 2


def test_what_it_raises_is_the_detail_of_a_typed_failure(tmp_path: Path) -> None:
    raised = {
        "KeyError('chair')": "KeyError: 'chair'",
        "ValueError('two\\n  lines')": "ValueError: two lines",
        "ExceptionGroup('seats', [OSError('no seat'), OSError('no chair')])": "OSError: no seat",
    }
    body = f"""
import atexit
def committee(case, run):
    atexit.register(print, "on the way out", file=sys.stderr)
    raise [{", ".join(raised)}][run.index]
"""
    runs = audit_of(tmp_path, target=script(tmp_path, body)).run(len(raised))
    assert {(run.status, run.reason) for run in runs} == {("failed", "program")}
    details = [run.end["detail"] for run in runs if run.end is not None]
    assert details == [f"exit status 1: {words}" for words in raised.values()]


def test_a_run_that_ended_is_not_run_again(tmp_path: Path) -> None:
    body = "def committee(case, run):\n    open('count', 'a').write('x')\n    return 'A'\n"
    body = body.replace("'count'", repr(str(tmp_path / "count")))
    audit = audit_of(tmp_path, target=script(tmp_path, body))
    audit.run()
    audit.run()
    assert (tmp_path / "count").read_text() == "x"


def test_a_client_that_is_made_on_import_has_its_run_s_key(tmp_path: Path) -> None:
    body = """
import openai
client = openai.OpenAI()
def committee(case, run):
    messages = [{"role": "user", "content": "Yes or no?"}]
    client.chat.completions.create(model="gpt-x", messages=messages)
    return "A"
"""
    (run,) = audit_of(tmp_path, target=script(tmp_path, body)).run()
    assert run.decision == "A"
    assert run.calls[0]["model"] == "gpt-x"


def test_its_identity_changes_with_its_code_alone(tmp_path: Path) -> None:
    (tmp_path / "seats.py").write_text("CHAIR = 'you preside'\n")
    (tmp_path / "other.py").write_text("")
    body = "def committee(case, run):\n    import seats\n    return 'A'\n"
    settings = CommitteeConfig(target=script(tmp_path, body))
    before = find_program(settings).identity
    assert set(before["code"]) == {"team.py", "seats.py"}
    assert "aiohttp" in before["packages"]
    (tmp_path / "other.py").write_text("1")
    assert find_program(settings).identity == before
    (tmp_path / "seats.py").write_text("CHAIR = 'you may preside'\n")
    after = find_program(settings).identity
    assert before["code"]["seats.py"] != after["code"]["seats.py"]
    assert before["code"]["team.py"] == after["code"]["team.py"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"target": "nowhere.py:committee"}, "nowhere.py"),
        ({"target": "team"}, "FILE.py:NAME"),
        ({"target": "{team}"}, "function: committee={team}:committee; a script is run by"),
        ({"target": "{team}:"}, "'committee.command=\"python {team} {{case}}\"'"),
        ({"target": "nowhere.py"}, "no file nowhere.py"),
        ({"target": "{team}:nothing"}, "no attribute 'nothing'"),
        ({"target": "{team}:committee", "python": "/bin/nopython"}, "/bin/nopython"),
        ({"target": "{team}:committee", "timeout_s": 0}, "timeout_s"),
        ({"target": "{team}:committee", "extract": "regex:("}, "regex:("),
        ({"target": "{team}:committee", "command": "x"}, "one of"),
        ({}, "one of"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(
    tmp_path: Path, settings: dict[str, str], words: str
) -> None:
    script(tmp_path, "def committee(case, run):\n    return 'A'\n")
    named = {
        key: value.format(team=tmp_path / "team.py") if isinstance(value, str) else value
        for key, value in settings.items()
    }
    with pytest.raises(UserError) as refusal:
        find_program(validate(CommitteeConfig, named, "committee"))
    assert words.format(team=tmp_path / "team.py") in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_names_of_a_file_are_read_and_never_run(tmp_path: Path) -> None:
    file = tmp_path / "panel.py"
    file.write_text(
        "raise SystemExit('it was run')\n"
        "def helper(text): ...\n"
        "def _hidden(case, run): ...\n"
        "async def decide(case, run, loud=False): ...\n"
        "class Team:\n    def deliberate(self, case, run): ...\n"
        "class Other: ...\n"
    )
    with pytest.raises(
        UserError, match=r": name its function: committee=(\S+) or committee=(\S+);"
    ):
        find_program(CommitteeConfig(target=str(file)))
    names = nameless(str(file))
    assert [word.rpartition(":")[2] for word in names.split() if ".py:" in word] == [
        "decide",
        "Team;",
    ]
    for source in ("def f(:", "x = 1"):
        file.write_text(source)
        assert "it holds no function of a case and a run; a script is run by" in nameless(str(file))


def test_a_program_that_reads_a_command_line_finds_none_of_ours(tmp_path: Path) -> None:
    body = """
import argparse
options = argparse.ArgumentParser()
options.add_argument("--rounds", {})
options.parse_args()
def committee(case, run):
    print(sys.argv)
    return "A"
"""
    audit = audit_of(tmp_path, target=script(tmp_path, body.format("default=3")))
    (run,) = audit.run()
    assert run.decision == "A"
    said = audit.journal(0).with_suffix(".output").read_text()
    assert f"['{tmp_path / 'team.py'}']" in said
    target = script(tmp_path, body.format("required=True"))
    with pytest.raises(UserError) as refusal:
        find_program(CommitteeConfig(target=target))
    assert str(refusal.value) == (
        f"committee={target}: this Python can't import it: team.py: error: the following arguments "
        "are required: --rounds"
    )
    with pytest.raises(UserError) as refusal:
        find_program(CommitteeConfig(target=target, python="/bin/cat"))
    assert "--describe" not in str(refusal.value)


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("{'vote': 'A'}", ("returned {'vote': 'A'}, of type dict;", 'return Decision("A")')),
        ("Decision('I am for A')", ("'I am for A' is no label", 'Decision("A"), or a text')),
    ],
)
def test_a_decision_that_is_none_is_told_with_an_example(
    tmp_path: Path, returned: str, words: tuple[str, str]
) -> None:
    body = f"def committee(case, run):\n    return {returned}\n"
    (run,) = audit_of(tmp_path, target=script(tmp_path, body)).run()
    assert run.status == "failed"
    assert run.end is not None
    assert not [word for word in words if word not in run.end["detail"]]


def test_the_client_needs_the_standard_library_alone() -> None:
    code = "import sys, plenum_run; print(sorted(m for m in sys.modules if 'plenum' in m))"
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({str(CLIENT)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(ended.stdout.replace("'", '"')) == ["plenum_run"]


def test_the_right_answer_stays_with_the_audit(tmp_path: Path) -> None:
    body = "def committee(case, run):\n    with open(os.environ['PLENUM_CASE']) as file:\n"
    body += "        run.say(1, 's', file.read())\n"
    (run,) = audit_of(tmp_path, target=script(tmp_path, body)).run()
    shown = json.loads(run.entries[0]["text"])
    assert shown == {
        "id": CASE.id,
        "text": CASE.text,
        "options": dict(CASE.options),
        "extras": {"budget": 3},
    }
