"""The tables of a fit: errors of the models, gains by scenario, and what moves each seat."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from plenum.reports import Column, Table, format_count, format_decimals, format_percent, space_words
from plenum_fit.parameter_file import FittedCandidate
from plenum_fit.statistics import STATISTICS
from plenum_fit.surrogates import CANDIDATES
from plenum_fit.validation import (
    CARRIED,
    NEAREST,
    NEW,
    RESAMPLED,
    UNMOVED,
    Prediction,
    compute_gains,
)

_MEANINGS = {
    **{each.name: each.meaning for each in CANDIDATES},
    RESAMPLED: "rival: recorded runs",
    NEAREST: "rival: runs of scenarios that begin alike",
    UNMOVED: "rival: the first round stands",
}


def list_settings(predictions: Sequence[Prediction]) -> list[str]:
    """Return what was known, in the order of the predictions, each setting once."""
    return list(dict.fromkeys(each.setting for each in predictions))


def tabulate_errors(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """Average the errors of every model, one line a setting and model."""
    lines: dict[tuple[str, str], list[Prediction]] = {}
    for each in predictions:
        lines.setdefault((each.setting, each.model), []).append(each)
    return pd.DataFrame(
        {
            "setting": setting,
            "model": model,
            "meaning": _explain(model),
            "conditions": len({each.committees.name for each in group}),
            "error": np.mean([each.error for each in group]),
            **{
                name: np.mean(
                    [each.errors[name] for each in group if name in each.errors] or np.nan
                )
                for name in STATISTICS
            },
        }
        for (setting, model), group in lines.items()
    )


def _explain(model: str) -> str:
    base = model.removesuffix(CARRIED)
    return _MEANINGS[base] if base == model else f"{base}, fitted to other scenarios"


def tabulate_gains(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """Divide the error of the best model by that of rivals, one line a scenario."""
    gains = {"over nearest": compute_gains(predictions, NEW, NEAREST)} | {
        name: compute_gains(predictions, name) for name in list_settings(predictions)
    }
    scenarios = list(dict.fromkeys(each.committees.scenario for each in predictions))
    return pd.DataFrame(
        {
            "scenario": scenario,
            **{name: each.get(scenario, np.nan) for name, each in gains.items()},
        }
        for scenario in scenarios
    )


def tabulate_predictions(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """List every prediction next to what was recorded, one line each."""
    return pd.DataFrame(
        {
            "setting": each.setting,
            "model": each.model,
            "scenario": each.committees.scenario,
            "roles": each.committees.roles,
            "line_up": each.committees.model,
            "error": each.error,
            **_values("predicted", each),
            **_values("recorded", each),
        }
        for each in predictions
    )


def _values(which: str, prediction: Prediction) -> Mapping[str, float]:
    statistics = getattr(prediction, which)
    return {
        f"{which}_divergence": float(statistics.divergence[-1]),
        f"{which}_disagreement": statistics.disagreement,
        f"{which}_switches": float(statistics.switches.mean()),
        f"{which}_majority": statistics.majority,
    }


def tabulate_kernels(fitted: FittedCandidate) -> pd.DataFrame:
    """List what moves each seat, one line each."""
    lines = []
    for key, kernel in fitted.kernels.items():
        seat, model, mandate = key.split()
        pulls = dict(zip(kernel.terms, kernel.weights, strict=False))
        spread = [np.sqrt(np.trace(np.array(each))) for each in _laws(kernel.noise)]
        lines.append(
            {
                "seat": seat,
                "model": model,
                "mandate": mandate,
                **{f"pull_{term}": weight for term, weight in pulls.items()},
                "stays": kernel.stays,
                "noise": spread[0],
                "wide_noise": spread[1],
                "wide_share": kernel.noise.share,
            }
        )
    return pd.DataFrame(lines)


def _laws(noise: object) -> tuple[object, object]:
    small, wide = getattr(noise, "small", ()), getattr(noise, "wide", ())
    return (small, wide) if small else ([[0.0]], [[0.0]])


def make_tables(
    predictions: Sequence[Prediction], fitted: FittedCandidate | None, origin: str
) -> list[Table]:
    """Make the tables that are printed."""
    errors = tabulate_errors(predictions)
    first = [
        Table("fit_errors", f"Errors, {setting}", group, _error_columns(setting == NEW))
        for setting, group in errors.groupby("setting", sort=False)
    ]
    gains = tabulate_gains(predictions)
    names = [name for name in gains.columns if name != "scenario"]
    notes = (*_notes(), f"recorded runs: {origin}")
    tables = [
        *first,
        Table(
            "fit_gains",
            "Error of the best model over that of nearest, and of resampling",
            gains,
            (Column("scenario", key=True), *(Column(n, format=format_decimals(2)) for n in names)),
            notes if fitted is None else (),
        ),
    ]
    if fitted is not None:
        frame = tabulate_kernels(fitted)
        pulls = [name for name in frame.columns if name.startswith("pull_")]
        columns = (
            *(Column(name, key=name == "seat") for name in ("seat", "model", "mandate")),
            *(Column(name, format=format_decimals(3)) for name in pulls),
            Column("stays", format=format_percent),
            *(Column(name, format=format_decimals(3)) for name in ("noise", "wide_noise")),
            Column("wide_share", format=format_percent),
        )
        title = f"What moves each seat: {space_words(fitted.candidate)}, fitted to all scenarios"
        tables.append(Table("fit_seats", title, frame, columns, notes))
    return tables


def _error_columns(explained: bool) -> tuple[Column, ...]:
    meaning = (Column("meaning"),) if explained else ()
    return (
        Column("model", format=space_words, key=True),
        *meaning,
        Column("conditions", format=format_count),
        Column("error", format=format_decimals(2)),
        *(Column(name, format=format_decimals(2)) for name in STATISTICS),
    )


def _notes() -> tuple[str, ...]:
    return (
        "Error: mean absolute error in units of the conditions' mean absolute deviation, so that 1"
        " is as bad as to predict the mean of all conditions. It is the mean of four: D(t) over all"
        " rounds, disagreement of decisions, switches of each seat, round of the first majority.",
        f"{NEW.capitalize()}: models were fitted to the other scenarios, and go on from recorded"
        " first rounds. Pilot: models were fitted to so many whole runs of the condition, and the"
        " other runs are predicted.",
        "Over that of nearest (the first round known), and of resampling: below 1 the model"
        " predicts better. It is the one with the least error in the other scenarios.",
        "Pull: the share of the way to a target that a turn goes, if the seat moves: to the mean of"
        " the others, to certainty of what the seat has on top, of what the committee has on top.",
    )
