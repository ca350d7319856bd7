"""The tiny model as a GGUF file, written by the package gguf as converters write one."""

import json
from pathlib import Path

import gguf
from safetensors.numpy import load_file

from plenum_hosted.checkpoints import TINY


def write_tiny(
    file: Path,
    *,
    quantised: bool = False,
    without: str = "",
    layers: int | None = None,
    vocabulary: int | None = None,
) -> Path:
    """Write the tiny model, in the single precision that it has, or its products in 8 bits.

    It may lack a tensor, or say other sizes than it has.
    """
    config = json.loads((TINY / "config.json").read_text())
    held = config["num_hidden_layers"]
    writer = gguf.GGUFWriter(file, "qwen2")
    writer.add_name("tiny")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(held if layers is None else layers)
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_vocab_size(vocabulary or config["vocab_size"])
    _add_tokenizer(writer, config)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN2, held)
    for name, tensor in load_file(TINY / "model.safetensors").items():
        known = names.get_name(name, (".weight", ".bias"))
        if known == without:
            continue
        if quantised and tensor.ndim == 2:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(known, gguf.quants.quantize(tensor, kind), raw_dtype=kind)
        else:
            writer.add_tensor(known, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _add_tokenizer(writer: gguf.GGUFWriter, config: dict[str, int]) -> None:
    read = json.loads((TINY / "tokenizer.json").read_text())
    special = {token["content"] for token in read["added_tokens"]}
    words = sorted(read["model"]["vocab"], key=read["model"]["vocab"].__getitem__)
    kinds = [gguf.TokenType.CONTROL if w in special else gguf.TokenType.NORMAL for w in words]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(words)
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(pair) for pair in read["model"]["merges"]])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    writer.add_add_bos_token(False)
    writer.add_chat_template((TINY / "chat_template.jinja").read_text())
