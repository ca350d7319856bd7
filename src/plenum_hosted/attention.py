"""The attention function of hosted models, and the caches that it reads.

It is registered with transformers, so that any model that takes an attention function takes this
one. Nothing in it depends on how many rows are real: a mask says which places a row may see.
"""

from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers.cache_utils import Cache
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

NAME = "plenum"
_ARITHMETIC = ("softcap", "s_aux", "sinks", "position_bias", "head_mask")
"""Arguments by which models of transformers ask for more than plain attention."""

VERSION = "1"
"""Version of the arithmetic, part of every environment; raise it when the arithmetic changes."""


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Compute grouped-query attention.

    Parameters
    ----------
    query : tensor, shape (rows, heads, tokens, d)
    key, value : tensor, shape (rows, key-value heads, places, d)
    attention_mask : tensor, shape (rows, 1 or 2, tokens, places)
        Added to the scores: 0 where a token sees a place, minus infinity elsewhere. A second mask
        is that of layers with a sliding window.
    sliding_window
        The layer's window, by which it takes the second mask.

    Returns
    -------
    tensor, shape (rows, tokens, heads, d), and None

    Raises
    ------
    ValueError
        The model asks for more than attention: a cap on the scores, a sink, or a bias.
    """
    _refuse(options)
    attention_mask = _mask_of(attention_mask, sliding_window)
    rows, heads, tokens, d = query.shape
    groups = key.shape[1]
    scale = d**-0.5 if scaling is None else scaling
    # A prefill's shape follows from its own room: the library's kernel adds in one order there.
    if tokens > 1:
        shape = (rows, groups, heads // groups, *key.shape[2:])
        key = key[:, :, None].expand(shape).flatten(1, 2)
        value = value[:, :, None].expand(shape).flatten(1, 2)
        seen = scaled_dot_product_attention(
            query, key, value, attn_mask=attention_mask, scale=scale
        )
        return seen.transpose(1, 2), None
    # One token: the heads of a group share a product, so that each key is read once.
    grouped = (query * scale).reshape(rows, groups, heads // groups, d)
    scores = torch.matmul(grouped, key.transpose(2, 3)) + attention_mask
    # In single precision: half of it loses small terms in a sum over thousands of places.
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(value.dtype)
    return torch.matmul(weights, value).reshape(rows, 1, heads, d), None


def _mask_of(masks: torch.Tensor, window: int | None) -> torch.Tensor:
    """Return the mask of a layer with this window, or without one."""
    if not window:
        return masks[:, :1]
    if masks.shape[1] < 2:
        raise ValueError("a layer of it has a sliding window that its config doesn't name")
    return masks[:, 1:]


def _refuse(options: dict[str, Any]) -> None:
    """Refuse arguments that change the arithmetic, rather than ignore them silently."""
    for name in _ARITHMETIC:
        if options.get(name) is not None:
            raise ValueError(f"its attention takes {name}, which this one doesn't have")


def register() -> None:
    """Register the attention function with transformers."""
    ALL_ATTENTION_FUNCTIONS.register(NAME, attend)


class Places(Cache):
    """A cache of keys and values at fixed places; the caller says where new ones go.

    Parameters
    ----------
    keys, values : tensor, shape (layers, rows, key-value heads, places, d)
    start
        The first place of a prefill's tokens.
    """

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, start: int = 0) -> None:
        super().__init__(layers=[])
        self.keys, self.values, self.start = keys, values, start

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        layer_idx: int,
        *args: Any,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Put the new keys and values in their places, and return all of the layer's."""
        self._put(self.keys[layer_idx], key_states)
        self._put(self.values[layer_idx], value_states)
        return self.keys[layer_idx], self.values[layer_idx]

    def _put(self, held: torch.Tensor, new: torch.Tensor) -> None:
        held[:, :, self.start : self.start + new.shape[2]] = new

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Return 0: positions and masks are always given, so the length is never used."""
        return 0


class DecodingPlaces(Places):
    """A cache for rows that decode: each row's next token has a place of its own.

    Attributes
    ----------
    at : tensor, shape (rows,)
        The place of each row's next token.
    """

    def __init__(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        super().__init__(keys, values)
        self.at = torch.zeros(keys.shape[1], dtype=torch.long, device=keys.device)
        self._rows = torch.arange(keys.shape[1], device=keys.device)

    def _put(self, held: torch.Tensor, new: torch.Tensor) -> None:
        held[self._rows, :, self.at] = new[:, :, 0]
