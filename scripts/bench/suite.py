"""Measure how long verdicts on many runs take, beside reading the same file.

    python scripts/bench/suite.py [--only PART] [--quick]

- estimates  seconds of all estimates of 50,000 cases of 4 runs, and peak megabytes
- logs       the whole command on files of 200,000 runs: 50,000 cases of 4 from results of promptfoo
             and from CSV, judged as a suite, and 2,000 cases of 100, a verdict each; next to them
             the seconds in which the standard library reads the same file, in turns
- page       megabytes of the page of 200 cases of 5 runs, with the advice on acting alone
- tests      logs as people have them (`inputs`), logs that were right before (`inputs_right`) and
             attacks on rows, and rules that must be refused, each with the number that fall short,
             by the tests that hold them
- order      fields of verdict.json that change with shuffled rows, renamed cases, options in
             another order, or another time zone
- truths     how often what is said of suites holds: false verdicts with many looks, what is shown,
             intervals with days and reruns, two programs on days of their own
- decide     how often a rule of acting alone is chosen where one run errs in 5.3 %, in all cases
             alike, and, at most over other laws and unequal numbers of runs, how often falsely
- steady     how often protocols are falsely called steadier at kept quality, and truly; and how far
             off a plan's power is
- options    settings of the commands on runs, and on programs

`--quick` takes a tenth of the cases. The last line is JSON with all figures.
"""

import csv
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, TextIO
from xml.etree import ElementTree

import numpy as np
from measuring import measure_parts, watch
from numpy.typing import NDArray
from steady import measure_steadiness

from plenum_audit.design import AuditConfig, CommitteeConfig
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.suites.disagreement import bound_unsteady_cases, estimate_disagreement
from plenum_verdicts.suites.scores import score_suite
from plenum_verdicts.suites.suite_runs import SuiteRuns
from plenum_verdicts.suites.suite_verdict import SuiteRule, judge_suite

ROOT = Path(__file__).resolve().parents[2]
RUNS = 200_000
TO_REACH = {"estimates_200k_s": "≤ 1", "rows_200k_s": "≤ 15", "rows_200k_mb": "≤ 600",
            "logs_by_case_s": "≤ 20", "page_mb": "≤ 1", "inputs_short": "0",
            "inputs_right_short": "0", "attacks_short": "0", "rules_refused_short": "0",
            "order": "0",
            "suite_false_stable": "≤ .05", "shown_false": "≤ .05", "coverage": "≥ .93",
            "coverage_days": "≥ .93", "coverage_adaptive": "≥ .93", "compare_days": "≤ .05",
            "decide_power": "≥ .9", "decide_false": "≤ .05",
            "steady_false": "≤ .05", "kept_size": "≤ .05", "steady_power": "≥ .8",
            "plan_error": "≤ .05", "options_verdict": "≤ 22", "options_audit": "≤ 28"}  # fmt: skip
"""What the figures should be, on two idle cores."""

_VERDICTS = (0, 1, 3)


def _estimates(quick: bool) -> dict[str, Any]:
    """Time the statistics alone, on cases of which a fifth are coins."""
    draw, cases = np.random.default_rng(5), RUNS // (40 if quick else 4)
    chance = np.where(draw.random(cases) < 0.8, 1.0, 0.5)
    right = (draw.random((cases, 4)) < chance[:, None]).ravel()
    runs = SuiteRuns(
        cases=tuple(map(str, range(cases))),
        outcomes=("wrong", "right"),
        case=np.repeat(np.arange(cases), 4),
        outcome=right.astype(np.intp),
        score=right.astype(float),
    )
    began = time.perf_counter()
    judge_suite(estimate_disagreement(runs), SuiteRule())
    score_suite(runs), bound_unsteady_cases(runs)
    took = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"estimates_200k_s": round(took, 2), "estimates_200k_mb": round(peak)}


