"""What is asked of a study's experiment before the first call, in a store on this disk."""

from collections.abc import Callable
from pathlib import Path

import pytest
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.checks import dry_run, probe
from plenum.design.job import Job
from plenum.execution.sweep import run_sweep
from plenum.tracking import experiments, store
from plenum.tracking.study import Study


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store whose study ``gone`` was deleted in MLflow."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db"
    client = store.open_client(uri)
    client.delete_experiment(experiments.find_experiment(client, uri, "gone"))
    return uri


@pytest.fixture
def gone(uri: str, job: Callable[..., Job], tmp_path: Path) -> Job:
    """A job that would be tracked there."""
    return job("study=gone", f"tracking.uri={uri}", f"journals={tmp_path}/journals")


@pytest.mark.parametrize(
    "work",
    [
        lambda job: run_sweep([job]),
        lambda job: dry_run.show_dry_run([job]),
        lambda job: Study(job.study, job.tracking_uri),
    ],
    ids=["run", "dry run", "tables"],
)
def test_a_deleted_study_is_refused_with_the_way_back(
    work: Callable[[Job], object], gone: Job, uri: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as refused:
        work(gone)
    assert uri in str(refused.value)
    assert "mlflow experiments restore -x 1" in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_deleted_study_is_refused_before_a_probe(
    uri: str, compose: Callable[..., DictConfig], tmp_path: Path
) -> None:
    tracked = ("study=gone", f"tracking.uri={uri}", f"journals={tmp_path}/journals")
    given = ("+n=2", "+logprobs=null", f"+out={tmp_path}/out")
    with pytest.raises(UserError, match="mlflow experiments restore -x 1"):
        probe.read_probe_settings(compose(*tracked, *given))
    assert not list(tmp_path.glob("journals/*"))
