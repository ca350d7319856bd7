"""A backend that a package adds: its settings, and what builds it."""

from dataclasses import dataclass
from typing import Literal

import pytest

from plenum.base import UserError
from plenum.design import Backend, Calls, Count, type_config
from plenum.design.backend_extensions import BACKENDS, BackendExtension
from plenum.models import Prices, build_backend


@dataclass(frozen=True)
class EchoSettings(Backend):
    name: Literal["echo"] = "echo"
    times: Count = 1


class Echo:
    def __init__(self, settings: EchoSettings) -> None:
        self.times = settings.times


@pytest.fixture(autouse=True)
def _echo(monkeypatch: pytest.MonkeyPatch) -> None:
    extension = BackendExtension(EchoSettings, lambda settings, *_: Echo(settings))
    monkeypatch.setitem(BACKENDS._added, "echo", extension)


def test_a_config_names_it_and_its_settings_are_checked() -> None:
    settings = type_config({"backend": {"name": "echo", "times": 3}}).backend
    assert settings == EchoSettings(times=3)
    assert settings.collect_identity() == {"name": "echo", "times": 3}
    with pytest.raises(UserError, match=r"^backend\.times: 0 is not allowed"):
        type_config({"backend": {"name": "echo", "times": 0}})
    with pytest.raises(UserError, match=r"^backend\.name: 'ecko' is not one of .*\becho\b"):
        type_config({"backend": {"name": "ecko"}})


def test_it_is_built_from_its_settings() -> None:
    model = build_backend(EchoSettings(times=2), Calls(), Prices({}))
    assert isinstance(model, Echo)
    assert model.times == 2
