"""The experiment of a study: found, or made with its description."""

from typing import TYPE_CHECKING

from plenum.base.errors import UserError
from plenum.tracking.database import ARTIFACTS
from plenum.tracking.store import absolute_uri, local

if TYPE_CHECKING:
    from mlflow import MlflowClient

NOTE = """Each run here is one condition of the study; the runs nested in it are its replicates.

- `plenum.decisions` (tag): how many replicates decided for what; `flip_rate`: the share of those
  that didn't decide as most do
- `D` by step: mean distance between replicates, by round; `log_D`: its logarithm
- `lambda`: slope of log D a round, with `lambda_ci_low` and `lambda_ci_high` (95 %, jackknife)
- `plenum.simulated` (tag): `true` means that no language model answered

*Model training* compares the conditions. *GenAI*, *Traces* shows a replicate turn by turn.
"""
"""The description of an experiment; :func:`plenum.tracking.views.save` puts links ahead of it."""


def find_experiment(client: "MlflowClient", uri: str, study: str, name: str = "") -> str:
    """Return the id of a study's experiment, which is created if it doesn't exist.

    Parameters
    ----------
    name
        A name that the experiment has until it is complete; the study's name by default.

    Raises
    ------
    UserError
        It is in MLflow's trash.
    """
    from mlflow.exceptions import MlflowException

    name = name or study
    existing = client.get_experiment_by_name(name)
    if existing is not None:
        if existing.lifecycle_stage != "active":
            raise make_trash_error(name, existing.experiment_id, uri)
        return str(existing.experiment_id)
    uri = absolute_uri(uri)
    location = None
    # MLflow's own default would lie below the folder that this process happens to work in.
    if path := local(uri):
        location = (path.parent / ARTIFACTS / study).as_uri()
    tags = {
        "mlflow.experimentKind": "custom_model_development",
        "mlflow.note.content": NOTE,
        "plenum.study": study,
    }
    try:
        return str(client.create_experiment(name, artifact_location=location, tags=tags))
    except MlflowException:
        experiment = client.get_experiment_by_name(name)  # another process may have made it
        if experiment is None:
            raise
        return str(experiment.experiment_id)


def make_trash_error(name: str, number: str, uri: str) -> UserError:
    """Make the error for an experiment that is in MLflow's trash."""
    return UserError(
        f"study: the experiment {name!r} lies in MLflow's trash; restore it with "
        f"'python scripts/study.py study={name} restore' or "
        f"'MLFLOW_TRACKING_URI={absolute_uri(uri)} mlflow experiments restore -x {number}', "
        "or name another study, as in study=NEW"
    )
