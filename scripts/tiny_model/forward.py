"""The forward pass of training: a prefix once, then all the rows that share it.

Inference prefills the static part of a prompt on its own and lets the rest attend to it; training
does the same. The last layer is computed only where a token is predicted. The weights are those of
the transformers model, and so are the numbers up to rounding, which a test checks.
"""

from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from transformers import Qwen2ForCausalLM
from transformers.models.qwen2.modeling_qwen2 import apply_rotary_pos_emb

Keys = list[tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class Batch:
    """Rows behind one prefix, as token ids.

    Parameters
    ----------
    prefix
        What all rows share; maybe nothing.
    rows
        For each row what follows, with its answer.
    answers
        How many tokens at the end of each row are its answer.
    """

    prefix: list[int]
    rows: list[list[int]]
    answers: list[int]

    def weight(self, aside: float) -> float:
        """The weights of all that is learnt, added up."""
        return sum(self.answers) + aside * (sum(map(len, self.rows)) - sum(self.answers))

    @property
    def tokens(self) -> int:
        """Tokens that are read."""
        return len(self.prefix) + sum(map(len, self.rows))


def loss(model: Qwen2ForCausalLM, batch: Batch, aside: float = 0.0) -> torch.Tensor:
    """The sum of the answers' negative log-likelihoods, in nats.

    With ``aside``, what stands between prefix and answer is learnt too, with that weight: a table
    row holds the same sums and maxima as an answer, and there are many of them.
    """
    keys = _prefill(model, batch.prefix) if batch.prefix else []
    rows, width = batch.rows, max(map(len, batch.rows)) - 1
    ids = torch.tensor([row[:-1] + [0] * (width - len(row) + 1) for row in rows])
    targets = torch.tensor([row[1:] + [0] * (width - len(row) + 1) for row in rows])
    ends = torch.tensor([[len(row) - 1] for row in rows])
    firsts = ends - torch.tensor(batch.answers)[:, None]
    # Places that are predicted from: all of them, or each row's last few, of which a shorter
    # answer needs fewer.
    at = torch.arange(width)[None] if aside else firsts + torch.arange(max(batch.answers))
    weights = torch.where(at >= firsts, 1.0, aside) * (at < ends)
    at = at.clamp(max=width - 1).expand(len(rows), -1)
    hidden = _hidden(model, ids, len(batch.prefix), keys, None if aside else at)
    each = cross_entropy(
        model.lm_head(hidden).flatten(0, 1), targets.gather(1, at).flatten(), reduction="none"
    )
    return (each * weights.flatten()).sum()


def _prefill(model: Qwen2ForCausalLM, prefix: list[int]) -> Keys:
    kept: Keys = []
    _hidden(model, torch.tensor([prefix]), 0, [], None, kept)
    return kept


def _hidden(
    model: Qwen2ForCausalLM,
    ids: torch.Tensor,
    start: int,
    before: Keys,
    at: torch.Tensor | None,
    kept: Keys | None = None,
) -> torch.Tensor:
    """Hidden states at the places ``at``, or at all; with ``kept``, its keys are filled instead."""
    body = model.model
    x = body.embed_tokens(ids)
    rows, width = ids.shape
    turned = body.rotary_emb(x, torch.arange(start, start + width)[None])
    seen = torch.ones(width, start + width, dtype=torch.bool).tril(start)
    mask = torch.zeros(seen.shape).masked_fill(~seen, float("-inf"))[None, None]
    last = len(body.layers) - 1
    for number, layer in enumerate(body.layers):
        attention = layer.self_attn
        normed = layer.input_layernorm(x)
        query, key, value = (
            project(normed).view(rows, width, -1, attention.head_dim).transpose(1, 2)
            for project in (attention.q_proj, attention.k_proj, attention.v_proj)
        )
        query, key = apply_rotary_pos_emb(query, key, *turned)
        if kept is not None:
            kept.append((key, value))
            if number == last:
                break
        if before:
            key, value = (
                torch.cat([old.expand(rows, -1, -1, -1), new], dim=2)
                for old, new in zip(before[number], (key, value), strict=True)
            )
        if number == last and at is not None:
            query = query.gather(
                2, at[:, None, :, None].expand(-1, query.shape[1], -1, query.shape[3])
            )
            mask = mask[0, 0][at][:, None]
            x = x.gather(1, at[:, :, None].expand(-1, -1, x.shape[2]))
        heads = query.shape[1]
        attended = scaled_dot_product_attention(
            query,
            key.expand(-1, heads, -1, -1),
            value.expand(-1, heads, -1, -1),
            attn_mask=mask.expand(rows, 1, -1, -1),
        )
        x = x + attention.o_proj(attended.transpose(1, 2).flatten(2))
        x = x + layer.mlp(layer.post_attention_layernorm(x))
    hidden: torch.Tensor = body.norm(x)
    return hidden