def _logs(quick: bool) -> dict[str, Any]:
    """Time the command on each file, and the reading of the file before and after it."""
    runs = RUNS // 10 if quick else RUNS
    seconds, read, megabytes = {}, {}, {}
    for name, write, count, load in (
        ("results.json", _write_promptfoo, 4, json.load),
        ("runs.csv", _write_csv, 4, _read_csv),
        ("cases.jsonl", _write_lines, 100, _read_lines),
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            with path.open("w", encoding="utf-8") as file:
                write(file, np.random.default_rng(6).random(runs) < 0.8, count)
            reads = [_time_reading(path, load)]
            done = watch(_command(f"logs={path}", f"out={folder}/out"), folder, allowed=_VERDICTS)
            reads.append(_time_reading(path, load))
            size = path.stat().st_size / 1e6
        seconds[name], megabytes[name], read[name] = done.wall_s, done.peak_mb, min(reads)
        print(
            f"{name} ({size:.0f} MB): {done.wall_s:.1f} s, {done.peak_mb:.0f} MB; "
            f"the file alone is read in {min(reads):.2f} s"
        )
    suites = ("results.json", "runs.csv")
    return {
        "rows_200k_s": round(max(seconds[name] for name in suites), 1),
        "logs_csv_s": round(seconds["runs.csv"], 1),
        "logs_by_case_s": round(seconds["cases.jsonl"], 1),
        "rows_200k_mb": round(max(megabytes.values())),
        "logs_read_s": {name: round(each, 2) for name, each in read.items()},
    }


def _time_reading(path: Path, load: Callable[[TextIO], object]) -> float:
    began = time.perf_counter()
    with path.open(encoding="utf-8") as file:
        load(file)
    return time.perf_counter() - began


def _read_csv(file: TextIO) -> object:
    return list(csv.DictReader(file))


def _read_lines(file: TextIO) -> object:
    return [json.loads(line) for line in file]


def _page(quick: bool) -> dict[str, Any]:
    """Measure the page of runs with seven options, of which most cases have several."""
    draw, options = np.random.default_rng(7), [f"option number {n}" for n in range(7)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "runs.jsonl")
        with path.open("w", encoding="utf-8") as file:
            for case in range(200):
                chances = draw.dirichlet(np.full(7, 0.3))
                for end in draw.choice(options, 5, p=chances):
                    row = {"case": f"a case with a name, {case}", "decision": end}
                    file.write(json.dumps(row | {"answer": options[case % 7]}) + "\n")
        asked = ("suite=true", "decide=true", f"logs={path}", f"out={folder}/out")
        watch(_command(*asked), folder, allowed=_VERDICTS)
        return {"page_mb": round(Path(folder, "out/suite.html").stat().st_size / 1e6, 3)}


def _tests(quick: bool) -> dict[str, Any]:
    """Count the tests of logs that people have and of attacks, and those that fall short."""
    held = ROOT / "tests/plenum_verdicts"
    files = (held / "readers/test_inputs.py", held / "test_log_rows.py", held / "test_attacks.py",
             ROOT / "tests/plenum_audit/test_rules_refused.py")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        done = [*command, "-m", "long or not long", f"--junitxml={report}", *map(str, files)]
        watch(done, str(ROOT), allowed=(0, 1))
        cases = [*ElementTree.parse(report).iter("testcase")]
    found: dict[str, int] = {}
    for case in cases:
        kind = "attacks" if "test_inputs" not in case.attrib["classname"] else "inputs"
        kind = "inputs_right" if "logs-right/" in case.attrib["name"] else kind
        kind = "rules_refused" if "test_rules_refused" in case.attrib["classname"] else kind
        short = case.find("failure") is not None or case.find("error") is not None
        found[kind] = found.get(kind, 0) + 1
        found[f"{kind}_short"] = found.get(f"{kind}_short", 0) + short
    return found


def _order(quick: bool) -> dict[str, Any]:
    """Count the fields of a verdict that change with what means nothing."""
    draw = random.Random(3)
    options = {"A": "Hire", "B": "Reject"}
    rows = [
        {
            **{"case": f"case {n // 4}", "text": f"Question {n // 4}?", "answer": "A"},
            **{"decision": "AB"[draw.random() < (0.5 if n < 20 else 0.05)], "options": options},
            **{"time": f"2026-01-0{1 + n % 2}T2{n % 4}:30:00+02:00", "cost": 0.01},
        }
        for n in range(56)
    ]
    shuffled = draw.sample(rows, len(rows))
    turned = [row | {"options": dict(reversed(options.items()))} for row in rows]
    names = {f"case {n}": f"case {(5 * n) % 14}" for n in range(14)}
    renamed = [row | {"case": names[str(row["case"])]} for row in rows]
    back = {new: old for old, new in names.items()}
    changed = []
    for asked in ("suite=true", "suite=false"):
        usual = _judge_rows(rows, asked, {})
        for other in (
            _judge_rows(shuffled, asked, {}),
            _judge_rows(turned, asked, {}),
            _judge_rows(renamed, asked, {}, back),
            _judge_rows(rows, asked, {"TZ": "Pacific/Auckland"}),
        ):
            known = usual.keys() | other.keys()
            changed += [f for f in known if not _are_equal(usual.get(f), other.get(f))]
    print(f"changed: {', '.join(sorted(set(changed))) or 'nothing'}")
    return {"order": len(changed)}


def _judge_rows(
    rows: list[dict[str, Any]], asked: str, more: dict[str, str], back: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the fields of the verdict on rows, with the names that cases had before."""
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        Path(folder, "runs.jsonl").write_text(text, encoding="utf-8")
        script, out = ROOT / "scripts/verdict.py", Path(folder, "out")
        arguments = ("tracking=none", "logs=runs.jsonl", f"out={out}", asked)
        command = [sys.executable, str(script), *arguments]
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True
        )
        if done.returncode not in _VERDICTS:
            raise SystemExit(done.stderr)
        held = json.loads((out / "verdict.json").read_text(encoding="utf-8"))
    del held["record"], held["controlled"]  # digests of the file, and when it was read
    for case in held["cases"]:
        del case["condition"], case["pair"]  # of the row's content, and of places in the file
    held["cases"].sort(key=lambda case: (back or {}).get(case["id"], case["id"]))
    return dict(_list_fields(held, back or {}))


def _list_fields(value: Any, back: dict[str, str], at: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value with its place; a list of names is in the order of the names."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _list_fields(each, back, f"{at}.{name}")
    elif isinstance(value, list) and all(isinstance(each, str) for each in value):
        yield at, sorted(back.get(each, each) for each in value)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _list_fields(each, back, f"{at}[{number}]")
    else:
        yield at, back.get(value, value) if isinstance(value, str) else value


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return bool(one == other)


def _truths(quick: bool) -> dict[str, Any]:
    """Draw suites whose truth is known."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from suite_truths import measure_truths

    return measure_truths(quick)


def _decide(quick: bool) -> dict[str, Any]:
    """Count rules that are chosen, and those of which more acts are wrong than they say."""
    sys.path.append(str(ROOT / "scripts"))
    from suite_draws import ERRING, REPEATS, draw_choice

    draws, chosen, false = 30 if quick else 300, {}, {}
    for design in REPEATS:
        for law in ERRING:
            found = np.mean([draw_choice(law, design, draw) for draw in range(draws)], axis=0)
            chosen[design, law], false[design, law] = map(float, found)
            print(f"{design}, {law}: chosen {found[0]:.3f}, falsely {found[1]:.3f}", flush=True)
    power = chosen[next(iter(REPEATS)), "alike"]
    return {
        "decide_power": round(power, 3),
        "decide_false": round(max(false.values()), 3),
        "decide_draws": draws,
    }


def _options(quick: bool) -> dict[str, Any]:
    """Count the settings of the command on runs, and those of the one on programs beside them."""
    own = {each.name for each in fields(AuditConfig)} - {
        each.name for each in fields(VerdictConfig)
    }
    program = len(fields(CommitteeConfig)) - 1  # its own name is counted with them
    return {"options_verdict": len(fields(VerdictConfig)), "options_audit": len(own) + program}


def _command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "scripts/audit.py"), "tracking=none", *arguments]


