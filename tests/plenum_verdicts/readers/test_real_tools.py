"""Files that the real tools write are read, each written in the tool's own environment.

``sh scripts/frameworks.sh inspect deepeval promptfoo`` makes the environments.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from plenum_verdicts.logs.case_logs import CaseLog, read_log

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENTS = ROOT / ".frameworks"
ANSWERS = {"a": ["4", "4", "5"], "b": ["4", "4", "4"]}
"""What a program answers to two cases; right is 4."""


def run(tool: str, program: str, folder: Path, *arguments: str) -> None:
    """Run a program of a tool's environment in a folder; skip the test without the environment."""
    file = ENVIRONMENTS / tool / program
    if not file.exists():
        pytest.skip(f"no environment of {tool}: sh scripts/frameworks.sh {tool}")
    quiet = {
        "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
        "DEEPEVAL_RESULTS_FOLDER": str(folder / "results"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_CONFIG_DIR": str(folder / "config"),
    }
    environment = {**os.environ, **quiet}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(file), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    wrote = any(folder.rglob("*.json")) or any(folder.rglob("*.eval"))
    assert wrote, done.stdout[-2000:] + done.stderr[-2000:]


def ended(logged: tuple[CaseLog, ...]) -> dict[str, list[tuple[str, bool]]]:
    """Decision and result of each run, by case."""
    return {each.case.id: [(row["decision"], row["right"]) for row in each.rows] for each in logged}


INSPECT = """
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import solver

answers = {"a": iter("445"), "b": iter("444")}

@solver
def scripted():
    async def solve(state, generate):
        state.output.completion = next(answers[state.sample_id])
        return state
    return solve

samples = [Sample(id=name, input=f"case {name}", target="4") for name in answers]
eval(Task(dataset=samples, solver=scripted(), scorer=match(), name="sums"), model="mockllm/model",
     epochs=3, log_dir=".", display="none", max_samples=1)
"""


def test_a_log_of_inspect(tmp_path: Path) -> None:
    run("inspect", "bin/python", tmp_path, "-c", INSPECT)
    (path,) = tmp_path.glob("*.eval")
    log = read_log(path)
    assert "(format=inspect)" in log.summary
    expected = {case: [(text, text == "4") for text in texts] for case, texts in ANSWERS.items()}
    found = ended(log.cases)
    assert {case: sorted(each) for case, each in found.items()} == {
        case: sorted(each) for case, each in expected.items()
    }
    assert log.committee == "sums"
    dumped = tmp_path / "dumped.json"
    code = (
        "from inspect_ai.log import read_eval_log, write_eval_log\n"
        f"write_eval_log(read_eval_log({str(path)!r}), {str(dumped)!r})"
    )
    run("inspect", "bin/python", tmp_path, "-c", code)
    assert ended(read_log(dumped).cases) == found


DEEPEVAL = """
from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
from deepeval.metrics import ExactMatchMetric
from deepeval.test_case import LLMTestCase

answers = {"a": "445", "b": "444"}
cases = [LLMTestCase(input=name, actual_output=text, expected_output="4")
         for name, texts in answers.items() for text in texts]
evaluate(cases, [ExactMatchMetric()], async_config=AsyncConfig(run_async=False),
         display_config=DisplayConfig(print_results=False, show_indicator=False))
"""


def test_a_test_run_of_deepeval(tmp_path: Path) -> None:
    run("deepeval", "bin/python", tmp_path, "-c", DEEPEVAL)
    log = read_log(tmp_path / "results")
    assert "(format=deepeval)" in log.summary
    assert ended(log.cases) == {
        case: [(text, text == "4") for text in texts] for case, texts in ANSWERS.items()
    }


PROMPTFOO = {
    "providers": ["file://provider.js"],
    "prompts": ["{{question}}"],
    "tests": [
        {"vars": {"question": name}, "assert": [{"type": "equals", "value": "4"}]}
        for name in ANSWERS
    ],
}
PROVIDER = f"""
const answers = {json.dumps(ANSWERS)};
module.exports = class {{
  id() {{ return 'scripted'; }}
  async callApi(prompt) {{
    const output = answers[prompt].shift();
    return {{ output, cost: 0.5, tokenUsage: {{ prompt: 3, completion: 1 }} }};
  }}
}};
"""


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_repeats_of_promptfoo(tmp_path: Path, ending: str) -> None:
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(PROMPTFOO))
    (tmp_path / "provider.js").write_text(PROVIDER)
    output = f"results.{ending}"
    asked = ("eval", "--repeat", "3", "--no-cache", "-j", "1", "-o", output)
    run("promptfoo", "node_modules/.bin/promptfoo", tmp_path, *asked, "-c", "promptfooconfig.json")
    log = read_log(tmp_path / output)
    assert "(format=promptfoo)" in log.summary
    assert {case: sorted(each) for case, each in ended(log.cases).items()} == {
        case: sorted((text, text == "4") for text in texts) for case, texts in ANSWERS.items()
    }
    rows = [row for each in log.cases for row in each.rows]
    assert [row["cost"] for row in rows] == [0.5] * 6
    assert {row["model"] for row in rows} == {"scripted"}


def test_evaluations_of_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # which MLflow loads: no network
    mlflow = pytest.importorskip("mlflow")
    from mlflow.genai.scorers import scorer

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_GENAI_EVAL_SKIP_TRACE_VALIDATION", "True")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    left = {case: iter(texts) for case, texts in ANSWERS.items()}

    @scorer  # type: ignore[untyped-decorator]
    def correct(outputs: str, expectations: dict[str, str]) -> bool:
        return outputs == expectations["answer"]

    @mlflow.trace  # type: ignore[untyped-decorator]
    def predict(question: str) -> str:
        return next(left[question])

    data: list[dict[str, Any]] = [
        {"inputs": {"question": case}, "expectations": {"answer": "4"}} for case in ANSWERS
    ]
    try:
        mlflow.set_experiment("sums")
        done = [
            mlflow.genai.evaluate(data=data, predict_fn=predict, scorers=[correct])
            for _ in range(3)
        ]
        log = read_log("mlflow:sums")
        assert "(format=mlflow), 6 runs of 2 cases" in log.summary
        assert ended(log.cases) == {
            case: [(text, text == "4") for text in texts] for case, texts in ANSWERS.items()
        }
        first = read_log(f"runs:/{done[0].run_id}").cases
        assert [len(each.rows) for each in first] == [1, 1]
        by_run = read_log("mlflow:sums", by=["source_run"]).cases
        assert [len(each.rows) for each in by_run] == [1] * 6
    finally:
        mlflow.set_tracking_uri(before)


def test_an_experiment_that_mlflow_doesn_t_have(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    from plenum.base.errors import UserError

    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    try:
        with pytest.raises(UserError, match="set MLFLOW_TRACKING_URI"):
            read_log("mlflow:none")
        assert not any(tmp_path.iterdir())
        mlflow.set_experiment("another")
        for name in ("mlflow:none", "mlflow:77", "runs:/none"):
            with pytest.raises(UserError) as error:
                read_log(name)
            assert str(error.value).count("\n") == 0
    finally:
        mlflow.set_tracking_uri(before)
