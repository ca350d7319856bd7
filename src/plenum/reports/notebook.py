"""The results of a study as data frames, for notebooks: ``plenum.study`` and ``plenum.sweep``."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import pandas as pd
from hydra import compose, initialize_config_dir
from hydra.core.utils import env_override
from hydra.errors import HydraException
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.base.exits import format_error
from plenum.base.project import project_root
from plenum.design.slips import explain_slip
from plenum.dynamics.divergence import divergence
from plenum.records.transcript import Transcript
from plenum.reports.settings import Settings, check_report_settings
from plenum.reports.study import find_study_kind
from plenum.show.phrases import plural
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Study


class StudyResults:
    """The results of a study; each part is read when it is first used.

    Every frame begins with ``condition``, the identity of a condition, so that frames can be
    joined, and with the factors in which the study's conditions may differ, such as ``roles``.

    Parameters
    ----------
    chosen
        The study, its tracking store, and how it is estimated.

    See Also
    --------
    study : Make one by the study's name.
    """

    def __init__(self, chosen: Settings) -> None:
        self.chosen = chosen
        self._kind = find_study_kind(chosen.study, chosen.uri)

    def __repr__(self) -> str:
        number = len(self._study.condition_runs)
        named = plural(number, "condition", "conditions")
        return f"<study {self.chosen.study!r}: {number} {named}, {self._kind.plural}>"

    @cached_property
    def _study(self) -> Study:
        return Study(self.chosen.study, self.chosen.uri)

    @cached_property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The data of every table that ``scripts/tables.py`` writes as CSV, by name."""
        return self._kind.make_frames(self.chosen)

    def frame(self) -> pd.DataFrame:
        """Return the conditions with their estimates: the rows of ``conditions.csv``.

        Returns
        -------
        pandas.DataFrame
            One row a condition. What can't be estimated is NaN.

        Raises
        ------
        UserError
            The study is an audit, which has verdicts in place of estimates.

        Examples
        --------
        >>> plenum.study("example").frame()[["roles", "lambda", "warnings"]].round(2)
          roles  lambda                   warnings
        0    on    0.04  few_replicates few_rounds
        1   off    0.13  few_replicates few_rounds
        """
        return self.tables["conditions"]

    def decisions(self) -> pd.DataFrame:
        """Return the decision of each replicate of a committee.

        Returns
        -------
        pandas.DataFrame
            One row a replicate that has begun: ``replicate``, its ``status``, the ``decision`` (a
            label; ``NONE`` without a majority; missing where the replicate failed), the
            ``reason`` of a failure, the ``wording`` that it read, if it wasn't the case's own,
            the ``answer`` and whether it is ``right``, where these are known, and its ``tokens``.

        Examples
        --------
        >>> decided = plenum.study("example").decisions()
        >>> decided.groupby("roles").decision.value_counts().to_dict()
        {('off', 'B'): 3, ('off', 'C'): 1, ('on', 'C'): 4}
        """
        return self._of_transcripts(_list_decisions)

    def transcripts(self) -> pd.DataFrame:
        """Return all turns of all replicates of committees.

        Returns
        -------
        pandas.DataFrame
            One row a turn: ``replicate``, ``round`` from 1, ``seat``, ``argument``, ``pref`` (one
            share an option, which sum to 1), ``conf`` (0 to 100), ``tags``, ``repaired``.

        Examples
        --------
        >>> turns = plenum.study("example").transcripts()
        >>> len(turns), sorted(turns.seat.unique())
        (240, ['Chair', 'Equity', 'Rights', 'Security', 'Welfare'])
        """
        return self._of_transcripts(_turns)

    def divergence(self) -> pd.DataFrame:
        """Return D(t), the mean distance between each committee's replicates, round by round.

        Returns
        -------
        pandas.DataFrame
            One row a condition and round: ``round`` from 1, and ``divergence``, the mean distance
            between pairs of replicates' mean preferences. Conditions with fewer than two
            completed replicates are left out.

        Examples
        --------
        >>> apart = plenum.study("example").divergence()
        >>> apart.pivot_table("divergence", "round", "roles").shape
        (6, 2)
        """
        return pd.DataFrame(
            {**self._key(condition), "round": number, "divergence": float(value)}
            for condition in self._study.conditions
            if len(condition.preferences) > 1
            for number, value in enumerate(divergence(condition.ensemble), start=1)
        )

    def _key(self, condition: TrackedCondition) -> dict[str, str]:
        return {"condition": condition.identity, **condition.factors}

    def _of_transcripts(
        self, records: Callable[[Transcript], Iterator[dict[str, Any]]]
    ) -> pd.DataFrame:
        study = self._study
        with study.transcripts() as kept:
            return pd.DataFrame(
                {**self._key(condition), "replicate": stored.replicate, **record}
                for condition in study.listed
                for stored in kept.get(condition.run_id, ())
                for record in records(stored.verify())
            )


