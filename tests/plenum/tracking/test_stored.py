"""What is asked of a study's experiment before the first call, in a store on this disk."""

from collections.abc import Callable
from pathlib import Path

import pytest

from plenum.base.errors import UserError
from plenum.checks import dry_run
from plenum.design import Job
from plenum.execution import run_sweep
from plenum.tracking import store
from plenum.tracking.study import Study
from plenum_checks import determinism


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store whose study ``gone`` was deleted in MLflow."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db"
    client = store.open_client(uri)
    client.delete_experiment(store.find_experiment(client, uri, "gone"))
    return uri


@pytest.fixture
def gone(uri: str, job: Callable[..., Job], tmp_path: Path) -> Job:
    """A job that would be tracked there."""
    return job("study=gone", f"tracking.uri={uri}", f"journals={tmp_path}/journals")


@pytest.mark.parametrize(
    "work",
    [
        lambda job, _: run_sweep([job]),
        lambda job, _: dry_run.show_dry_run([job]),
        lambda job, out: determinism.probe(determinism.ProbeSettings(job, 2, False, out)),
        lambda job, out: determinism.plan(determinism.ProbeSettings(job, 2, False, out)),
        lambda job, _: Study(job.study, job.tracking_uri),
    ],
    ids=["run", "dry run", "probe", "dry probe", "tables"],
)
def test_a_deleted_study_is_refused_with_the_way_back(
    work: Callable[[Job, Path], object], gone: Job, uri: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as refused:
        work(gone, tmp_path / "out")
    assert uri in str(refused.value)
    assert "mlflow experiments restore -x 1" in str(refused.value)
    assert not list(tmp_path.iterdir())
