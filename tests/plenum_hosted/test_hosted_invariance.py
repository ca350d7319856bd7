"""A row's bytes depend on nothing but the row: compared without any tolerance.

What is compared are the log-probabilities of the answers' tokens: one other bit in a logit shows.
"""

from collections.abc import Callable, Sequence

import networks
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import SHAPES

from plenum_hosted.engine import Engine
from plenum_hosted.rows import DecodingRow
from plenum_hosted.shapes import Shapes

Model = Callable[..., torch.nn.Module]
Told = tuple[list[int], list[float]]
ASKED = networks.prompts(21, seed=4)


def rows(
    shapes: Shapes = SHAPES, asked: Sequence[tuple[list[int], list[int]]] = ASKED
) -> list[DecodingRow]:
    """Scored rows, every third one at a temperature, of two rungs."""
    return [
        networks.row(
            *prompt,
            limit=16 if number % 4 else 80,
            shapes=shapes,
            scored=True,
            temperature=0.0 if number % 3 else 5.0,
            noise=np.random.default_rng(number),
        )
        for number, prompt in enumerate(asked)
    ]


def together(engine: Engine, asked: Sequence[DecodingRow]) -> list[Told]:
    """The answers of rows that are submitted at once."""
    networks.answers(engine, asked)
    return [(row.answer, row.scores) for row in asked]


def alone(engine: Engine, asked: Sequence[DecodingRow]) -> list[Told]:
    """The answers of rows of which each waits for the one before."""
    return [together(engine, [row])[0] for row in asked]


@pytest.fixture(scope="module")
def truth(model: Model) -> list[Told]:
    """Each row alone."""
    with networks.engine(model()) as engine:
        return alone(engine, rows())


@pytest.mark.parametrize(
    ("kind", "threads", "some"),
    [("qwen2", 1, slice(None)), ("llama", 1, slice(None)), ("qwen2", 2, slice(1, 3))],
)
def test_alone_or_among_others(model: Model, kind: str, threads: int, some: slice) -> None:
    """Two threads are slow where the tests themselves share two cores: fewer rows."""
    made = model(kind)
    with networks.engine(made, threads=threads) as engine:
        by_itself = alone(engine, rows()[some])
    with networks.engine(made, threads=threads) as engine:
        assert together(engine, rows()[some]) == by_itself


@pytest.mark.parametrize(
    "kind",
    [
        networks.WITH_WINDOWS[0],
        *(pytest.param(kind, marks=pytest.mark.long) for kind in networks.WITH_WINDOWS[1:]),
    ],
)
def test_layers_with_a_window(model: Model, kind: str) -> None:
    """Alone, among others, in every slot, with prefixes computed anew, and in half precision."""
    with networks.engine(model(kind), megabytes=0) as engine:
        wanted = alone(engine, rows())
    with networks.engine(model(kind)) as engine:
        assert together(engine, rows()) == wanted
        for occupied in range(1, SHAPES.slots):
            others = [networks.row([], [7 + n] * (1 + 5 * n), limit=24) for n in range(occupied)]
            assert together(engine, [*others, *rows()[5:6]])[-1:] == wanted[5:6]
    half = networks.model(kind, scale=4.0, dtype=torch.bfloat16)
    with networks.engine(half) as engine:
        by_itself = alone(engine, rows()[2:9])
        assert together(engine, rows())[2:9] == by_itself


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_half_precision(model: Model, dtype: torch.dtype) -> None:
    made = model(scale=4.0, dtype=dtype)
    with networks.engine(made) as engine:
        by_itself = alone(engine, rows()[2:9])
    with networks.engine(made) as engine:
        assert together(engine, rows())[2:9] == by_itself


def test_in_another_run_and_on_a_used_engine(model: Model, truth: list[Told]) -> None:
    with networks.engine(model()) as engine:
        assert together(engine, rows()) == truth
        assert together(engine, rows()) == truth
        assert alone(engine, rows()) == truth


def test_prefixes_found_or_computed_anew(model: Model, truth: list[Told]) -> None:
    with networks.engine(model(), megabytes=0) as engine:
        assert alone(engine, rows()) == truth
        without = engine.prefixes.computed
    with networks.engine(model(), megabytes=64) as engine:
        assert alone(engine, rows()) == truth
        assert engine.prefixes.computed < without
        assert engine.prefixes.hits > 0


@settings(max_examples=8)
@given(st.permutations(range(len(ASKED))), st.integers(1, len(ASKED)))
def test_in_any_order_and_company(
    model: Model, truth: list[Told], order: list[int], number: int
) -> None:
    asked = rows()
    with networks.engine(model()) as engine:
        found = together(engine, [asked[n] for n in order[:number]])
    assert found == [truth[n] for n in order[:number]]


@pytest.mark.parametrize("occupied", range(1, SHAPES.slots))
def test_in_any_slot_beside_rows_of_other_lengths(
    model: Model, truth: list[Told], occupied: int
) -> None:
    others = [networks.row([], [7 + n] * (1 + 5 * n), limit=24) for n in range(occupied)]
    with networks.engine(model()) as engine:
        for other in others:
            engine.submit(other)
        assert together(engine, rows()[5:6]) == truth[5:6]
        for other in others:
            assert other.ended.wait(60)


def test_numbers_that_are_none_stay_in_their_row(model: Model) -> None:
    broken = networks.model(seed=3)
    with torch.no_grad():
        broken.get_input_embeddings().weight[7] = float("nan")
    with networks.engine(broken) as engine:
        clean = together(engine, [networks.row([], [5, 6, 8], 40, scored=True)])
        beside = [networks.row([], [7] * 4, 40), networks.row([], [5, 6, 8], 40, scored=True)]
        assert together(engine, beside)[1] == clean[0]
        again = [networks.row([], [5, 6, 8], 40, scored=True) for _ in range(SHAPES.slots)]
        assert together(engine, again) == clean * SHAPES.slots


# --- the comparison above is able to fail, and what is compared is right -------------------------


def test_another_model_gives_other_bits(truth: list[Told]) -> None:
    with networks.engine(networks.model(seed=4)) as engine:
        assert together(engine, rows()) != truth


@pytest.mark.parametrize(
    "shapes",
    [Shapes(8, 4, bucket=40, rung=64), Shapes(3, 4, bucket=16, rung=64)],
    ids=["other bucket", "three slots"],
)
def test_other_shapes_give_the_same_but_for_last_bits(
    model: Model, truth: list[Told], shapes: Shapes
) -> None:
    with networks.engine(model(), shapes) as engine:
        found = together(engine, rows(shapes))
    assert [answer[0] for answer, _ in found] == [answer[0] for answer, _ in truth]
    for (answer, scores), (wanted, exact) in zip(found, truth, strict=True):
        if answer == wanted:  # last bits may turn what is sampled later
            np.testing.assert_allclose(scores, exact, atol=5e-3)


def test_a_forward_without_padding_gives_the_same_but_for_last_bits(
    model: Model, truth: list[Told]
) -> None:
    reference = networks.plain(model())
    for (prefix, rest), (answer, scores) in zip(ASKED, truth, strict=True):
        with torch.inference_mode():
            ids = torch.tensor([prefix + rest], device=networks.DEVICE)
            logits = reference(ids).logits[0, -1]
        score = float(torch.log_softmax(logits, -1)[answer[0]])
        assert score == pytest.approx(scores[0], abs=5e-3)
