"""Repeats and verdicts in the real MLflow, on an SQLite store, with scorers that are functions."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from plenum.base import UserError
from plenum_audit.mlflow import repeat, write_verdicts
from plenum_verdicts.logs import read_log

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # which MLflow loads: no network
mlflow = pytest.importorskip("mlflow")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A store and an experiment of this test, and MLflow as it was afterwards."""
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.set_experiment("panel")
    yield "panel"
    mlflow.set_tracking_uri(before)


QUESTIONS = {"roof": ["A", "A", "A", "A"], "bridge": ["A", "B", "A", "B"], "well": ["B"] * 4}
"""What the program answers to each question, run by run."""
DATA = [{"inputs": {"question": name}, "expectations": {"answer": "A"}} for name in QUESTIONS]


class Program:
    """It answers in the order of its calls; the first call of a question is MLflow's trial call."""

    def __init__(self, answers: dict[str, list[str]]) -> None:
        first = next(iter(answers))
        tried = {name: ([texts[0]] if name == first else []) for name, texts in answers.items()}
        self.left = {n: itertools.chain(tried[n], texts) for n, texts in answers.items()}

    def ask(self, question: str) -> str:
        answer = next(self.left[question])
        if answer == "error":
            raise RuntimeError("the provider is down")
        return answer


def right() -> Any:
    from mlflow.genai.scorers import scorer

    @scorer
    def right(outputs: str, expectations: dict[str, str]) -> bool:
        return outputs == expectations["answer"]

    return right


def assessments(run_id: str, name: str) -> dict[str, list[Any]]:
    """The values of an assessment by case."""
    found: dict[str, list[Any]] = {}
    for trace in mlflow.search_traces(run_id=run_id, return_type="list"):
        values = [each.value for each in trace.info.assessments if each.name == name]
        found.setdefault(trace.info.tags["plenum.case"], []).extend(values)
    return found


@pytest.mark.long
def test_cases_are_repeated_and_verdicts_are_written_to_traces_and_a_run(store: str) -> None:
    result = repeat(Program(QUESTIONS).ask, 4).evaluate(DATA, [right()])
    assert result.metrics["right/mean"] == 0.5
    for _ in range(2):  # verdicts that were written before are replaced
        suite = write_verdicts(result)
    assert (suite.verdict.cases, suite.repeats, suite.contradicted) == (3, (4, 4), ("bridge",))
    assert_allclose(suite.disagreement.value, 2 / 9)  # 0, 2/3, 0
    assert suite.score is not None
    assert_allclose([each.value for each in suite.score.passing], [1 / 2, 7 / 18, 1 / 3, 1 / 3])

    agrees, apart = (assessments(result.run_id, f"plenum.{n}") for n in ("agrees", "disagreement"))
    assert agrees == {"roof": [True] * 4, "bridge": [True] * 4, "well": [True] * 4}
    assert {case: set(values) for case, values in apart.items()} == {
        "roof": {0.0},
        "bridge": {round(2 / 3, 6)},
        "well": {0.0},
    }
    assert sum(map(len, apart.values())) == 12
    evaluated = mlflow.get_run(result.run_id)
    run = mlflow.get_run(evaluated.data.tags["plenum.suite_run"])
    assert run.data.tags["mlflow.runType"] == "genai_evaluate"
    assert run.data.tags["plenum.verdict"] == suite.verdict.verdict == "undecided"
    assert run.data.params["acceptable_disagreement"] == "0.05"
    metrics = run.data.metrics
    assert_allclose(metrics["suite.disagreement"], 2 / 9)
    assert_allclose(metrics["suite.pass_4"], 1 / 3)
    assert_allclose(metrics["suite.noise_floor"], suite.score.floor.value)
    assert metrics["suite.disagreement_ci_low"] < 2 / 9 < metrics["suite.disagreement_ci_high"]
    linked = mlflow.search_traces(run_id=run.info.run_id, return_type="list")
    assert len(linked) == 12
    said = mlflow.artifacts.load_text(f"{run.info.artifact_uri}/suite.txt")
    assert "Two runs of a case end differently in 22.2 %" in said


@pytest.mark.long
def test_failed_runs_agree_with_none_and_a_scorer_may_read_the_decision(store: str) -> None:
    from mlflow.genai.scorers import scorer

    @scorer
    def label(outputs: str) -> str | None:
        return outputs[:1] if outputs else None

    @scorer
    def length(outputs: str) -> int:
        return len(outputs or "") * 10

    program = Program(
        {"roof": ["A for its roof", "A, since", "A"], "well": ["error", "error", "B"]}
    )
    data = pd.DataFrame([{"inputs": {"question": name}} for name in ("roof", "well")])
    result = repeat(program.ask, 3).evaluate(data, [label, length])
    by_text = write_verdicts(result)
    assert set(by_text.contradicted) == {"roof", "well"}
    assert by_text.score is None
    suite = write_verdicts(result, decision="label")
    assert suite.contradicted == ("well",)
    assert_allclose(suite.disagreement.value, 1 / 2)  # of 0 and 1
    agrees = assessments(result.run_id, "plenum.agrees")
    assert agrees == {"roof": [True] * 3, "well": [False] * 3}
    with pytest.raises(UserError, match=r"decision: 'labl'; the scorers are label, length"):
        write_verdicts(result, decision="labl")
    with pytest.raises(UserError, match=r"score: 'length'; name one that says .*: none does"):
        write_verdicts(result, decision="label", score="length")


