"""Plans of a study by fitted agents, for ``scripts/plan.py fit=published``.

A pilot of one round is enough: the agents go on from its first rounds. Without a pilot they begin
as the released committees did in their scenarios.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
import pandas as pd
from omegaconf import DictConfig, OmegaConf
from pydantic import Field

from plenum.base import UserError, make_generator, show_progress
from plenum.design import StrictSettings, Whole, read_settings
from plenum.dynamics import lyapunov, pairwise_disagreement, plan_decisions, plan_replicates, tally
from plenum.reports import (
    Column,
    PlanSettings,
    Table,
    check_plan_settings,
    format_count,
    format_decimals,
    format_warnings,
    read_names,
    show,
)
from plenum.tracking import Study
from plenum_fit.committees import Floats, name_seat
from plenum_fit.parameter_file import FittedCandidate, draw_start, read_published
from plenum_fit.surrogates import decide, simulate

PUBLISHED = "published"
"""The only fit that comes along."""

_COARSE = 40
"""Decisions are planned for in fortieths: the agents' shares are off by more than these."""

_WANTED = ("scenario", "roles", "model")


@dataclass(frozen=True)
class FittedRuns(StrictSettings):
    """The length and the number of committees of fitted agents that are played."""

    rounds: Annotated[Whole, Field(ge=2, le=1000)] = 20
    runs: Annotated[Whole, Field(ge=20, le=10_000)] = 400


@dataclass(frozen=True)
class StartedCommittees:
    """Committees to be played on.

    Attributes
    ----------
    factors
        What names them in the table.
    seats
        Keys in speaking order.
    first
        States of the first round, shape (runs, seats, options).
    known
        The runs that these come from; 0 for none.
    """

    factors: dict[str, str]
    seats: tuple[str, ...]
    first: Floats
    known: int = 0


def publish_fitted_plan(cfg: DictConfig) -> None:
    """Print how many replicates differences take, if committees behave as the released ones.

    Raises
    ------
    UserError
        There is no such fit, study, scenario or seat, or a setting is malformed.
    """
    if cfg.fit != PUBLISHED:
        raise UserError(f"fit: {cfg.fit!r} isn't known; it is {PUBLISHED}")
    played = read_settings(FittedRuns, cfg)
    fitted = read_published()
    if OmegaConf.is_missing(cfg, "study"):
        chosen = check_plan_settings(cfg, study="", uri="")
        begun = list(begin_as_released(fitted, played.runs, cfg))
    else:
        chosen = check_plan_settings(cfg)
        begun = list(begin_as_pilot(Study(chosen.study, chosen.uri), fitted, played.runs))
    lines = []
    with show_progress("planning", "conditions") as report_progress:
        for number, each in enumerate(begun, start=1):
            lines.append(plan_line(each, fitted, played, chosen))
            report_progress(number, len(begun))
    frame = pd.DataFrame(lines)
    show([tabulate_plan(frame, fitted, played, chosen)])


def begin_as_released(
    fitted: FittedCandidate, runs: int, wanted: DictConfig
) -> Iterator[StartedCommittees]:
    """Draw first rounds of the released scenarios that are asked for.

    Raises
    ------
    UserError
        None is named, or there is none of these.
    """
    given = {name: read_names(wanted[name]) for name in _WANTED}
    if not given["scenario"]:
        raise UserError(
            "study: missing; name a pilot of a round or more, as in study=NAME, or a released "
            f"scenario, as in scenario=HL-01: {', '.join(fitted.starts)}"
        )
    found = False
    for scenario, starts in fitted.starts.items():
        for design, seats in fitted.designs.items():
            factors = dict(zip(_WANTED, (scenario, *design.split()), strict=True))
            if any(given[name] and factors[name] not in given[name] for name in _WANTED):
                continue
            found = True
            draws = make_generator("fit", "starts", scenario, design)
            first = np.stack([draw_start(starts[key], runs, draws) for key in seats], axis=1)
            yield StartedCommittees(factors, seats, first)
    if not found:
        asked = " ".join(f"{name}={','.join(each)}" for name, each in given.items() if each)
        raise UserError(
            f"fit: {PUBLISHED} has nothing of {asked}; its scenarios are "
            f"{', '.join(fitted.starts)}, its roles and models {', '.join(fitted.designs)}; for "
            "others name a pilot, as in study=NAME"
        )


def begin_as_pilot(study: Study, fitted: FittedCandidate, runs: int) -> Iterator[StartedCommittees]:
    """Take the first rounds of a study's completed runs, each as often as the others.

    Raises
    ------
    UserError
        It is no study of committees with runs, or a seat or its options aren't among the fitted.
    """
    for condition in study.listed:
        if condition.after_round:
            continue
        with study.transcripts([condition.run_id]) as transcripts:
            read = [stored.verify() for stored in transcripts.get(condition.run_id, ())]
        ended = [each for each in read if each.status == "completed"]
        if not ended:
            continue
        head = ended[0].head
        seats = tuple(name_seat(s["seat"], s["model"], bool(s["mandate"])) for s in head["seats"])
        if strange := [key for key in seats if key not in fitted.kernels]:
            raise UserError(
                f"fit: {PUBLISHED} has no seat {strange[0]!r}, which study {study.name} has; it "
                f"has {', '.join(sorted(fitted.kernels))}"
            )
        states = np.stack([each.preferences()[0] for each in ended])
        if states.shape[-1] != fitted.width:
            raise UserError(
                f"fit: {PUBLISHED} is for {fitted.width} options; study {study.name} has "
                f"{states.shape[-1]}"
            )
        names = condition.factors
        factors = {name: names[name] for name in ("scenario", "roles", "model", "settings")}
        yield StartedCommittees(factors, seats, states[np.arange(runs) % len(states)], len(ended))


