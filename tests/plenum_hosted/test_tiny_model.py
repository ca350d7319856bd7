"""The model that ships with the project: its files and its tokenizer."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from plenum_hosted.checkpoints import TINY  # noqa: E402

torch.set_num_threads(1)  # two would wait for each other where others use the cores
TOKENIZER: Any = transformers.AutoTokenizer.from_pretrained(TINY, local_files_only=True)


# --- the files ---------------------------------------------------------------------------------


def test_the_model_is_a_qwen2_of_at_most_three_million_parameters() -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(TINY, local_files_only=True)
    assert model.config.model_type == "qwen2"
    assert sum(p.numel() for p in model.parameters()) <= 3_000_000
    ends = [TOKENIZER.convert_tokens_to_ids(token) for token in ("<|im_end|>", "<|endoftext|>")]
    assert model.generation_config.eos_token_id == ends  # an answer ends at either


def test_the_weights_are_safetensors_of_at_most_eight_megabytes() -> None:
    weights = list(TINY.glob("*.safetensors"))
    assert [w.name for w in weights] == ["model.safetensors"]
    assert weights[0].stat().st_size <= 8_000_000
    assert not [*TINY.glob("*.bin"), *TINY.glob("*.pt"), *TINY.glob("*.py")]


def test_the_card_says_what_the_model_is_for() -> None:
    card = " ".join((TINY / "README.md").read_text().split())
    assert "to exercise the whole hosted path anywhere" in card
    assert "never to stand for a real model" in card


# --- the tokenizer -----------------------------------------------------------------------------


@given(text=st.text())
def test_any_text_comes_back_from_its_tokens_in_unicodes_composed_form(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert TOKENIZER.decode(TOKENIZER.encode(composed, add_special_tokens=False)) == composed


def test_every_loader_of_transformers_gives_the_same_tokens() -> None:
    backend = transformers.PreTrainedTokenizerFast.from_pretrained(TINY, local_files_only=True)
    for text in ("## Recent arguments\nChair: Option A.", "12,000 α\n\n  x\t7 🙂"):
        assert TOKENIZER(text).input_ids == backend(text).input_ids


def test_a_digit_is_a_token_of_its_own() -> None:
    pieces = TOKENIZER.tokenize("0.350 | 65, 12,000 and 2,031 in AI-01")
    assert [p for p in pieces if any(c.isdigit() for c in p) and len(p) > 1] == []


def test_the_chat_template_renders_each_role_and_the_generation_prompt() -> None:
    chat = [("system", "S."), ("user", "U."), ("assistant", "A."), ("user", "V.")]
    messages = [{"role": role, "content": content} for role, content in chat]
    rendered = TOKENIZER.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert rendered == (
        "<|im_start|>system\nS.<|im_end|>\n<|im_start|>user\nU.<|im_end|>\n"
        "<|im_start|>assistant\nA.<|im_end|>\n<|im_start|>user\nV.<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    without = TOKENIZER.apply_chat_template(messages[1:2], tokenize=False)
    assert without == "<|im_start|>user\nU.<|im_end|>\n"
