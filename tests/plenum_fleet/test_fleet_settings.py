"""Settings of batches and workers: what they may be, and that they change nothing by themselves."""

from collections.abc import Callable

import pytest

from plenum.design.job import Job

REFUSED = {
    "a number of nothing": (["workers.cpus=null"], "workers.cpus", "null; a number"),
    "workers without number": (["workers.cpus=0"], "workers.number", "workers.gpus=0"),
    "a negative share": (["workers.gpus=-1"], "workers.gpus", "0 or more"),
    "a share too small": (["workers.cpus=0.00001"], "workers.cpus", "0.0001 or more"),
    "one and a half": (["workers.gpus=1.5"], "workers.gpus", "above 1 whole"),
    "a cluster without an address": (["ray.address=''"], "ray.address", "HOST:PORT"),
    "a cluster without a port": (["ray.address=head"], "ray.address", "HOST:PORT"),
}


@pytest.mark.parametrize(("overrides", "key", "allowed"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_names_the_key_and_what_is_allowed_in_one_line(
    refusal: Callable[..., str], overrides: list[str], key: str, allowed: str
) -> None:
    told = refusal(*overrides)
    assert key in told
    assert allowed in told


def test_settings_that_change_nothing_are_taken(job: Callable[..., Job]) -> None:
    usual = ("batch.wait_s=86400", "workers.number=null", "ray.address=null")
    assert job(*usual, "tracking=none", "tracking.traces=sample").more["ray"].address is None
    joined = [
        job(f"ray.address={a}").more["ray"].address for a in ("auto", "head:6379", "'[::1]:6379'")
    ]
    assert joined == ["auto", "head:6379", "[::1]:6379"]
    assert job("workers.gpus=2", "workers.cpus=0").more["workers"].gpus == 2