def _write_csv(file: TextIO, right: NDArray[np.bool_], runs: int) -> None:
    file.write("case,run,decision,right,cost,model\n")
    for n, each in enumerate(right):
        file.write(f"case {n // runs},{n % runs},{'AB'[not each]},{int(each)},0.01,m\n")


def _write_lines(file: TextIO, right: NDArray[np.bool_], runs: int) -> None:
    for n, each in enumerate(right):
        row = {"case": f"case {n // runs}", "decision": "AB"[not each], "cost": 0.01}
        file.write(json.dumps(row) + "\n")


def _write_promptfoo(file: TextIO, right: NDArray[np.bool_], runs: int) -> None:
    """Write results with the members that promptfoo 0.120 writes for a test with one assertion."""
    file.write('{"evalId": "eval-1", "results": {"version": 3, "prompts": [], "results": [')
    for n, each in enumerate(right.tolist()):
        given = {"question": f"Question {n // runs}?"}
        used = {"total": 9, "prompt": 8, "completion": 1, "numRequests": 1}
        asserted = {"type": "equals", "value": "yes"}
        graded = {"pass": each, "score": int(each), "reason": "", "namedScores": {}}
        result = {
            "cost": 0.01,
            "gradingResult": {**graded, "componentResults": [{**graded, "assertion": asserted}]},
            "id": f"{n:08d}-0000-0000-0000-000000000000",
            "latencyMs": 38,
            "namedScores": {},
            "prompt": {"raw": f"Answer: {given['question']}", "label": "Answer: {{question}}"},
            "promptId": "5" * 64,
            "promptIdx": 0,
            "provider": {"id": "m", "label": ""},
            "response": {"output": "yes" if each else "no", "tokenUsage": used, "metadata": {}},
            "score": int(each),
            "success": each,
            "testCase": {"vars": given, "assert": [asserted], "options": {}, "metadata": {}},
            "testIdx": n,
            "vars": given,
            "metadata": {},
            "failureReason": int(not each),
        }
        file.write(("," if n else "") + json.dumps(result))
    file.write("]}}")


PARTS = {"estimates": _estimates, "logs": _logs, "page": _page, "tests": _tests, "order": _order,
         "truths": _truths, "decide": _decide, "steady": measure_steadiness,
         "options": _options}  # fmt: skip

if __name__ == "__main__":
    measure_parts(__doc__, PARTS, TO_REACH)
