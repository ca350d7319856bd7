"""Values of a typed config that go ill with one another."""

from plenum.design.ranges import require
from plenum.design.schema import Config


def check_settings(typed: Config) -> None:
    """Refuse a value that doesn't go with another one.

    Raises
    ------
    UserError
        With the key, the value and what is allowed.
    """
    require(
        typed.protocol.interaction or typed.rounds == 1,
        f"rounds: {typed.rounds}; without interaction (protocol=one_shot) there is 1 round",
    )
    require(
        typed.protocol.interaction or typed.protocol.feedback,
        "protocol.feedback: false; without interaction (protocol=one_shot) nothing is shown anyway",
    )
    after, last = typed.branch.after_round, typed.rounds - 1
    if after is not None:
        allowed = f"allowed is 1 to {last}, before the last round"
        require(1 <= after <= last, f"branch.after_round: {after}; {allowed}")
    _require_effect(typed)


def _require_effect(typed: Config) -> None:
    """Refuse what would do nothing with the other settings."""
    require(
        typed.tracking.uri != "",
        "tracking.uri: ''; it is a store (MLFLOW_TRACKING_URI for tracking=server), or null",
    )
    for key in ("replicates", "traces"):
        require(
            bool(typed.tracking.uri) or getattr(typed.tracking, key) != "all",
            f"tracking.{key}: all; without a store (tracking=none) there is nothing to write to",
        )
