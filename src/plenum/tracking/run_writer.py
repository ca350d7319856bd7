"""Write a run to MLflow by its client."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plenum.tracking import artifacts

_LONGEST = 6000
"""The most letters of a param: MLflow cuts a longer one, and doesn't say so."""

_SIGN = " ... whole in "


def make_params(client: Any, run: Any, params: Mapping[str, object]) -> list[Any]:
    """Make MLflow's params of a run; a longer one is cut, and is whole in an artifact."""
    from mlflow.entities import Param

    texts = {key: str(value) for key, value in params.items()}
    for key, text in texts.items():
        if len(text) > _LONGEST:
            # Before the param that points to it is logged.
            with artifacts.collect_artifacts(client, run) as folder:
                (folder / name_whole(key)).write_text(text, encoding="utf-8")
            sign = f"{_SIGN}{name_whole(key)}"
            texts[key] = text[: _LONGEST - len(sign)] + sign
    return [Param(key, text) for key, text in texts.items()]


def name_whole(key: str) -> str:
    """Return the name of the artifact with a whole param."""
    return f"param.{key}.txt"


def is_cut(text: str) -> bool:
    """Return whether a param is cut."""
    return len(text) == _LONGEST and _SIGN in text


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
        run = self.client.create_run(
            self.experiment, start_time=start_time, run_name=name, tags=dict(tags)
        )
        # Noted before anything else is sent: a kill from here on leaves a run that is found and
        # ended.
        self.opened(run.info.run_id)
        self.client.log_batch(run.info.run_id, params=make_params(self.client, run, params))
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
        # The status comes last, so a run that isn't RUNNING has all its metrics and tags.
        self.client.log_batch(run_id, metrics=metrics, tags=texts)
        self.client.set_terminated(run_id, status)
