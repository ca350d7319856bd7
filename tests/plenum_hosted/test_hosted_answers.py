"""The engine's greedy answers are those of plain transformers on the whole prompt."""

from collections.abc import Callable

import networks
import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

Model = Callable[..., torch.nn.Module]
KINDS = ("qwen2", "llama", *networks.WITH_WINDOWS)
tokens = st.integers(2, 210)
SLIGHT = 5e-4
"""A lead that no order of adding can turn."""


@pytest.mark.parametrize("kind", KINDS)
def test_many_prompts_at_once(model: Model, kind: str) -> None:
    made, asked = model(kind), networks.prompts(12, seed=1)
    reference = networks.plain(made, kind)
    wanted = [networks.greedy(reference, prefix + rest, 16) for prefix, rest in asked]
    with networks.engine(made) as engine:
        found = networks.answers(engine, [networks.row(*prompt, 16) for prompt in asked])
    fair = [(f, w) for f, (w, lead) in zip(found, wanted, strict=True) if lead > SLIGHT]
    assert len(fair) > 9
    assert all(f == w for f, w in fair)
    assert len({tuple(answer) for answer in found}) > 9  # else nothing would be shown


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("prefix", "rest"),
    [(0, 1), (0, 2), (0, 16), (0, 17), (0, 18), (1, 1), (16, 1), (16, 17), (15, 2), (17, 70)],
)
def test_lengths_on_the_edges_of_buckets(model: Model, kind: str, prefix: int, rest: int) -> None:
    made = model(kind)
    prompt = np.random.default_rng(prefix + rest).integers(2, 211, prefix + rest).tolist()
    wanted, lead = networks.greedy(networks.plain(made, kind), prompt, 12)
    assert lead > SLIGHT
    with networks.engine(made) as engine:
        (found,) = networks.answers(engine, [networks.row(prompt[:prefix], prompt[prefix:], 12)])
    assert found == wanted


@pytest.mark.parametrize("kind", networks.WITH_WINDOWS)
def test_layers_with_a_window_answer_as_generate_does(model: Model, kind: str) -> None:
    """With transformers' own cache, which forgets what has left the window."""
    made, asked = model(kind), networks.prompts(8, seed=2)
    reference = networks.plain(made, kind)
    with networks.engine(made) as engine:
        found = networks.answers(engine, [networks.row(*prompt, 24) for prompt in asked])
    same = []
    for (prefix, rest), answer in zip(asked, found, strict=True):
        prompt = torch.tensor([prefix + rest], device=networks.DEVICE)
        told = reference.generate(
            prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=24
        )
        same.append(answer == told[0, prompt.shape[1] :].tolist())
    assert sum(same) >= 7  # a lead below rounding may turn one


@pytest.mark.parametrize("kind", networks.WITH_WINDOWS)
def test_a_window_changes_answers(model: Model, kind: str) -> None:
    """Else the comparisons above would show nothing."""
    asked = [networks.row(*prompt, 16) for prompt in networks.prompts(8, seed=2)]
    with networks.engine(model(kind)) as engine:
        found = networks.answers(engine, asked)
        engine._network.window = 10_000
        again = [networks.row(*prompt, 16) for prompt in networks.prompts(8, seed=2)]
        assert networks.answers(engine, again) != found


@settings(max_examples=8)
@given(st.lists(tokens, max_size=40), st.lists(tokens, min_size=1, max_size=40), st.data())
def test_wherever_the_prompt_is_cut(
    model: Model, ahead: list[int], behind: list[int], data: st.DataObject
) -> None:
    made, prompt = model(), ahead + behind
    cut = data.draw(st.integers(0, len(prompt) - 1))
    wanted, lead = networks.greedy(networks.plain(made), prompt, 12)
    assume(lead > SLIGHT)
    with networks.engine(made) as engine:
        (found,) = networks.answers(engine, [networks.row(prompt[:cut], prompt[cut:], 12)])
    assert found == wanted


@pytest.mark.parametrize("place", [0, 1, 7])
def test_an_answer_ends_with_its_stop_token(model: Model, place: int) -> None:
    made = model()
    (whole, _) = networks.greedy(networks.plain(made), [5, 6, 7], 24, stops=())
    stop = whole[place]
    first = whole.index(stop)
    with networks.engine(made, stops=[stop]) as engine:
        row = networks.row([], [5, 6, 7], 24)
        assert networks.answers(engine, [row]) == [whole[: first + 1]]
    assert row.finish == "stop"


@pytest.mark.parametrize("limit", [1, 2, 24, 200])
def test_an_answer_ends_at_its_limit(model: Model, limit: int) -> None:
    made = model()
    with networks.engine(made, stops=[]) as engine:
        row = networks.row([9] * 5, [5, 6, 7], limit, scored=True)
        (found,) = networks.answers(engine, [row])
    assert (len(found), len(row.scores), row.finish) == (limit, limit, "length")


def test_a_stop_token_at_the_limit_is_a_stop(model: Model) -> None:
    made = model()
    (whole, _) = networks.greedy(networks.plain(made), [5, 6, 7], 3, stops=())
    assert whole.index(whole[2]) == 2
    with networks.engine(made, stops=[whole[2]]) as engine:
        row = networks.row([], [5, 6, 7], 3)
        networks.answers(engine, [row])
    assert row.finish == "stop"


def test_scores_are_the_log_probabilities_of_the_answer(model: Model) -> None:
    made = model()
    prompt = list(range(20, 60))
    with networks.engine(made) as engine:
        row = networks.row(prompt[:20], prompt[20:], 16, scored=True)
        (answer,) = networks.answers(engine, [row])
    with torch.inference_mode():
        logits = networks.plain(made)(torch.tensor([prompt + answer])).logits[0]
    expected = torch.log_softmax(logits, -1)[len(prompt) - 1 : -1].gather(
        1, torch.tensor(answer)[:, None]
    )
    np.testing.assert_allclose(row.scores, expected[:, 0].numpy(), atol=2e-3)
