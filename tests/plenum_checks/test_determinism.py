"""The determinism probe: what is asked, what the answers' differences are, what is said of them."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from plenum.committee import Deliberation
from plenum.design import Budget, Job
from plenum_checks import determinism
from plenum_checks.determinism_report import publish
from plenum_checks.probed_model import ProbedModel, verdict
from plenum_checks.spread import (
    END,
    ProbedAnswer,
    first_difference,
    logprob_spread,
    preference_spread,
    undetected,
)

# ---- what the differences are


def said(*texts: str) -> list[ProbedAnswer]:
    return [ProbedAnswer(text) for text in texts]


def tokens(*pairs: tuple[str, float]) -> ProbedAnswer:
    return ProbedAnswer("".join(token for token, _ in pairs), tokens=pairs)


def test_equal_answers_differ_in_nothing_but_may_still_hide_a_difference() -> None:
    assert first_difference(said(*["a b"] * 20)) is None
    assert_allclose(undetected(20), 1 - 0.05**0.05)
    assert_allclose(undetected(20), 0.139, atol=5e-4)
    spread = preference_spread([(0.5, 0.5)] * 20)
    assert (spread["distinct_preferences"], spread["preference_distance"]) == (1, 0)
    assert spread["preference_distance_max"] == 0


def test_the_distance_of_preferences_is_that_of_the_corners_of_the_simplex() -> None:
    a, b = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    spread = preference_spread((a, a, b, b))
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
    spread = preference_spread(preferences)
    assert_allclose(spread["preference_distance"], mean(preferences))
    by_hand = math.sqrt(3 / 4 * ((left_out - left_out.mean()) ** 2).sum())
    assert_allclose(spread["preference_distance_se"], by_hand)


def test_a_text_that_ends_where_another_goes_on_parts_there() -> None:
    found = first_difference(said("yes", "yes indeed"))
    assert found is not None
    assert found.position == 2
    assert dict(found.alternatives) == {END: 1, " indeed": 1}


def test_tokens_are_used_where_every_answer_has_them() -> None:
    first = tokens(("un", -0.1), ("der", -0.2), (" it", -0.1))
    second = tokens(("un", -0.1), ("do", -1.7), (" it", -0.1))
    found = first_difference([first, first, second])
    assert found is not None
    assert (found.unit, found.position) == ("token", 2)
    assert found.alternatives == (("der", 2), ("do", 1))
    in_words = first_difference([first, ProbedAnswer("undo it")])
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
    found = first_difference(said(*texts))
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
    spread = logprob_spread(answers)
    assert spread["logprob_positions"] == 2
    assert_allclose([spread["logprob_spread"], spread["logprob_spread_max"]], [0.3, 0.4])
    assert np.isnan(logprob_spread([])["logprob_spread"])
    assert np.isnan(logprob_spread([(("a", -math.inf),), (("a", -1.0),)])["logprob_spread"])


# ---- what is asked


@pytest.fixture
def ask(job: Callable[..., Job], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Probe the simulated backend, or what the overrides say."""

    def asked(*overrides: str, n: int = 5, **changes: Any) -> dict[str, Any]:
        chosen = replace(job("tracking=none", *overrides), **changes)
        return determinism.probe(determinism.ProbeSettings(chosen, n, None, tmp_path / "out"))

    return asked


def test_the_prompt_is_the_first_turn_of_the_condition(
    ask: Callable[..., dict[str, Any]], job: Callable[..., Job]
) -> None:
    (model,) = ask()["models"]
    first = Deliberation(job().condition, 0).ask
    assert first is not None
    assert model["messages"] == [vars(message) for message in first.chat.messages]
    assert model["seat"] == first.seat
    seeds = [call["seed"] for call in model["calls"]]
    assert seeds[0] == first.chat.seed
    assert len(set(seeds)) == 5


