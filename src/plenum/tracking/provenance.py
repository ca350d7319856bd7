"""The provenance of a condition: its committee, its config, and the versions that wrote it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from omegaconf import DictConfig, OmegaConf

from plenum.base.errors import UserError
from plenum.design.compose import parse_job
from plenum.design.condition import Condition
from plenum.design.kinds import find_kind
from plenum.tracking.runs import read_artifacts


@dataclass(frozen=True)
class Provenance:
    """The seats and models of a condition, and the code versions that wrote its runs.

    Attributes
    ----------
    models
        The model of each seat, in speaking order.
    clerk, options
        The model that reads the vote, and the labels of the options.
    wordings
        How many wordings there are of each family; empty where the scenario isn't perturbed.
    versions
        The code versions that wrote the condition and its replicates, each once.
    begun
        When the condition was first opened, in UTC.
    """

    models: tuple[tuple[str, str], ...]
    clerk: str
    options: str
    wordings: str
    versions: tuple[str, ...]
    begun: datetime


def read_provenance(run: Any, replicates: Sequence[Any]) -> Provenance:
    """Read the provenance of a condition from its run and those of its replicates."""
    params = run.data.params
    seats = [entry.partition(":") for entry in params.get("models", "").split()]
    versions = [each.data.tags.get("plenum.version") for each in (run, *replicates)]
    return Provenance(
        models=tuple((seat, model) for seat, _, model in seats),
        clerk=params.get("clerk", ""),
        options=params.get("options", ""),
        wordings=params.get("variants", ""),
        versions=tuple(dict.fromkeys(filter(None, versions))),
        begun=datetime.fromtimestamp(run.info.start_time / 1000, UTC),
    )


def rebuild_condition(client: Any, run: Any) -> Condition:
    """Rebuild the condition of a run from its config and today's texts.

    Raises
    ------
    UserError
        Its config isn't tracked yet, or it would be another condition today.
    """
    config = read_artifacts(client, run, ("config.yaml",)).get("config.yaml")
    identity, version = (run.data.tags[f"plenum.{key}"] for key in ("condition", "version"))
    if config is None:
        raise UserError(
            f"condition: {identity} was stopped before its end, and its config isn't tracked yet; "
            "the same run.py command completes it"
        )
    composed = OmegaConf.create(config.decode())
    assert isinstance(composed, DictConfig)
    # What version 0.2.0 recorded too: `durable` changed no outcome, and simulated agents that were
    # fitted to none (null) are those of today. Imported studies have no backend.
    composed.pop("durable", None)
    if "fit" in (backend := composed.get("backend") or {}) and backend["fit"] is None:
        del backend["fit"]
    # Worlds recorded the default case, which no agent reads; another one was the default then.
    if "scenario" in find_kind(run.data.params).repeated:
        composed.pop("scenario", None)
    # Versions up to 0.2.0 read answers strictly, and didn't say so.
    if (protocol := composed.get("protocol")) and "reading" not in protocol:
        protocol["reading"] = "strict"
    condition = parse_job(composed).condition
    if condition.identity != identity:
        raise UserError(
            f"condition: {identity} can't be rebuilt, since its scenario, its prompt texts or the "
            f"code have changed (it would be {condition.identity} now); it was made by {version}"
        )
    return condition
