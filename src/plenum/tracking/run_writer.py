"""Write a run to MLflow by its client."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any


class RunWriter:
    """Begins and ends the runs of an experiment.

    Parameters
    ----------
    client
        MLflow's.
    experiment
        The experiment's id.
    opened
        Takes the id of a run that is begun.
    """

    def __init__(self, client: Any, experiment: str, opened: Callable[[str], None]) -> None:
        self.client, self.experiment, self.opened = client, experiment, opened

    def begin(
        self,
        name: str,
        tags: Mapping[str, str],
        params: Mapping[str, object],
        start_time: int | None = None,
    ) -> Any:
        """Create a run; ``start_time`` in milliseconds, now by default."""
        from mlflow.entities import Param

        run = self.client.create_run(
            self.experiment, start_time=start_time, run_name=name, tags=dict(tags)
        )
        self.opened(run.info.run_id)
        texts = [Param(key, str(value)) for key, value in params.items()]
        self.client.log_batch(run.info.run_id, params=texts)
        return run

    def end(
        self, run_id: str, metrics: Sequence[Any], tags: Mapping[str, str], status: str
    ) -> None:
        """End a run that has no metrics yet.

        Raises
        ------
        MlflowException
            There is no such run, or it lies in the trash.
        """
        from mlflow.entities import RunTag

        texts = [RunTag(*tag) for tag in tags.items()]
        self.client.log_batch(run_id, metrics=metrics, tags=texts)
        self.client.set_terminated(run_id, status)
