"""The model's shape: Qwen2, small enough that its float32 weights take less than 8 MB."""

import torch
from transformers import GenerationConfig, Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer

from tiny_model.tokenizer import END_OF_TEXT, POSITIONS, end_of, ids_of

VOCABULARY = 3072


def config(tokenizer: Qwen2Tokenizer) -> Qwen2Config:
    """The configuration for a tokenizer."""
    return Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=160,
        intermediate_size=448,
        num_hidden_layers=4,
        num_attention_heads=5,
        num_key_value_heads=5,
        max_position_embeddings=POSITIONS,
        initializer_range=0.06,
        rope_parameters={"rope_type": "default", "rope_theta": 1_000_000.0},
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=end_of(tokenizer),
        pad_token_id=ids_of(tokenizer, END_OF_TEXT)[0],
        dtype="float32",
    )


def build(tokenizer: Qwen2Tokenizer, seed: int) -> Qwen2ForCausalLM:
    """An untrained model; equal seeds give equal weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen2ForCausalLM(config(tokenizer))
    ends = [end_of(tokenizer), *ids_of(tokenizer, END_OF_TEXT)]
    model.generation_config = GenerationConfig(  # type: ignore[no-untyped-call]
        eos_token_id=ends, pad_token_id=ends[1], do_sample=False
    )
    return model
