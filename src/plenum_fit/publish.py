"""Fit and cross-validation on released runs, for ``scripts/fit.py``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from omegaconf import DictConfig, OmegaConf
from pydantic import Field

from plenum.base import UserError, show_progress
from plenum.design import StrictSettings, Whole, read_settings
from plenum.records import write_whole
from plenum.reports import Product, print_written, read_names, save_figure, show, show_text
from plenum_fit.committees import Committees
from plenum_fit.figure import draw_predictions
from plenum_fit.parameter_file import FittedCandidate, fit_starts, format_fitted
from plenum_fit.released_runs import read_released
from plenum_fit.statistics import STATISTICS, differ
from plenum_fit.surrogates import CANDIDATES, fit_kernels
from plenum_fit.tables import make_tables, tabulate_errors, tabulate_gains, tabulate_predictions
from plenum_fit.validation import (
    NEW,
    RIVALS,
    Prediction,
    Validation,
    choose,
    cross_validate,
)
from plenum_papers.published import find_release


@dataclass(frozen=True)
class FitSettings(StrictSettings):
    """The settings of `scripts/fit.py`; see :class:`plenum_fit.validation.Validation`.

    ``parameters`` is the file for the parameters, ``out`` the folder for everything else.
    """

    out: str
    parameters: str | None = None
    pilots: tuple[Whole, ...] = (3, 5, 10)
    splits: Annotated[Whole, Field(ge=1, le=100)] = 1
    runs: Annotated[Whole, Field(ge=10, le=10_000)] = 200


def publish_fit(cfg: DictConfig) -> None:
    """Fit candidates to released runs; print and write how well they predict, and the parameters.

    Raises
    ------
    UserError
        There is no such clone or study, or a setting is malformed.
    """
    if not OmegaConf.is_list(cfg.pilots):
        raise UserError(f"pilots: {cfg.pilots} is no list; write [{cfg.pilots}]")
    chosen = read_settings(FitSettings, cfg)
    if few := [each for each in chosen.pilots if each < 2]:
        raise UserError(f"pilots: {few[0]} is not allowed; each is 2 or more")
    release = find_release(cfg)
    recorded = read_released(release, read_names(cfg.study))
    wanted = Validation(tuple(recorded), chosen.pilots, chosen.splits, chosen.runs)
    with show_progress("fitting and predicting", "scenarios") as report_progress:
        predictions = cross_validate(wanted, report_progress)
    if not predictions:
        raise UserError("study: no design was run in two scenarios, so that nothing is held out")
    best = choose(predictions, NEW)
    worse = find_better_rivals(predictions, best)
    options = {each.scenario: tuple(release.options(each.scenario).values()) for each in recorded}
    parameters = None if worse else fit_best(recorded, predictions, best, release.origin, options)
    tables = make_tables(predictions, parameters, release.origin)
    frame = tabulate_predictions(predictions)
    product = Product(
        stem="fit",
        tables=tables,
        frames={
            "fit_errors": tabulate_errors(predictions),
            "fit_gains": tabulate_gains(predictions),
            "fit_predictions": frame,
        },
        heading="Committees fitted to released runs",
    )
    folder = Path(chosen.out)
    files = product.write(folder)
    new = frame[(frame["setting"] == NEW) & (frame["model"] == best)]
    files += save_figure(draw_predictions(new, best, release.origin), folder, "fit")
    show(tables)
    if parameters is None:
        show_text(
            f"No parameters were written: {' and '.join(worse)} predict new scenarios as well as "
            f"{best}, the best model."
        )
    else:
        file = Path(chosen.parameters or folder / "fitted.json")
        write_whole(file, format_fitted(parameters))
        files.append(file)
    print_written(files)


def find_better_rivals(predictions: Sequence[Prediction], model: str) -> list[str]:
    """Return the rivals whose mean error in new scenarios isn't above a model's."""
    errors: dict[str, list[float]] = {}
    for each in predictions:
        if each.setting == NEW:
            errors.setdefault(each.model, []).append(each.error)
    own = np.mean(errors[model])
    return [name for name in RIVALS if np.mean(errors[name]) <= own]


def fit_best(
    recorded: Sequence[Committees],
    predictions: Sequence[Prediction],
    model: str,
    origin: str,
    options: Mapping[str, tuple[str, ...]],
) -> FittedCandidate:
    """Fit a candidate to all scenarios, and say how far off it was in new ones."""
    candidate = next(each for each in CANDIDATES if each.name == model)
    new = [each for each in predictions if each.setting == NEW and each.model == model]
    return FittedCandidate(
        origin=origin,
        candidate=model,
        conditions=len(recorded),
        runs=sum(len(each.decided) for each in recorded),
        errors={
            name: float(np.mean([differ(e.predicted, e.recorded, name) for e in new]))
            for name in STATISTICS
        },
        options=options,
        designs={" ".join(each.design): each.seats for each in recorded},
        kernels=fit_kernels(recorded, candidate),
        starts=fit_starts(recorded),
    )
