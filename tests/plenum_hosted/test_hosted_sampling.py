"""At a temperature each row draws from its own generator, by the probabilities of the model."""

from collections.abc import Callable

import networks
import numpy as np
import torch
from scipy.stats import chisquare

from plenum_hosted.rows import DecodingRow

Model = Callable[..., torch.nn.Module]
PROMPT = [5, 6, 7, 8]


def drawn(seed: int, limit: int = 12, temperature: float = 20.0) -> DecodingRow:
    """A row that samples."""
    noise = np.random.default_rng(seed)
    return networks.row(PROMPT[:2], PROMPT[2:], limit, temperature=temperature, noise=noise)


def test_a_seed_names_an_answer_whatever_the_neighbours(model: Model) -> None:
    with networks.engine(model()) as engine:
        by_itself = [networks.answers(engine, [drawn(seed)])[0] for seed in range(6)]
        greedy = [networks.row(*prompt) for prompt in networks.prompts(9)]
        among = [drawn(seed) for seed in range(6)]
        networks.answers(engine, [*greedy[:4], *among[::-1], *greedy[4:]])
    assert [row.answer for row in among] == by_itself
    assert len({tuple(answer) for answer in by_itself}) == 6  # other seeds, other answers


def test_first_tokens_are_as_frequent_as_the_model_says(model: Model) -> None:
    made, number, temperature = model(), 1200, 20.0
    with networks.engine(made) as engine:
        found = networks.answers(engine, [drawn(seed, 1, temperature) for seed in range(number)])
    with torch.inference_mode():
        logits = networks.plain(made)(torch.tensor([PROMPT])).logits[0, -1].double()
    expected = number * torch.softmax(logits / temperature, -1).numpy()
    observed = np.bincount([answer[0] for answer in found], minlength=expected.size)
    often = expected >= 5
    assert often.sum() > 10
    told = [*observed[often], observed[~often].sum()]
    assert chisquare(told, [*expected[often], expected[~often].sum()]).pvalue > 0.01


def test_a_small_temperature_takes_the_likeliest_token(model: Model) -> None:
    with networks.engine(model()) as engine:
        (greedy,) = networks.answers(engine, [networks.row(PROMPT[:2], PROMPT[2:], 12)])
        assert (
            networks.answers(engine, [drawn(seed, 12, 1e-5) for seed in range(4)]) == [greedy] * 4
        )


def test_scores_are_those_of_the_model_not_of_the_noise(model: Model) -> None:
    made, row = model(), drawn(3)
    row.scored = True
    with networks.engine(made) as engine:
        (answer,) = networks.answers(engine, [row])
    with torch.inference_mode():
        logits = networks.plain(made)(torch.tensor([PROMPT + answer])).logits[0]
    scores = torch.log_softmax(logits, -1)[len(PROMPT) - 1 : -1]
    told = scores.gather(1, torch.tensor(answer)[:, None])[:, 0].numpy()
    np.testing.assert_allclose(row.scores, told, atol=5e-3)
