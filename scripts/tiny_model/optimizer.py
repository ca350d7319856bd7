"""The optimiser of the tiny model."""

from collections.abc import Iterator
from typing import Any

import torch


class Optimizer:
    """Muon for the matrices, AdamW for the embeddings and all that is no matrix.

    On these prompts it learns to look things up in about half the steps that AdamW alone takes.
    """

    def __init__(
        self, model: torch.nn.Module, rate: float, rate_of_others: float, decay: float
    ) -> None:
        named = dict(model.named_parameters())
        matrices = [p for name, p in named.items() if p.dim() == 2 and "embed" not in name]
        rest = [p for p in named.values() if not any(p is m for m in matrices)]
        self._both: tuple[torch.optim.Optimizer, ...] = (
            torch.optim.Muon(
                [{"params": matrices, "most": rate}],
                lr=rate,
                weight_decay=decay,
                adjust_lr_fn="match_rms_adamw",
            ),
            torch.optim.AdamW(
                [{"params": rest, "most": rate_of_others}],
                lr=rate_of_others,
                betas=(0.9, 0.98),
                weight_decay=0.0,
            ),
        )

    def parts(self) -> Iterator[dict[str, Any]]:
        """The groups of parameters, whose learning rates can be set."""
        for optimizer in self._both:
            yield from optimizer.param_groups

    def step(self) -> None:
        """Move the weights along the gradients, and clear these."""
        for optimizer in self._both:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    def state_dict(self) -> list[dict[str, Any]]:
        """What a later step depends on."""
        return [optimizer.state_dict() for optimizer in self._both]

    def load_state_dict(self, kept: list[dict[str, Any]]) -> None:
        """Take a kept state up again."""
        for optimizer, state in zip(self._both, kept, strict=True):
            optimizer.load_state_dict(state)
