"""Growth at planned looks: seen early where it is, rarely elsewhere."""

import numpy as np

from plenum_audit.dynamics.audit_growth import LOOKS, judge_growth


def test_growth_is_shown_at_the_first_look_that_can_and_no_growth_rarely() -> None:
    rng = np.random.default_rng(0)
    rounds = np.arange(20)
    even = np.full(3, 1 / 3)
    noise = rng.normal(size=(48, 1, 3))
    diverging = even + 0.001 * np.exp(0.15 * rounds)[:, None] * (noise - noise.mean(2)[..., None])
    shown = judge_growth(diverging)
    assert shown.shown
    assert shown.look in LOOKS[:3]
    assert shown.p <= shown.bound
    wrong = 0
    for _ in range(60):
        steady = even + 0.01 * rng.normal(size=(48, 20, 3))
        wrong += judge_growth(steady).shown
    assert wrong <= 7
    assert judge_growth(diverging[:7]).look == 0
    assert judge_growth(np.tile(even, (8, 20, 1))).shown is False
