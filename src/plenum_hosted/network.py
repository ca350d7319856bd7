"""A loaded model's forward passes, as the engine uses them: prefix, rest, and one more token."""

from dataclasses import dataclass
from typing import Any

import torch

from plenum_hosted.attention import DecodingPlaces, Places


@dataclass(frozen=True)
class CachedPrefix:
    """Keys and values of a prefix, each of shape (layers, key-value heads, places, d)."""

    keys: torch.Tensor
    values: torch.Tensor

    @property
    def bytes(self) -> int:
        """Size in memory."""
        return 2 * self.keys.numel() * self.keys.element_size()


@dataclass(frozen=True)
class CacheSizes:
    """Sizes of the keys and values that a model keeps: layers, key-value heads, and width."""

    layers: int
    groups: int
    d: int

    @classmethod
    def of(cls, config: Any) -> "CacheSizes":
        """Read them from the config of a model's text part."""
        heads = int(config.num_attention_heads)
        # What a config leaves out is as in the first transformers: heads share the hidden size, and
        # each has keys of its own.
        width = getattr(config, "head_dim", None) or config.hidden_size // heads
        groups = int(getattr(config, "num_key_value_heads", None) or heads)
        return cls(int(config.num_hidden_layers), groups, int(width))


class Network:
    """The forward passes of a model, each of a shape that its arguments fix.

    Parameters
    ----------
    model
        A causal language model of transformers, with the attention of this package.
    """

    def __init__(self, model: Any) -> None:
        config = model.config.get_text_config()
        self.model = model
        self.device, self.dtype = model.device, model.dtype
        self.vocabulary = int(config.vocab_size)
        self.sizes = CacheSizes.of(config)
        self.window = window_of(config)
        self._scratch: dict[tuple[int, int], tuple[torch.Tensor, torch.Tensor]] = {}

    def wait(self) -> None:
        """Wait for what a GPU still computes, so that its time is counted where it belongs."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def scratch(self, rows: int, places: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return a buffer that prefills reuse: allocating memory costs as much as computing."""
        if (rows, places) not in self._scratch:
            self._scratch = {(rows, places): self.empty(rows, places)}
        return self._scratch[rows, places]

    def empty(self, rows: int, places: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Allocate keys and values; zeros, since even masked entries must be finite."""
        sizes = self.sizes
        shape = (sizes.layers, rows, sizes.groups, places, sizes.d)
        buffers = [torch.zeros(shape, dtype=self.dtype, device=self.device) for _ in range(2)]
        return buffers[0], buffers[1]

    def prefix(self, tokens: list[int], places: int) -> CachedPrefix:
        """Prefill a prefix, always on its own."""
        keys, values = self.empty(1, places)
        cache = Places(keys, values)
        mask = self.make_mask(1, places, places)
        # A token sees itself and what stands before it.
        mask[0, 0] = torch.triu(mask[0, 0], diagonal=1)
        counted = torch.arange(places, device=self.device)[None]
        mask = self.masks(mask, counted, counted)
        self._forward([tokens], places, [0], mask, cache)
        return CachedPrefix(keys[:, 0], values[:, 0])

    def rest(
        self,
        rows: list[tuple[CachedPrefix | None, int, list[int]]],
        ahead: int,
        places: int,
        width: int,
        capacity: int,
    ) -> Places:
        """Prefill prompts behind their prefixes.

        Parameters
        ----------
        rows
            Prefix, its length in tokens, and the tokens that follow; at most ``width``.
        ahead, places
            Places of the prefixes, and of the tokens that follow.
        width
            Number of rows that are computed, whatever the number of real ones.
        capacity
            Places that the rows' caches will have. The result is in a buffer of this size, which
            the next prefill overwrites.
        """
        end = ahead + places
        keys, values = self.scratch(width, capacity)
        cache = Places(keys[:, :, :, :end], values[:, :, :, :end], start=ahead)
        mask = self.make_mask(width, places, end)
        mask[:, 0, :, ahead:] = torch.triu(mask[:, 0, :, ahead:], diagonal=1)
        for number in range(width):
            kept, length = rows[number][:2] if number < len(rows) else (None, 0)
            # What is masked must be finite, too: 0 times no number is no number.
            cache.keys[:, number, :, :ahead] = 0 if kept is None else kept.keys
            cache.values[:, number, :, :ahead] = 0 if kept is None else kept.values
            # Of the prefix all real places; its padding stays hidden.
            mask[number, 0, :, :length] = 0
        tokens = [row[2] for row in rows] + [[]] * (width - len(rows))
        starts = [row[1] for row in rows] + [0] * (width - len(rows))
        at = self.positions(starts, ahead, end)
        mask = self.masks(mask, at[:, ahead:], at)
        if places:  # none where all prompts have a prefix and one token more
            self._forward(tokens, places, starts, mask, cache)
        return cache

    def step(
        self,
        tokens: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor,
        slots: DecodingPlaces,
    ) -> torch.Tensor:
        """Decode one more token of every row; return the next logits, shape (rows, vocabulary).

        ``mask`` is as :meth:`masks` makes it.
        """
        out = self.model(
            input_ids=tokens[:, None],
            position_ids=positions[:, None],
            attention_mask=mask,
            past_key_values=slots,
            use_cache=True,
            logits_to_keep=1,
        )
        # Single precision before the largest is chosen: rounded logits tie.
        logits: torch.Tensor = out.logits[:, -1].float()
        return logits

    def _forward(
        self, rows: list[list[int]], places: int, starts: list[int], mask: torch.Tensor, cache: Any
    ) -> None:
        padded = [row + [0] * (places - len(row)) for row in rows]
        # An empty row has position 0, and not -1.
        lengths = torch.tensor([[max(len(row), 1)] for row in rows], device=self.device)
        # What is padded repeats the last position: it is never seen, but may not be out of range.
        counted = torch.arange(places, device=self.device)[None].minimum(lengths - 1)
        self.model(
            input_ids=torch.tensor(padded, device=self.device),
            position_ids=counted + torch.tensor(starts, device=self.device)[:, None],
            attention_mask=mask,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )

    def make_mask(self, rows: int, tokens: int, places: int) -> torch.Tensor:
        """Return a mask that hides everything."""
        low = float("-inf")
        return torch.full((rows, 1, tokens, places), low, dtype=self.dtype, device=self.device)

    def positions(self, starts: list[int], ahead: int, places: int) -> torch.Tensor:
        """Return the position of each place of rows, shape (rows, places).

        Parameters
        ----------
        starts
            Lengths of the rows' prefixes, which the tokens from place ``ahead`` on continue.
        """
        counted = torch.arange(places, device=self.device)[None]
        lengths = torch.tensor(starts, device=self.device)[:, None]
        return torch.where(counted < ahead, counted, counted - ahead + lengths)

    def masks(self, mask: torch.Tensor, tokens: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Add the mask of layers with a sliding window, if the model has such layers.

        Parameters
        ----------
        mask : tensor, shape (rows, 1, tokens, places)
            The mask of layers that see everything.
        tokens, places : tensor, shape (rows, tokens) and (rows, places)
            Their positions.

        Returns
        -------
        tensor, shape (rows, 2, tokens, places), or the mask as it was
        """
        if not self.window:
            return mask
        # A window of w tokens holds a token itself and the w - 1 before it.
        before = places[:, None, None, :] <= tokens[:, None, :, None] - self.window
        return torch.cat((mask, mask.masked_fill(before, float("-inf"))), dim=1)


def window_of(config: Any) -> int:
    """Return the sliding window of a model's layers, in tokens; 0 if all layers see everything."""
    kinds = getattr(config, "layer_types", None)
    if kinds and "sliding_attention" not in kinds:
        return 0
    return int(getattr(config, "sliding_window", None) or 0)
