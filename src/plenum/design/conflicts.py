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
    _check_parts(typed)
    after, last = typed.branch.after_round, typed.rounds - 1
    if after is not None:
        allowed = f"allowed is 1 to {last}, before the last round"
        require(1 <= after <= last, f"branch.after_round: {after}; {allowed}")
    _require_effect(typed)


def _check_parts(typed: Config) -> None:
    """Refuse parts of a protocol that have nothing to work on."""
    protocol, exchange = typed.protocol, typed.protocol.exchange
    require(
        exchange != "none" or typed.rounds == 1,
        f"rounds: {typed.rounds}; without interaction (protocol=one_shot) there is 1 round",
    )
    require(
        exchange == "reasons" or protocol.moderator == "none",
        f"protocol.moderator: {protocol.moderator}, but with exchange={exchange} nobody reads "
        "another one's reasons; it needs exchange=reasons",
    )
    require(
        protocol.order != "simultaneous" or not protocol.alone,
        f"protocol.order: simultaneous, but with exchange={exchange} no order is seen; it needs "
        "exchange=reasons, stance or placebo",
    )
    require(
        exchange != "none" or protocol.step == 1,
        f"protocol.step: {protocol.step:g}, but with exchange=none a seat answers once; it is 1",
    )
    majority = protocol.majority
    require(
        majority == "none" or not protocol.alone,
        f"protocol.majority: {majority}, but with exchange={exchange} nobody hears it; it needs "
        "exchange=reasons, stance or placebo",
    )
    require(
        majority in ("none", "conformity") or typed.rounds > 1,
        f"protocol.majority: {majority} speaks from round 2 on, but rounds is 1",
    )


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
