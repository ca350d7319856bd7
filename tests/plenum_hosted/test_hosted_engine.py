"""How rows come and go: slots, rungs, prefixes, rows given up, errors, the end."""

import threading
import time
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import networks
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from networks import SHAPES

from plenum_hosted.engine import Engine
from plenum_hosted.fair_lock import FairLock
from plenum_hosted.network import Network
from plenum_hosted.prefixes import Prefixes

Model = Callable[..., torch.nn.Module]


def test_more_rows_than_slots_take_turns(model: Model) -> None:
    number, limit = 5 * SHAPES.slots, 10
    with networks.engine(model(), stops=[]) as engine:
        found = networks.answers(
            engine, [networks.row([], [5, 6, 7 + n], limit) for n in range(number)]
        )
        assert all(len(answer) == limit for answer in found)
        assert engine.work.answer_tokens == number * limit
        turns = engine.work.steps / limit
        assert number / SHAPES.slots <= turns <= number / SHAPES.prefill_rows + 1
        assert all(not batch.rows for batch in engine._batches.values())
        assert all(len(batch.free) == SHAPES.slots for batch in engine._batches.values())


def test_an_engine_that_waits_comes_before_one_that_just_had_its_turn() -> None:
    turns, order = FairLock(), list[str]()

    def wait() -> None:
        with turns:
            order.append("waited")

    other = threading.Thread(target=wait)
    with turns:
        other.start()
        while not turns._next.locked():
            time.sleep(0.001)
    with turns:
        order.append("again")
    other.join()
    assert order == ["waited", "again"]


def test_a_finished_row_leaves_and_a_waiting_one_takes_its_slot(model: Model) -> None:
    with networks.engine(model(), stops=[]) as engine:
        long = [networks.row([], [9, n], 50) for n in range(SHAPES.slots - 1)]
        short = [networks.row([], [8, n], 2) for n in range(12)]
        networks.answers(engine, [*long, *short])
        assert engine.work.steps < 50 * 3  # the short ones didn't wait for the long ones


def test_rows_of_different_rungs_at_once(model: Model) -> None:
    limits = [8, 100, 200, 8, 100, 200, 8, 300]
    with networks.engine(model(), stops=[]) as engine:
        asked = [networks.row([5] * n, [6, 7], limit) for n, limit in enumerate(limits)]
        found = networks.answers(engine, asked)
    assert [len(answer) for answer in found] == limits
    assert len({row.room.capacity for row in asked}) == 4


def test_batches_that_stand_empty_are_dropped(model: Model) -> None:
    with networks.engine(model(), stops=[]) as engine:
        for limit in (8, 100, 200):
            networks.answers(engine, [networks.row([], [5, 6], limit) for _ in range(8)])
        assert [*engine._batches] == [networks.row([], [5, 6], 200).room.capacity]
        assert not engine._waiting


def test_rows_given_up_free_their_slots(model: Model) -> None:
    with networks.engine(model(), stops=[]) as engine:
        long = [networks.row([], [9, n], 5000) for n in range(3 * SHAPES.slots)]
        for row in long:
            engine.submit(row)
        while not long[0].answer:
            time.sleep(0.001)
        for row in long:
            row.given_up = True
        networks.answers(engine, [networks.row([], [5, 6], 5000 - 4990)])
        assert not any(row.ended.is_set() for row in long)
        while engine._under_way:
            time.sleep(0.001)
        assert sum(len(row.answer) for row in long) < 5000


def test_a_row_given_up_while_it_waits_is_not_prefilled(model: Model) -> None:
    with networks.engine(model()) as engine:
        engine.submit(networks.row([3] * 9, [5] * 9, given_up=True))
        networks.answers(engine, [networks.row([], [5, 6])])
        assert (engine.work.prefix_tokens, engine.work.rest_tokens) == (0, 2)