def _list_decisions(transcript: Transcript) -> Iterator[dict[str, Any]]:
    answer, totals = transcript.head.get("right_answer"), transcript.totals()
    yield {
        "status": transcript.status,
        "decision": transcript.decision,
        "reason": transcript.reason,
        "wording": transcript.head.get("variant", ""),
        "answer": answer,
        "right": transcript.decision == answer if answer else None,
        "tokens": totals["tokens_in"] + totals["tokens_out"],
    }


def _turns(transcript: Transcript) -> Iterator[dict[str, Any]]:
    shown = ("round", "seat", "argument", "pref", "conf", "tags", "repaired")
    for turn in transcript.turns:
        yield {name: getattr(turn, name) for name in shown}


def study(name: str, *overrides: str) -> StudyResults:
    """Open a study by its name, as ``scripts/tables.py`` does.

    Parameters
    ----------
    name
        The study, as ``run.py`` got it by ``study=NAME``.
    overrides
        Settings of ``scripts/tables.py``, such as ``"tracking=server"``, ``"window=[3,15]"`` or
        ``"tracking.uri=sqlite:////data/mlflow.db"``. The usual store is ``mlruns/mlflow.db`` in
        the working directory.

    Returns
    -------
    StudyResults
        Its frames: ``frame()``, ``decisions()``, ``divergence()``, ``transcripts()``, ``tables``.

    Raises
    ------
    UserError
        There is no such study, nothing in it, or a setting is malformed.

    Examples
    --------
    >>> import plenum
    >>> example = plenum.study("example")  # that the example of plenum.sweep has run
    >>> example.frame()[["roles", "flip_rate"]]
      roles  flip_rate
    0    on       0.00
    1   off       0.25
    """
    return StudyResults(check_report_settings(_compose("tables", f"study={name}", *overrides)))


def sweep(*overrides: str) -> StudyResults:
    """Sweep conditions as ``python run.py -m`` does, in a process of its own, and open the study.

    What it prints appears as it is printed. Replicates that are there already are kept.

    Parameters
    ----------
    overrides
        Of ``run.py``: ``"roles=on,off"``, ``"replicates=10"``, ``"study=mine"``.

    Returns
    -------
    StudyResults
        As ``plenum.study`` returns it.

    Raises
    ------
    UserError
        The sweep didn't end well; its last line says why.

    Examples
    --------
    >>> import plenum
    >>> example = plenum.sweep("study=example", "roles=on,off", "replicates=4", "rounds=6")
    running 2 conditions, 8 replicates, 288 calls
    ...
    >>> example
    <study 'example': 2 conditions, committees>
    """
    names = dict(each.split("=", 1) for each in overrides if "=" in each)
    command = [sys.executable, str(project_root() / "run.py"), "-m", *overrides]
    ran = subprocess.Popen(
        command,
        env={**os.environ},  # with the keys of providers: it is this user's own sweep
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    last = ""
    assert ran.stdout is not None
    for line in ran.stdout:
        print(line, end="", flush=True)  # so that a notebook shows it, which reads Python's stdout
        last = line.strip() or last
    if ran.wait():
        raise UserError(f"the sweep ended with status {ran.returncode}: {last}")
    kept = [f"{key}={names[key]}" for key in ("tracking", "tracking.uri") if key in names]
    return study(_study_of(overrides), *kept)


def _study_of(overrides: Sequence[str]) -> str:
    """Find the study that a sweep runs: the named one, or the experiment's, or the usual one."""
    named = [each for each in overrides if each.lstrip("+").startswith(("study=", "experiment="))]
    return str(_compose("config", *named).study)


def _compose(config_name: str, *overrides: str) -> DictConfig:
    """Compose a config as the script of that name does."""
    root = str(project_root())
    try:
        with (
            env_override({"PLENUM_ROOT": root}),  # where the config finds scenarios
            initialize_config_dir(f"{root}/conf", version_base="1.3"),
        ):
            return compose(config_name, list(overrides))
    except HydraException as error:
        raise UserError(explain_slip(overrides, config_name) or format_error(error)) from None
