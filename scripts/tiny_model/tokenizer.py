"""The tokenizer: byte-level BPE behind Qwen2's own rules for cutting text, and ChatML.

The rules are those that transformers builds into every Qwen2 tokenizer, so that any loader reads
the files alike. They make every digit a token of its own: a number is read digit by digit.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, pre_tokenizers, trainers
from transformers import Qwen2Tokenizer

from plenum.models import Message

END_OF_TEXT, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
SPECIAL = (END_OF_TEXT, START, END)
POSITIONS = 4096

TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""ChatML; a chat without a system message gets none."""


def train(texts: Iterable[str], size: int) -> Qwen2Tokenizer:
    """A tokenizer of at most ``size`` entries, learnt from texts."""
    tokenizer: Tokenizer = Qwen2Tokenizer().backend_tokenizer
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        show_progress=False,
        special_tokens=[AddedToken(t, special=True, normalized=False) for t in SPECIAL],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    tokenizer.train_from_iterator(texts, trainer)
    learnt = json.loads(tokenizer.to_str())["model"]
    # The hints ask for lists of texts, but only pairs are taken.
    merges: Any = [tuple(pair) for pair in learnt["merges"]]
    return Qwen2Tokenizer(
        vocab=learnt["vocab"],
        merges=merges,
        unk_token=END_OF_TEXT,
        eos_token=END,
        pad_token=END_OF_TEXT,
        additional_special_tokens=[START],
        chat_template=TEMPLATE,
        model_max_length=POSITIONS,
        clean_up_tokenization_spaces=False,
    )


def load(folder: Path) -> Qwen2Tokenizer:
    """The tokenizer that lies in a folder."""
    tokenizer: Qwen2Tokenizer = Qwen2Tokenizer.from_pretrained(folder, local_files_only=True)
    return tokenizer


def end_of(tokenizer: Qwen2Tokenizer) -> int:
    """The token that ends an answer."""
    return ids_of(tokenizer, END)[0]


def ids_of(tokenizer: Qwen2Tokenizer, text: str) -> list[int]:
    """The tokens of a part of a chat."""
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False)
    return ids


def split(messages: Sequence[Message]) -> tuple[str, str]:
    """A rendered chat with its generation prompt, cut where its static part ends.

    The static part is all up to the last shared character; a chat without shared characters has
    none. The two parts are tokenised each on its own.
    """
    prefix, rest = "", ""
    for message in messages:
        head, tail = message.content[: message.shared], message.content[message.shared :]
        if message.shared:
            prefix, rest = f"{prefix}{rest}{START}{message.role}\n{head}", f"{tail}{END}\n"
        else:
            rest += f"{START}{message.role}\n{tail}{END}\n"
    return prefix, f"{rest}{START}assistant\n"
