"""A checkpoint folder as a user has one: random weights, and a tokenizer that is trained here."""

import json
import shutil
from pathlib import Path

import networks
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoTokenizer,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from plenum_hosted.checkpoints import TINY

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ["<|endoftext|>", "<|im_end|>", "<|im_start|>"]
LINES = [
    "The committee weighs the scenario and its options with care.",
    "## Scenario\nA port must choose between a dam, a dyke and moving 1200 homes.",
    'STATE: {"A": 0.250, "B": 0.500, "C": 0.250} confidence 70',
]


def tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE with ChatML; a letter that it never saw is still its bytes."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=SPECIAL,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    made.train_from_iterator(LINES, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
        chat_template=TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def save(folder: Path, seed: int = 0) -> Path:
    """Write a checkpoint."""
    made = tokenizer()
    torch.manual_seed(seed)
    network = Qwen2ForCausalLM(
        Qwen2Config(
            **{
                **networks.config().to_diff_dict(),
                "vocab_size": 320,
                "eos_token_id": made.eos_token_id,
                "pad_token_id": made.pad_token_id,
            }
        )
    )
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 2:
                parameter.mul_(8)
    network.save_pretrained(folder)
    made.save_pretrained(folder)
    return folder


def windowed(folder: Path) -> Path:
    """Write a model of Mistral's kind that sees 48 tokens, with the tokenizer of the tiny model."""
    made = AutoTokenizer.from_pretrained(TINY)
    torch.manual_seed(7)
    sizes = networks.config("mistral").to_diff_dict()
    own = {"vocab_size": len(made), "max_position_embeddings": 4096, "sliding_window": 48}
    stops = {"eos_token_id": made.eos_token_id, "pad_token_id": made.pad_token_id}
    network = MistralForCausalLM(MistralConfig(**{**sizes, **own, **stops}))
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 2:
                parameter.mul_(8)
    network.save_pretrained(folder)
    made.save_pretrained(folder)
    return folder


def copy(source: Path, folder: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copytree(source, folder))


def rewrite(file: Path, **values: object) -> None:
    """Set values of a JSON file; ``None`` takes one out."""
    found = {**json.loads(file.read_text()), **values}
    file.write_text(json.dumps({key: value for key, value in found.items() if value is not None}))
