"""The determinism probe: what is asked, what the answers' differences are, what is said of them."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from plenum.checks.probe import (
    FirstTurn,
    ProbeCondition,
    ProbeSettings,
    make_probe_jobs,
    run_probe,
)
from plenum.checks.probe_report import (
    END,
    ProbedAnswer,
    bound_undetected,
    compare_answers,
    find_first_difference,
    measure_logprobs,
    measure_preferences,
    publish_probe,
    read_calls,
)
from plenum.committee.deliberation import Deliberation
from plenum.design.condition import Condition
from plenum.design.job import Job
from plenum.design.settings import Api, Budget

# ---- what the differences are


def said(*texts: str) -> list[ProbedAnswer]:
    return [ProbedAnswer(text) for text in texts]


def tokens(*pairs: tuple[str, float]) -> ProbedAnswer:
    return ProbedAnswer("".join(token for token, _ in pairs), tokens=pairs)


def test_equal_answers_differ_in_nothing_but_may_still_hide_a_difference() -> None:
    assert find_first_difference(said(*["a b"] * 20)) is None
    assert_allclose(bound_undetected(20), 1 - 0.05**0.05)
    assert_allclose(bound_undetected(20), 0.139, atol=5e-4)
    spread = measure_preferences([(0.5, 0.5)] * 20)
    assert (spread["distinct_preferences"], spread["preference_distance"]) == (1, 0)
    assert spread["preference_distance_max"] == 0


def test_the_distance_of_preferences_is_that_of_the_corners_of_the_simplex() -> None:
    a, b = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    spread = measure_preferences((a, a, b, b))
    assert (spread["states_read"], spread["distinct_preferences"]) == (4, 2)
    assert_allclose(spread["preference_distance"], 4 / 6 * math.sqrt(2))
    assert_allclose(spread["preference_distance_max"], math.sqrt(2))
    # Without one answer two of three pairs are apart, whichever it is: the jackknife sees nothing.
    assert_allclose(spread["preference_distance_se"], 0, atol=1e-12)


def test_the_standard_error_of_the_mean_distance_is_the_jackknife_by_hand() -> None:
    preferences = [(p, 1 - p) for p in (0.1, 0.4, 0.45, 0.9)]

    def mean(kept: list[tuple[float, float]]) -> float:
        return float(np.mean([math.dist(x, y) for i, x in enumerate(kept) for y in kept[:i]]))

    left_out = np.array([mean(preferences[:i] + preferences[i + 1 :]) for i in range(4)])
    spread = measure_preferences(preferences)
    assert_allclose(spread["preference_distance"], mean(preferences))
    by_hand = math.sqrt(3 / 4 * ((left_out - left_out.mean()) ** 2).sum())
    assert_allclose(spread["preference_distance_se"], by_hand)


def test_a_text_that_ends_where_another_goes_on_parts_there() -> None:
    found = find_first_difference(said("yes", "yes indeed"))
    assert found is not None
    assert found.position == 2
    assert dict(found.alternatives) == {END: 1, " indeed": 1}


def test_tokens_are_used_where_every_answer_has_them() -> None:
    first = tokens(("un", -0.1), ("der", -0.2), (" it", -0.1))
    second = tokens(("un", -0.1), ("do", -1.7), (" it", -0.1))
    found = find_first_difference([first, first, second])
    assert found is not None
    assert (found.unit, found.position) == ("token", 2)
    assert found.alternatives == (("der", 2), ("do", 1))
    in_words = find_first_difference([first, ProbedAnswer("undo it")])
    assert in_words is not None
    assert in_words.unit == "word"


@given(st.lists(st.text("ab ", max_size=6), min_size=2, max_size=12))
def test_the_parting_is_that_of_all_pairs(texts: list[str]) -> None:
    if len(set(texts)) < 2:
        return
    split = [probes_words(text) for text in texts]
    positions = [
        1
        + next(
            (n for n, (u, v) in enumerate(zip(x, y, strict=False)) if u != v), min(len(x), len(y))
        )
        for i, x in enumerate(split)
        for y in split[:i]
        if x != y
    ]
    found = find_first_difference(said(*texts))
    assert found is not None
    assert found.position == min(positions)
    assert sum(count for _, count in found.alternatives) == len(texts)
    assert len(found.alternatives) > 1


def probes_words(text: str) -> list[str]:
    """Words with the space before them, by hand."""
    words: list[str] = []
    for character in text:
        if words and (not character.isspace() or words[-1].isspace()):
            words[-1] += character
        else:
            words.append(character)
    return words


def test_the_spread_of_logprobs_is_taken_before_the_texts_part() -> None:
    answers = [
        (("a", -0.5), ("b", -1.0), ("c", -9.0)),
        (("a", -0.7), ("b", -1.0), ("d", -0.1)),
        (("a", -0.6), ("b", -1.4), ("c", -0.1)),
    ]
    spread = measure_logprobs(answers)
    assert spread["logprob_positions"] == 2
    assert_allclose([spread["logprob_spread"], spread["logprob_spread_max"]], [0.3, 0.4])
    assert np.isnan(measure_logprobs([])["logprob_spread"])
    assert np.isnan(measure_logprobs([(("a", -math.inf),), (("a", -1.0),)])["logprob_spread"])


# ---- what is asked

Make = Callable[..., list[Job]]


@pytest.fixture
def jobs(job: Callable[..., Job], tmp_path: Path) -> Make:
    """Make the studies of a probe of the simulated backend, or of what the overrides say."""

    def made(*overrides: str, n: int = 5, **changes: Any) -> list[Job]:
        chosen = replace(job("tracking=none", *overrides), **changes)
        out = tmp_path / "out"
        return make_probe_jobs(ProbeSettings(chosen, n, None, out))

    return made


def probe_condition(condition: Condition) -> ProbeCondition:
    assert isinstance(condition, ProbeCondition)
    return condition


def test_the_prompt_is_the_first_turn_of_the_condition(jobs: Make, job: Callable[..., Job]) -> None:
    (only,) = jobs()
    first = Deliberation(job().condition, 0).ask
    asked = [FirstTurn(probe_condition(only.condition), index).ask for index in range(5)]
    assert first is not None
    assert {ask.chat.messages for ask in asked if ask} == {first.chat.messages}
    assert len({ask.chat.seed for ask in asked if ask}) == 5
    assert {ask.seat for ask in asked if ask} == {first.seat}
    assert run_probe([only])
    assert [call["model"] for call in read_calls(only)] == [first.chat.model] * 5


def test_of_several_wordings_the_first_one_is_asked(jobs: Make, job: Callable[..., Job]) -> None:
    (only,) = jobs("perturbation=variants20")
    first = Deliberation(job("perturbation=variants20").condition, 0).ask
    asked = [FirstTurn(probe_condition(only.condition), index).ask for index in range(5)]
    assert first is not None
    assert {ask.chat.messages for ask in asked if ask} == {first.chat.messages}


def test_each_model_of_a_mixed_line_up_is_asked_once_per_call(
    jobs: Make, job: Callable[..., Job]
) -> None:
    made = jobs("model=mixed", n=2)
    assert run_probe(made)
    seats = job("model=mixed").condition.speaking_order
    asked = [probe_condition(each.condition) for each in made]
    assert [each.speaker for each in asked] == list(seats)
    assert [each.models for each in asked] == [(seat.model,) for seat in seats]
    prompts = [ask.chat for each in asked if (ask := FirstTurn(each, 0).ask)]
    assert len({chat.messages for chat in prompts}) == 5  # each role has a prompt of its own
    assert len({chat.seed for chat in prompts}) == 5
    texts = [call["text"] for each in made for call in read_calls(each)]
    assert len(texts) == 10


def test_an_unfinished_probe_is_continued_and_a_complete_one_asked_anew(jobs: Make) -> None:
    (first,) = jobs(n=4, budget=Budget(calls=3))
    assert not run_probe([first])
    answered = [call for call in read_calls(first) if call["outcome"] == "ok"]
    assert len(answered) == 3
    (again,) = jobs(n=4)
    assert again.journals == first.journals
    assert run_probe([again])
    assert [call for call in read_calls(again) if call in answered] == answered
    folder = Path(first.journals)
    folder.rename(folder.with_name(f"2001-{folder.name}"))  # of another second
    assert not Path(jobs(n=4)[0].journals).exists()


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ({"gpu1": ["a", "a"], "gpu2": ["b", "b"]}, "its 2 servers differ, and each always"),
        ({"gpu1": ["a", "c"], "gpu2": ["b", "b"]}, "by server gpu1 2, gpu2 1; a single server"),
        ({"gpu1": ["a", "a"], "gpu2": ["a", "a"]}, "all 4 equal, from 2 servers"),
        ({"gpu1": ["a", "b", "a"]}, "isn't deterministic at temperature 0"),
    ],
)
def test_a_fleet_that_differs_is_told_from_a_server_that_does(
    jobs: Make, texts: dict[str, list[str]], told: str
) -> None:
    answers = [(server, text) for server, each in texts.items() for text in each]
    (only,) = jobs(n=len(answers))
    run_probe([only])
    calls = [
        {**call, "server": server, "text": text}
        for call, (server, text) in zip(read_calls(only), answers, strict=True)
    ]
    assert told in compare_answers(replace(only.condition, backend=Api()), calls)["verdict"]


def test_failures_are_counted_and_never_replaced(jobs: Make) -> None:
    (only,) = jobs("backend.timeout_rate=0.5", "calls.max_attempts=1", n=40)
    assert not run_probe([only])
    row = compare_answers(only.condition, read_calls(only))
    assert row["n_answered"] + row["n_failed"] == row["n_asked"] == row["attempts"] == 40
    assert row["unanswered"] == f"timeout {row['n_failed']}"
    assert 8 < row["n_answered"] < 32


def test_a_budget_leaves_calls_pending(jobs: Make) -> None:
    (only,) = jobs(n=10, budget=Budget(calls=6))
    assert not run_probe([only])
    row = compare_answers(only.condition, read_calls(only))
    assert (row["n_answered"], row["n_pending"], row["n_failed"]) == (6, 4, 0)


# ---- what is said of them


@pytest.mark.parametrize(
    ("changes", "temperature", "sentence"),
    [
        ({}, 0.0, "who answered isn't deterministic at temperature 0 here"),
        ({}, 0.7, "says nothing about the server's arithmetic"),
        ({"send_seed": True}, 0.0, "each call sent a seed of its own"),
        (None, 0.0, "the simulated backend's own noise"),
    ],
)
def test_a_difference_is_put_down_to_what_can_have_made_it(
    jobs: Make, changes: dict[str, Any] | None, temperature: float, sentence: str
) -> None:
    (only,) = jobs()
    run_probe([only])
    calls = read_calls(only)
    calls[0]["text"] += " and more"
    sampling = replace(only.condition.sampling, temperature=temperature)
    backend = only.condition.backend if changes is None else Api(**changes)
    told = compare_answers(replace(only.condition, sampling=sampling, backend=backend), calls)[
        "verdict"
    ]
    assert told.startswith(f"5 answers, {len({call['text'] for call in calls})} distinct: ")
    assert sentence in told


def test_equal_texts_with_unequal_logprobs_are_no_proof_of_equal_arithmetic(jobs: Make) -> None:
    (only,) = jobs("backend.noise=0", n=20)
    run_probe([only])
    calls = read_calls(only)
    told = compare_answers(only.condition, calls)["verdict"]
    assert "all 20 equal: no difference seen" in told
    assert "up to 14 % per call" in told
    for number, call in enumerate(calls):
        call["logprobs"] = [["x", -0.25 - 0.01 * (number == 7)]]
    row = compare_answers(only.condition, calls)
    assert "0.01 apart" in row["verdict"]
    assert_allclose(row["logprob_spread_max"], 0.01)


def test_what_is_written_has_every_model_and_says_that_agents_were_simulated(
    jobs: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    made = jobs("model=mixed", "backend.timeout_rate=0.3", "calls.max_attempts=1", n=4)
    run_probe(made)
    publish_probe(made, None)
    (written,) = Path(made[0].journals).glob("probe-*.csv")
    frame = pd.read_csv(written)
    assert list(frame["model"]) == [str(each.condition) for each in made]
    assert (frame["n_answered"] + frame["n_failed"] == 4).all()
    assert frame["n_failed"].sum() > 0
    page, printed = written.with_suffix(".md").read_text(), capsys.readouterr().out
    assert printed.count("simulated agents answered") == 1  # once a screen
    assert page.count("simulated agents answered") == 1
    for model, verdict in zip(frame["model"], frame["verdict"], strict=True):
        assert f"{model}: {verdict}" in page


def test_nothing_is_published_of_a_probe_without_an_answer(
    jobs: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    made = jobs("backend.timeout_rate=1", "calls.max_attempts=1", n=2)
    assert not run_probe(made)
    publish_probe(made, None)
    assert capsys.readouterr().out == ""
    assert not list(Path(made[0].journals).glob("probe*"))
