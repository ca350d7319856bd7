"""The committees that the papers' authors released, read from a clone of their repository."""

from collections.abc import Sequence

import numpy as np

from plenum.base import UserError
from plenum_fit.committees import Committees, find_majority, name_seat
from plenum_papers.published import PublishedCondition, Release, load

_LEAST = 3
"""Conditions with fewer runs have no differences between runs to speak of."""


def read_released(release: Release, studies: Sequence[str]) -> list[Committees]:
    """Read the conditions of studies, each once.

    Conditions whose runs read different wordings are left out, and so are those of fewer than
    three runs.

    Raises
    ------
    UserError
        There is no such study, a file can't be read, or the conditions can't be compared.
    """
    files = [file for study in studies for file in release.selection(study).files]
    conditions = [load(release, file) for file in {file.path: file for file in files}.values()]
    recorded = [
        _arrays(each)
        for each in conditions
        if len(each.runs) >= _LEAST and "variants" not in each.mapping
    ]
    lengths = sorted({each.rounds for each in recorded})
    if len({each.scenario for each in recorded}) < 2 or len(lengths) > 1:
        said = f"rounds {lengths}" if len(lengths) > 1 else "fewer than two scenarios"
        raise UserError(
            f"study: {', '.join(studies)} has {said}; a fit needs two scenarios or more with as "
            "many rounds, of three runs each, as study=landscape has"
        )
    return recorded


def _arrays(condition: PublishedCondition) -> Committees:
    runs = [condition.runs[index].run for index in sorted(condition.runs)]
    mapping = condition.mapping
    seats = mapping["seats"]
    flat = np.array([[turn.pref for turn in run.turns] for run in runs])
    states = flat.reshape(len(runs), mapping["rounds"], len(seats), -1)
    labels = tuple(mapping["options"])
    votes = np.full((len(runs), len(seats)), -1)
    for number, run in enumerate(runs):
        for place, ballot in enumerate(run.ballots):
            votes[number, place] = labels.index(ballot.vote) if ballot.vote in labels else -1
    return Committees(
        scenario=mapping["scenario"],
        roles=mapping["roles"],
        model=mapping["model"],
        seats=tuple(name_seat(s["seat"], s["model"], s["mandate"]) for s in seats),
        preferences=states / states.sum(axis=-1, keepdims=True),
        decided=find_majority(votes, states.shape[-1]),
    )
