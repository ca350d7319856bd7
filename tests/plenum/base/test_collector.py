"""The collector of reference cycles: it waits meanwhile, and is as it was afterwards."""

import gc
from collections.abc import Iterator

import pytest

from plenum.base.collector import pause_collector


@pytest.fixture(autouse=True)
def kept() -> Iterator[None]:
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


@pause_collector()
def _fail() -> None:
    assert not gc.isenabled()
    raise KeyError


@pytest.mark.parametrize("switch", [gc.enable, gc.disable])
def test_the_collector_waits_and_is_as_it_was_afterwards(switch: object) -> None:
    assert callable(switch)
    switch()
    before = gc.isenabled()
    with pytest.raises(KeyError):
        _fail()
    assert gc.isenabled() is before
