"""``hydra/launcher=ray`` on a cluster of two nodes: as one process writes, whatever is killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import call

ray_cluster = pytest.importorskip("ray.cluster_utils", reason="ray isn't installed")

SWEEP = ("-m", "roles=on,off", "replicates=4", "rounds=4", "tracking=none")


@pytest.fixture(scope="module")
def cluster() -> "Iterator[ray_cluster.Cluster]":
    """Two nodes on this machine, of two CPUs each."""
    two = ray_cluster.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False}
    )
    two.add_node(num_cpus=2)
    yield two
    two.shutdown()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The journals that one process writes."""
    folder = tmp_path_factory.mktemp("whole")
    call(folder, "run.py", *SWEEP)
    return journals(folder)


def journals(folder: Path) -> dict[str, bytes]:
    found = sorted((folder / "mlruns/journals").glob("*/[0-9]*.jsonl"))
    return {f"{file.parent.name}/{file.stem}": file.read_bytes() for file in found}


def on(cluster: "ray_cluster.Cluster", number: int) -> tuple[str, ...]:
    return ("hydra/launcher=ray", f"ray.address={cluster.address}", f"workers.number={number}")


def test_workers_of_two_nodes_write_the_same_bytes(
    cluster: "ray_cluster.Cluster", whole: dict[str, bytes], tmp_path: Path
) -> None:
    done = call(tmp_path, "run.py", *SWEEP, *on(cluster, 4), cold=True)
    assert journals(tmp_path) == whole
    assert "8 replicates = 8 completed + 0 failed + 0 pending; 208 calls made now" in done.stderr
    assert "raylet" not in done.stderr + done.stdout