@pytest.mark.parametrize("broken", ["prefix", "rest", "step", "empty"])
def test_an_error_ends_every_row(model: Model, broken: str, monkeypatch: Any) -> None:
    """Those that decode, those in the prefill, those that wait, those that come later."""

    def breaks(*_: object) -> None:
        raise MemoryError(f"no memory for {broken}")

    with networks.engine(model(), stops=[]) as engine:
        early = networks.row([], [4, 4], 3000)
        if broken != "empty":
            engine.submit(early)
            while not early.answer:
                time.sleep(0.001)
        monkeypatch.setattr(engine._network, broken, breaks)
        asked = [networks.row([3] * 5, [5, 6, n], 90) for n in range(20)]
        for row in asked:
            engine.submit(row)
        assert all(row.ended.wait(30) for row in asked)
        late = networks.row([], [5, 6])
        engine.submit(late)
        assert late.ended.wait(30)
        asked += [late] if broken == "empty" else [late, early]
        assert {str(row.error) for row in asked} == {f"no memory for {broken}"}


def test_a_preparation_that_breaks_ends_the_rows(model: Model) -> None:
    engine = Engine(Network(model()), SHAPES, frozenset(), 1, lambda: torch.zeros(2) @ "no")
    row = networks.row([], [5, 6])
    engine.submit(row)
    assert row.ended.wait(30)
    assert isinstance(row.error, TypeError)
    engine.close()


def test_closing_is_prompt_and_leaves_nobody_waiting(model: Model) -> None:
    with networks.engine(model(), stops=[]) as engine:
        asked = [networks.row([], [9, n], 5000) for n in range(20)]
        for row in asked:
            engine.submit(row)
        while not asked[0].answer:
            time.sleep(0.001)
        began = time.monotonic()
        engine.close()
        assert time.monotonic() - began < 5
        assert all(row.ended.wait(1) and "closed" in str(row.error) for row in asked)
        engine.close()  # twice does no harm


def test_an_idle_engine_sleeps(model: Model) -> None:
    with networks.engine(model()) as engine:
        networks.answers(engine, [networks.row([], [5, 6])])
        used = time.process_time()
        time.sleep(0.3)
        assert time.process_time() - used < 0.2


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 40)), min_size=1), st.integers(0, 100))
def test_prefixes_keep_to_their_memory(asked: list[tuple[int, int]], limit: int) -> None:
    sizes: dict[int, int] = {}
    prefixes = Prefixes(limit)
    for name, size in asked:
        size = sizes.setdefault(name, size)
        kept: Any = SimpleNamespace(bytes=size, name=name)
        found = prefixes.get((name,), lambda kept=kept: kept)
        assert found.name == name
        held = sum(sizes[key[0]] for key in prefixes._kept)
        assert held <= limit or len(prefixes._kept) == 1  # one is kept, however large
    assert prefixes.hits + prefixes.computed == len(asked)


def _found(prefixes: Prefixes, asked: Iterable[int]) -> float:
    """Ask for prefixes of one byte; the share that was found."""
    kept: Any = SimpleNamespace(bytes=1)
    before, calls = prefixes.hits, 0
    for name in asked:
        prefixes.get((name,), lambda: kept)
        calls += 1
    return (prefixes.hits - before) / calls


@given(st.integers(4, 60), st.integers(1, 200))
def test_of_a_ring_of_prefixes_the_part_that_fits_the_memory_is_found(room: int, more: int) -> None:
    ring, prefixes = range(room + more), Prefixes(room)
    _found(prefixes, [*ring, *ring])
    assert _found(prefixes, [*ring] * 5) == pytest.approx(room / (room + more))


@given(st.integers(4, 40))
def test_prefixes_of_deliberations_that_have_ended_make_room(room: int) -> None:
    """What has ended is dropped after a while, and what fits is found each time."""
    prefixes = Prefixes(room)
    _found(prefixes, [*range(room)] * 4)
    later = [*range(1000, 1000 + room)]
    _found(prefixes, later * 8)
    assert _found(prefixes, later * 4) == 1


def test_one_prefix_that_returns_late_doesnt_hold_the_memory() -> None:
    prefixes = Prefixes(20)
    _found(prefixes, [0, *range(1, 3000), 0])
    for first in range(10_000, 12_000, 10):  # two hundred deliberations, one after the other
        share = _found(prefixes, [*range(first, first + 10)] * 10)
    assert share >= 0.8


def test_an_engine_without_room_keeps_one_prefix(model: Model) -> None:
    with networks.engine(model(), megabytes=0) as engine:
        for n in (3, 4, 3, 4):
            networks.answers(engine, [networks.row([n] * 9, [5, 6], 4)])
        # The second 3 is computed again, but doesn't take the place of the 4, which is found.
        assert (engine.prefixes.hits, engine.prefixes.computed) == (1, 3)
