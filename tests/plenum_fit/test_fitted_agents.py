"""Agents that were fitted to released runs: what they read and draw, and what they refuse."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from plenum.base import UserError
from plenum.design import Job
from plenum.models import STATE_RULES, Prompt, check_backends
from plenum.models.simulated.prompt_parser import PromptRow, ScenarioSection
from plenum_fit.fitted_agents import FITTED
from plenum_fit.kernels import move
from plenum_fit.parameter_file import (
    FILE,
    Start,
    draw_start,
    fit_starts,
    format_fitted,
    read_fitted,
    read_published,
)

HEALTH = ("Single-payer", "Public option", "Regulated multi-payer")
SEATS = ("Chair", "Welfare", "Rights", "Equity", "Security")


def read_by(
    seat: str, table: dict[str, tuple[float, ...]], names: tuple[str, ...] = HEALTH
) -> Prompt:
    """What a seat with a mandate reads."""
    case = ScenarioSection("A case.", ("A", "B", "C"), names, (), ())
    rows = {label: PromptRow(table.get(label, ()), 80) for label in SEATS}
    return Prompt(case, "Care for all.", 110, seat, (), rows, "turn")


def test_the_first_state_has_the_law_of_the_scenario_and_seat() -> None:
    rng = np.random.default_rng(0)
    drawn = np.array(
        [FITTED.update(read_by("Rights", {}), "gpt-4.1-mini", rng) for _ in range(400)]
    )
    law = read_published().starts["HL-01"]["Rights gpt-4.1-mini mandate"]
    np.testing.assert_allclose(drawn.mean(axis=0), law.mean, atol=0.02)
    np.testing.assert_allclose(np.cov(drawn[:, :2].T), law.covariance, atol=0.002)


def test_a_turn_is_that_of_the_seats_kernel() -> None:
    table = dict(zip(SEATS, np.random.default_rng(1).dirichlet([3, 3, 3], 5).tolist(), strict=True))
    found = FITTED.update(read_by("Equity", table), "xai/grok-3-mini", np.random.default_rng(7))
    own = np.array([table["Equity"]])
    peers = np.array([[table[name] for name in SEATS if name != "Equity"]])
    kernel = read_published().kernels["Equity xai/grok-3-mini mandate"]
    expected = move(kernel, own, peers, own, np.random.default_rng(7))[0]
    np.testing.assert_allclose(found, expected)


def test_the_shipped_kernels_need_nothing_that_a_prompt_lacks() -> None:
    fitted = read_fitted(FILE)
    assert all("first" not in each.terms for each in fitted.kernels.values())
    assert set(fitted.starts) == set(fitted.options)
    seats = {key for design in fitted.designs.values() for key in design}
    assert seats == set(fitted.kernels)
    assert all(seats == set(each) for each in fitted.starts.values())


def test_the_file_is_read_as_it_was_written(tmp_path) -> None:
    fitted = read_fitted(FILE)
    (tmp_path / "fitted.json").write_text(format_fitted(fitted), encoding="utf-8")
    assert read_fitted(tmp_path / "fitted.json") == fitted


@pytest.mark.parametrize("text", ["", "[]", '{"kernels": {"a": {}}}', '{"kernels": 1}'])
def test_a_file_of_another_form_is_refused(text: str, tmp_path) -> None:
    (tmp_path / "fitted.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="no fitted committees"):
        read_fitted(tmp_path / "fitted.json")


def test_starts_are_found_again() -> None:
    law = Start((0.5, 0.3, 0.2), ((4e-4, -2e-4), (-2e-4, 3e-4)))
    states = draw_start(law, 20_000, np.random.default_rng(3))
    np.testing.assert_allclose(states.sum(axis=1), 1)
    from plenum_fit.committees import Committees

    runs = Committees("A", "on", "uniform", ("x",), states[:, None, None], np.zeros(20_000, int))
    found = fit_starts([runs])["A"]["x"]
    np.testing.assert_allclose(found.mean, law.mean, atol=0.001)
    np.testing.assert_allclose(found.covariance, law.covariance, atol=2e-5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("model=gpt-4.1",), "no seat 'Welfare gpt-4.1 mandate'"),
        (("model=gpt-4o",), "no seat 'Chair gpt-4o mandate'"),
        (("scenario=CL-04-five",), "no CL-04-five"),
        (("temperature=t0.7",), "temperature: 0.7"),
        (("memory=k1",), "memory: k1"),
        (("protocol.order=random",), "protocol.order: random"),
        (("protocol=one_shot",), "protocol: one_shot"),
        (("perturbation=variants20", "scenario=IM-01"), "perturbation: variants20"),
        (("backend.gain=2",), "backend.gain: 2"),
        (("backend.noise=0",), "backend.noise: 0"),
        (("backend.fit=nonsense",), "'nonsense' is none of those installed: published"),
    ],
)
def test_what_the_agents_were_not_fitted_to_or_would_ignore_is_refused(
    job: Callable[..., Job], given: tuple[str, ...], said: str
) -> None:
    fitted = [] if "backend.fit=nonsense" in given else ["backend.fit=published"]
    with pytest.raises(UserError, match=re.escape(said)):
        check_backends("require_fitted", [job(*fitted, *given)])


@pytest.mark.parametrize("roles", ["on", "off"])
@pytest.mark.parametrize("model", ["uniform", "mixed"])
def test_the_released_designs_are_played(job: Callable[..., Job], roles: str, model: str) -> None:
    fitted = job("backend.fit=published", f"roles={roles}", f"model={model}")
    check_backends("require_fitted", [fitted])
    assert STATE_RULES["published"] is FITTED


def test_a_seat_with_an_even_state_has_not_spoken() -> None:
    """The papers' prompts show 0.33, 0.33, 0.34 and 50 of a seat that hasn't spoken."""
    silent = read_by("Rights", {})
    even, spoken = (
        replace(silent, table={label: PromptRow((0.33, 0.33, 0.34), conf) for label in SEATS})
        for conf in (50, 34)
    )
    first, drawn, moved = (
        FITTED.update(each, "gpt-4.1-mini", np.random.default_rng(2))
        for each in (silent, even, spoken)
    )
    np.testing.assert_array_equal(first, drawn)
    assert np.abs(first - moved).max() > 0.01


def test_a_case_is_known_by_its_id_where_its_options_are_worded_at_length() -> None:
    text = "SCENARIO_ID: HL-01\nOptions:\nA) Single-payer with global budgets"
    worded = replace(read_by("Chair", {}, ("A long one", "B", "C")), case=case_of(text))
    rng = np.random.default_rng(0)
    short = FITTED.update(read_by("Chair", {}), "gpt-4.1-mini", np.random.default_rng(0))
    np.testing.assert_array_equal(FITTED.update(worded, "gpt-4.1-mini", rng), short)
    with pytest.raises(UserError, match="Red, Green, Blue"):
        FITTED.update(read_by("Chair", {}, ("Red", "Green", "Blue")), "gpt-4.1-mini", rng)


def case_of(text: str) -> ScenarioSection:
    """A case of three options that are told by the text alone."""
    return ScenarioSection(text, ("A", "B", "C"), ("x", "y", "z"), (), ())
