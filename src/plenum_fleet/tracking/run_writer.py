"""Write a run straight into MLflow's database, in one transaction a step.

MLflow's client takes some twenty transactions a run, which bounds a sweep of thousands of
conditions. Into a database, embedded or PostgreSQL, the same rows go through MLflow's own models
and checks, in one transaction where a run begins and one where it ends.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from mlflow.entities import Metric, Param, Run, RunData, RunInfo, RunTag
from mlflow.exceptions import MlflowException
from mlflow.store.tracking.dbmodels import models
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from mlflow.utils import uri, validation
from sqlalchemy import delete, insert, update

from plenum.tracking import RunWriter

_validated: Any = validation._validate_batch_log_data
_beneath: Any = uri.append_to_uri_path


class DatabaseRunWriter(RunWriter):
    """Begins and ends the runs of an experiment in a database.

    Parameters
    ----------
    client, experiment
        As of :class:`~plenum.tracking.run_writer.RunWriter`.
    database
        The client's store.
    """

    def __init__(self, client: Any, experiment: str, database: SqlAlchemyStore) -> None:
        super().__init__(client, experiment)
        self._location = client.get_experiment(experiment).artifact_location
        self._database = database

    def begin(
        self,
        name: str,
        tags: Mapping[str, str],
        params: Mapping[str, object],
        start_time: int | None = None,
    ) -> Any:
        """Create a run; ``start_time`` in milliseconds, now by default."""
        texts = [Param(key, str(value)) for key, value in params.items()]
        named = [RunTag(*tag) for tag in {**tags, "mlflow.runName": name}.items()]
        _, texts, named = _validated([], texts, named)
        run_id, now = uuid4().hex, start_time or _now()
        where = _beneath(self._location, run_id, SqlAlchemyStore.ARTIFACTS_FOLDER_NAME)
        shared = {"user_id": "unknown", "start_time": now, "artifact_uri": where}
        row = {
            **shared,
            "run_uuid": run_id,
            "name": name,
            "experiment_id": int(self.experiment),
            "status": "RUNNING",
            "lifecycle_stage": "active",
            "source_type": "UNKNOWN",
            **dict.fromkeys(("source_name", "entry_point_name", "source_version"), ""),
        }
        with self._database.ManagedSessionMaker(read_only=False) as session:
            session.execute(insert(models.SqlRun), [row])
            for table, pairs in ((models.SqlTag, named), (models.SqlParam, texts)):
                rows = [{"run_uuid": run_id, "key": p.key, "value": p.value} for p in pairs]
                if rows:
                    session.execute(insert(table), rows)
        info = RunInfo(
            run_id,
            self.experiment,
            status="RUNNING",
            end_time=None,
            lifecycle_stage="active",
            run_name=name,
            **shared,
        )
        return Run(info, RunData(params=texts, tags=named))

    def end(
        self, run_id: str, metrics: Sequence[Metric], tags: Mapping[str, str], status: str
    ) -> None:
        """End a run that has no metrics yet.

        Raises
        ------
        MlflowException
            There is no such run, or it lies in the trash.
        """
        texts = [RunTag(*tag) for tag in tags.items()]
        metrics, _, texts = _validated(metrics, [], texts)
        points = {(m.key, m.timestamp, m.step, m.value): self._point(run_id, m) for m in metrics}
        last: dict[str, dict[str, Any]] = {}
        for point in sorted(points.values(), key=lambda p: (p["step"], p["timestamp"], p["value"])):
            last[point["key"]] = point
        kept = {"run_uuid": run_id}
        ended = update(models.SqlRun).filter_by(**kept, lifecycle_stage="active")
        earlier = delete(models.SqlTag).filter_by(**kept)
        with self._database.ManagedSessionMaker(read_only=False) as session:
            updated = session.execute(ended.values(status=status, end_time=_now()))
            if not updated.rowcount:
                raise MlflowException(f"run {run_id} isn't there any more")
            session.execute(earlier.where(models.SqlTag.key.in_([tag.key for tag in texts])))
            for table, rows in (
                (models.SqlTag, [{**kept, "key": tag.key, "value": tag.value} for tag in texts]),
                (models.SqlMetric, list(points.values())),
                (models.SqlLatestMetric, list(last.values())),
            ):
                if rows:
                    session.execute(insert(table), rows)

    def _point(self, run_id: str, metric: Metric) -> dict[str, Any]:
        is_nan, value = self._database.sanitize_metric_value(metric.value)
        of_metric = {"key": metric.key, "timestamp": metric.timestamp, "step": metric.step}
        return {"run_uuid": run_id, **of_metric, "value": value, "is_nan": is_nan}


def _now() -> int:
    return int(time.time() * 1000)


def of(client: Any, experiment: str) -> DatabaseRunWriter | None:
    """Return the writer of a client that has a database; others have a server between."""
    store = client._tracking_client.store
    found = isinstance(store, SqlAlchemyStore)
    return DatabaseRunWriter(client, experiment, store) if found else None