def plan_line(
    begun: StartedCommittees, fitted: FittedCandidate, played: FittedRuns, chosen: PlanSettings
) -> dict[str, Any]:
    """Play committees on, and plan from how they spread."""
    draws = make_generator("fit", "plan", *begun.factors.values())
    states = simulate(fitted.kernels, begun.seats, begun.first, played.rounds, draws)
    decided = [str(option) for option in decide(states, draws)]
    exponent = lyapunov(states.mean(axis=2), chosen.window, decided)
    sd = exponent.se * math.sqrt(exponent.replicates)
    usable = math.isfinite(sd) and sd > 0 and not exponent.refused
    return {
        **begun.factors,
        "first_rounds": begun.known,
        "disagreement": pairwise_disagreement(decided).value,
        "steadier": _plan_needed(decided, -chosen.difference, chosen),
        "less_steady": _plan_needed(decided, chosen.difference, chosen),
        "lambda": exponent.value,
        "sd": sd,
        "replicates": (
            plan_replicates(chosen.delta, sd, chosen.power, chosen.alpha).replicates
            if usable
            else None
        ),
        "warnings": " ".join(exponent.warnings),
    }


def _plan_needed(decided: Sequence[str], difference: float, chosen: PlanSettings) -> int | None:
    return _plan_by_counts(_coarsen(tally(decided)), difference, chosen.power, chosen.alpha)


def _coarsen(counts: Mapping[str, int]) -> tuple[int, ...]:
    """Round counts to shares of a pilot of 40, largest first: conditions alike share a plan."""
    total = sum(counts.values())
    return tuple(sorted((round(_COARSE * n / total) for n in counts.values()), reverse=True))


@lru_cache(maxsize=1024)
def _plan_by_counts(
    counts: tuple[int, ...], difference: float, power: float, alpha: float
) -> int | None:
    pilot = [str(option) for option, n in enumerate(counts) for _ in range(n)]
    try:
        return plan_decisions(pilot, difference, power, alpha).replicates
    except ValueError:  # no condition can differ so much
        return None


def tabulate_plan(
    frame: pd.DataFrame, fitted: FittedCandidate, played: FittedRuns, chosen: PlanSettings
) -> Table:
    """Make the table with one line a condition."""
    names = [n for n in (*_WANTED, "settings") if n in frame and frame[n].nunique() > 1]
    first_rounds = (Column("first_rounds", format=format_count),) if chosen.study else ()
    columns = (
        *(Column(name, key=True) for name in names or ["scenario"]),
        *first_rounds,
        Column("disagreement", format=format_decimals(3)),
        Column("steadier", f"for -{chosen.difference:g}", format_count),
        Column("less_steady", f"for +{chosen.difference:g}", format_count),
        Column("lambda", "λ̂", format_decimals(4)),
        Column("sd", format=format_decimals(3)),
        Column("replicates", "replicates per arm", format_decimals(0)),
        Column("warnings", format=format_warnings),
    )
    begins = f"the first rounds of {chosen.study}" if chosen.study else "released first rounds"
    title = f"Plan by agents fitted to {PUBLISHED} runs, from {begins}"
    return Table("fit_plan", title, frame, columns, tuple(_notes(frame, fitted, played, chosen)))


def _notes(
    frame: pd.DataFrame, fitted: FittedCandidate, played: FittedRuns, chosen: PlanSettings
) -> Iterator[str]:
    yield (
        f"{played.runs} simulated committees a line, of {played.rounds} rounds, by agents fitted to"
        f" {fitted.runs} runs of {fitted.conditions} conditions, {fitted.origin}. They say what"
        " committees like these would do, and are no evidence about yours."
    )
    errors = fitted.errors
    yield (
        "In scenarios that the agents weren't fitted to, whose first rounds were known, the"
        f" disagreement was off by {errors['disagreement']:.2f} on average, and D by"
        f" {errors['divergence']:.3f}."
    )
    yield (
        f"For -{chosen.difference:g}, for +{chosen.difference:g}: replicates per arm that find a"
        f" disagreement so much smaller or larger with power {chosen.power:g} at {chosen.alpha:g};"
        f" replicates per arm: that find Δλ = {chosen.delta:g}."
    )
    if frame[["steadier", "less_steady"]].isna().any(axis=None):
        yield (
            f"A dash for -{chosen.difference:g} or +{chosen.difference:g}: with the decisions that"
            " were seen no condition can differ so much."
        )
    if frame["replicates"].isna().any():
        yield (
            "A dash for replicates per arm: λ̂ has no test there (see warnings); plan for decisions."
        )
