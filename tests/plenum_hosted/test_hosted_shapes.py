"""A row's room: enough for it, in whole buckets and rungs, and a function of the row alone."""

from hypothesis import given
from hypothesis import strategies as st

from plenum_hosted.shapes import Shapes, room

lengths = st.integers(0, 5000)
shapes = st.builds(
    Shapes,
    slots=st.integers(1, 64),
    prefill_rows=st.integers(1, 16),
    bucket=st.integers(8, 256),
    rung=st.integers(8, 1024),
)


@given(shapes, lengths, st.integers(1, 5000), st.integers(1, 2000))
def test_room_is_enough_and_in_whole_steps(
    shapes: Shapes, prefix: int, rest: int, answer: int
) -> None:
    found = room(shapes, prefix, rest, answer)
    assert found.prefix % shapes.bucket == found.rest % shapes.bucket == 0
    assert found.capacity % shapes.rung == 0
    assert prefix <= found.prefix < prefix + shapes.bucket
    assert rest - 1 <= found.rest < rest - 1 + shapes.bucket
    assert found.capacity >= found.prefix + found.rest  # what is prefilled fits
    assert found.capacity >= found.prefix + rest + answer  # and so does the last token
    needed = max(found.prefix + found.rest, found.prefix + rest + answer)
    assert found.capacity < needed + shapes.rung


@given(shapes, lengths, st.integers(1, 5000), st.integers(1, 2000))
def test_a_longer_row_never_has_less_room(
    shapes: Shapes, prefix: int, rest: int, answer: int
) -> None:
    found = room(shapes, prefix, rest, answer)
    for longer in (
        (prefix + 1, rest, answer),
        (prefix, rest + 1, answer),
        (prefix, rest, answer + 1),
    ):
        assert room(shapes, *longer).capacity >= found.capacity


def test_slots_and_prefill_rows_are_not_asked_for() -> None:
    assert room(Shapes(1, 1, 16, 64), 20, 9, 30) == room(Shapes(64, 16, 16, 64), 20, 9, 30)


def test_by_hand() -> None:
    shapes = Shapes(8, 4, bucket=16, rung=64)
    assert vars(room(shapes, 0, 1, 1)) == {"prefix": 0, "rest": 0, "capacity": 64}
    assert vars(room(shapes, 16, 17, 31)) == {"prefix": 16, "rest": 16, "capacity": 64}
    assert vars(room(shapes, 16, 17, 32)) == {"prefix": 16, "rest": 16, "capacity": 128}
    assert vars(room(shapes, 17, 18, 1)) == {"prefix": 32, "rest": 32, "capacity": 64}