@pytest.mark.long
def test_several_evaluations_of_the_same_rows_are_runs_of_their_cases(store: str) -> None:
    program = Program({name: [texts[0], texts[0], *texts] for name, texts in QUESTIONS.items()})
    results = [
        mlflow.genai.evaluate(data=DATA, scorers=[right()], predict_fn=program.ask)
        for _ in range(2)
    ]
    with pytest.raises(UserError, match="no case has two runs"):
        write_verdicts(results[0])
    suite = write_verdicts([results[0], results[1].run_id])
    assert (suite.verdict.cases, suite.repeats) == (3, (2, 2))
    assert mlflow.get_run(results[1].run_id).data.tags["plenum.verdict"] == "undecided"


def test_rows_come_round_by_round_with_names_of_their_own() -> None:
    data = [
        {"inputs": {"question": "roof"}, "tags": {"team": "a"}},
        {"inputs": {"question": "roof"}, "expectations": {"answer": "B"}},
        {"inputs": {"question": "x", "city": "Ulm"}, "tags": {"plenum.case": "third"}},
    ]
    rows = repeat(len, 2).rows(data)
    named = [(row["tags"]["plenum.case"], row["tags"]["plenum.run"]) for row in rows]
    names = [name for name, _ in named[:3]]
    assert names[0] != names[1]
    assert [name[:6] for name in names] == ["roof #", "roof #", "third"]
    assert named == [(name, run) for run in "12" for name in names]
    assert rows[0]["tags"]["team"] == "a"
    assert rows[4]["expectations"] == {"answer": "B"}
    assert data[0]["tags"] == {"team": "a"}  # the user's rows stay


@pytest.mark.parametrize(
    ("k", "data", "words"),
    [
        (1, DATA, "k: 1; it is a whole number of at least 2"),
        (True, DATA, "k: True"),
        (2, [], "data: give a list"),
        (2, [{"question": "roof"}], "data, row 1: inputs"),
        (2, [*DATA, {"inputs": {"q": 1}, "outputs": "A"}], "data, row 4: outputs: it exists"),
    ],
)
def test_what_cannot_be_repeated_is_refused(k: int, data: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        repeat(len, k).rows(data)


def traced(case: str, question: str, answer: str, why: str, **scores: Any) -> None:
    """Log a trace of an answer and its reason, with a tag of its case and with scores."""
    with mlflow.start_span("ask") as span:
        span.set_inputs({"question": question})
        span.set_outputs({"answer": answer, "why": why})
        mlflow.update_current_trace(tags={"plenum.case": case} if case else {})
    mlflow.flush_trace_async_logging()
    for name, value in scores.items():
        mlflow.log_feedback(trace_id=span.trace_id, name=name, value=value)


def test_tags_or_inputs_name_cases_and_one_scorer_is_the_score(store: str) -> None:
    with mlflow.start_run() as run:
        traced("roof", "Which roof?", "A", "light", label="A", right="yes", tone=0.5)
        traced("roof", "What roof?", "A", "cheap", label="A", right="no", tone=1)
        traced("", "", "B", "near", label="B", right="yes", tone=0)
        traced("", "", "B", "near", right="yes", tone=0)
    run_id = run.info.run_id
    with pytest.raises(UserError, match=r"score: ''; name one .* 0 to 1: right, tone"):
        write_verdicts(run_id)
    with pytest.raises(UserError, match=r"score: 'label'; .*: right, tone"):
        write_verdicts(run_id, score="label")
    whole = write_verdicts(run_id, score="right")
    assert whole.contradicted == ("roof",)  # the reasons differ
    assert whole.score is not None
    assert_allclose(whole.score.score.value, 0.75)
    assert write_verdicts(run_id, decision="label", score="tone").contradicted == ("(empty)",)
    by_score = write_verdicts(run_id, decision="right", score="right")
    assert by_score.contradicted == ("roof",)
    assert (
        write_verdicts(run_id, decision="right").score == write_verdicts(run_id, score="tone").score
    )
    found = mlflow.search_traces(run_id=run_id, return_type="list")
    written = [each for trace in found for each in trace.info.assessments]
    assert sum(each.name == "plenum.agrees" for each in written) == 4
    log = read_log(f"runs:/{run_id}", score="tone")  # the assessments of plenum are no scores
    assert [row["decision"] for each in log.cases for row in each.rows] == ["B", "B", "A", "A"]
    with pytest.raises(UserError, match=r"score=right .*, score=tone .* uses one"):
        read_log(f"runs:/{run_id}", score="plenum.agrees")


def test_runs_that_all_failed_and_unknown_runs_are_refused(store: str) -> None:
    with mlflow.start_run() as run:
        for _ in range(2):
            with pytest.raises(RuntimeError), mlflow.start_span("ask"):
                raise RuntimeError("down")
    with pytest.raises(UserError, match="evaluation: of its 2 traces, none is of a run that ended"):
        write_verdicts(run.info.run_id)
    with pytest.raises(UserError, match="runs:/none"):
        write_verdicts("none")