def test_each_model_of_a_mixed_line_up_is_asked_once_per_call(
    ask: Callable[..., dict[str, Any]], job: Callable[..., Job]
) -> None:
    models = ask("model=mixed")["models"]
    seats = job("model=mixed").condition.speaking_order
    assert [m["model"] for m in models] == [seat.model for seat in seats]
    assert [m["seat"] for m in models] == [seat.name for seat in seats]
    assert len({m["prompt"] for m in models}) == 5  # each role has a prompt of its own
    seeds = [call["seed"] for m in models for call in m["calls"]]
    assert len(set(seeds)) == 25


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
    ask: Callable[..., dict[str, Any]], texts: dict[str, list[str]], told: str
) -> None:
    answers = [(server, text) for server, each in texts.items() for text in each]
    document = ask(n=len(answers))
    document["settings"] |= {"backend": "api", "noise": None}
    for call, (server, text) in zip(document["models"][0]["calls"], answers, strict=True):
        call |= {"server": server, "text": text, "logprobs": []}
    assert told in verdict(ProbedModel(document["models"][0]), document)


def test_failures_are_counted_and_never_replaced(ask: Callable[..., dict[str, Any]]) -> None:
    document = ask("backend.timeout_rate=0.5", "calls.max_attempts=1", n=40)
    (line,) = [ProbedModel(model) for model in document["models"]]
    assert line.failed.keys() == {"timeout"}
    assert line.answered + line.failed["timeout"] == line.requested == 40
    assert 8 < line.answered < 32
    assert line.metrics["attempts"] == 40
    assert "40 answers came" in determinism.cut_short(document)


def test_a_budget_leaves_calls_pending(ask: Callable[..., dict[str, Any]]) -> None:
    document = ask(n=10, budget=Budget(calls=6))
    (line,) = [ProbedModel(model) for model in document["models"]]
    assert (line.answered, line.pending) == (6, {"budget": 4})
    assert "6 of 10" in determinism.cut_short(document)


# ---- what is said of them


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "who answered isn't deterministic at temperature 0 here"),
        ({"sampling.temperature": 0.7}, "says nothing about the server's arithmetic"),
        ({"send_seed": True}, "each call sent a seed of its own"),
        ({"backend": "simulated", "noise": 0.05}, "the simulated backend's own noise"),
    ],
)
def test_a_difference_is_put_down_to_what_can_have_made_it(
    ask: Callable[..., dict[str, Any]], changes: dict[str, Any], sentence: str
) -> None:
    document = ask()
    document["settings"].update({"backend": "api", "send_seed": False, **changes})
    (model,) = document["models"]
    model["calls"][0]["text"] += " and more"
    told = verdict(ProbedModel(model), document)
    assert told.startswith("5 answers, 5 distinct: ")
    assert sentence in told


def test_equal_texts_with_unequal_logprobs_are_no_proof_of_equal_arithmetic(
    ask: Callable[..., dict[str, Any]],
) -> None:
    document = ask("backend.noise=0", n=20)
    (model,) = document["models"]
    told = verdict(ProbedModel(model), document)
    assert "all 20 equal: no difference seen" in told
    assert "up to 14 % per call" in told
    for number, call in enumerate(model["calls"]):
        call["logprobs"] = [["x", -0.25 - 0.01 * (number == 7)]]
    assert "0.01 apart" in verdict(ProbedModel(model), document)


def test_what_is_written_is_plain_json_without_nan(
    ask: Callable[..., dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = ask("model=mixed", "backend.timeout_rate=0.6", "calls.max_attempts=1", n=3)
    files = publish(document, tmp_path / "out", None)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    written = json.loads(files[0].read_text(), parse_constant=refuse)
    assert [m["model"] for m in written["models"]] == [m["model"] for m in document["models"]]
    assert all("metrics" in m and "verdict" in m for m in written["models"])
    page, printed = files[1].read_text(), capsys.readouterr().out
    assert printed.count("simulated agents answered") == 1  # once a screen
    assert page.count("simulated agents answered") == page.count("\n## ")
