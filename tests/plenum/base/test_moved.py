"""Names of version 0.2: found where packages import them from, with one line of warning."""

import importlib
import subprocess
import sys

import pytest

NAMES = {
    "plenum.base": "UserError",
    "plenum.committee": "EndedDeliberation",
    "plenum.design": "BackendExtension Backend Calls Condition Config Count Job Kind Probability "
    "Sampling TaskConfig complete_backend list_changed_settings",
    "plenum.models": "Ask CallError Chat Conversation ConversationFailed Entry Message Reply "
    "Response",
    "plenum.records": "Failure Journal Transcript Usage read",
    "plenum.reports": "Column Drawing Product Settings Table format_decimals make_keys "
    "publish_product",
    "plenum.tracking": "Study tabulate_replicates",
    "plenum_verdicts.readers": "LogReader",
}
"""What packages of version 0.2 import, by room: tests/coin and tests/parrot did."""


@pytest.mark.parametrize(
    "room",
    [
        pytest.param(room, marks=[pytest.mark.needs(package)] * (package != "plenum"))
        for room in NAMES
        for package in [room.partition(".")[0]]
    ],
)
def test_an_old_name_is_found(room: str) -> None:
    module = importlib.import_module(room)
    assert all(getattr(module, name) is not None for name in NAMES[room].split())
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018


@pytest.mark.slow
def test_a_command_warns_once_and_of_a_user_s_own_names_never() -> None:
    code = "import plenum; plenum.flip_rate; from plenum.models import Chat, Reply"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; from plenum.design import Kind"],
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = done.stderr.splitlines()
    assert "plenum.models" in line
    assert "plenum.calls.chat" in line
