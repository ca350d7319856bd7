"""What a study's experiment is like, before anything is run for it, without MLflow's client."""

from plenum.base.errors import UserError
from plenum.tracking import database, store
from plenum.tracking.stored import stored_conditions

KINDS = {True: "worlds", False: "committees"}

_EXPERIMENT = "SELECT experiment_id, lifecycle_stage FROM experiments WHERE name = ?"


def require_kind(study: str, uri: str, *, worlds: bool) -> None:
    """Refuse a study that holds conditions of the other kind.

    Raises
    ------
    UserError
        The study holds the other kind already, or is in MLflow's trash.
    """
    require_active(study, uri)
    if any(("task" in condition.params) != worlds for condition in stored_conditions(study, uri)):
        raise UserError(
            f"study: {study!r} holds {KINDS[not worlds]} already, and can't hold "
            f"{KINDS[worlds]} as well; give these a study of their own"
        )


def require_active(study: str, uri: str) -> None:
    """Refuse a study whose name is taken by an experiment to which nothing can be written.

    Raises
    ------
    UserError
        It is in MLflow's trash.
    """
    for number, stage in _experiments(study, uri):
        if stage != "active":
            raise store.deleted(study, number, uri)


def _experiments(study: str, uri: str) -> list[tuple[str, str]]:
    """Id and stage of a study's experiment, if there is one."""
    path = store.local(uri)
    if path is not None:
        return [(str(number), stage) for number, stage in database.rows(path, _EXPERIMENT, study)]
    name = study.replace("'", "\\'")
    query = {"filter": f"name = '{name}'", "max_results": 1, "view_type": "ALL"}
    found = store.post(uri, "experiments/search", query).get("experiments", [])
    return [(each["experiment_id"], each["lifecycle_stage"]) for each in found]
