"""Loading of models: locate the files, download missing ones, and check that they can be hosted."""

from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from math import prod
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
from safetensors import safe_open
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from plenum.base.errors import UserError
from plenum.base.terminal import say
from plenum.calls.chat import Message
from plenum_hosted import attention, checkpoints, gguf_weights, template_probe
from plenum_hosted.attention import DecodingPlaces
from plenum_hosted.forms import Forms
from plenum_hosted.network import Network
from plenum_hosted.rows import DecodingBatch
from plenum_hosted.settings import Hosted
from plenum_hosted.tokens import ChatTokenizer, merge_system

_BY_A_SERVER = "; a server can run it: serve it with vLLM or llama.cpp, and take backend=api"
"""The way round for models that can't be hosted."""

_LAYERS = {"full_attention", "sliding_attention"}
"""Kinds of layers that can be hosted."""

_PATIENCE_S = 10.0
"""Seconds to wait for the hub's first answer. The number is plenum's own: a machine without a
network is told within it."""


@dataclass(frozen=True)
class LoadedModel:
    """A model that is ready to answer.

    Parameters
    ----------
    content
        An identifier of its files' content: a digest, or the hub's commit.
    stops
        Tokens that end an answer.
    context
        Tokens that prompt and answer may have together.
    written_out
        True if its weights were those of a GGUF file, which a library has made plain.
    """

    network: Network
    tokens: ChatTokenizer
    content: str
    stops: frozenset[int]
    context: int
    written_out: bool = False

    @cached_property
    def forms(self) -> Forms:
        """The forms of its constrained answers, made when the first is asked for."""
        return Forms(self.tokens.tokenizer, self.network.vocabulary, self.stops)


def load(model: str, settings: Hosted, device: torch.device) -> LoadedModel:
    """Load a model by name.

    Raises
    ------
    UserError
        Its files aren't here and can't be downloaded, or the model can't be hosted.
    """
    path, content = locate(model, settings.revision)
    attention.register()
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    written_out = checkpoints.is_gguf(path)
    if written_out:
        path = gguf_weights.write_out(model, path, content, settings.dtype)
    trusted = {"trust_remote_code": settings.trust_remote_code}
    try:
        config = AutoConfig.from_pretrained(path, **trusted)
        count = partial(gguf_weights.count_numbers, config, **trusted)
        checkpoints.refuse_larger(model, config, list_tensors(path), count)
        tokenizer = AutoTokenizer.from_pretrained(path, **trusted)
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            path,
            dtype=getattr(torch, settings.dtype),
            attn_implementation=attention.NAME,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are refused below, by name
            **trusted,
        )
    except UserError:
        raise
    except Exception as error:  # libraries, and a model's own code, raise whatever they like
        raise UserError(f"model {model}: can't be loaded: {_explain(error)}") from None
    network, info = loaded
    checkpoints.refuse_parts(model, info)
    _refuse_numbers(model, network, tokenizer)
    _refuse_unlike(model, network, settings.deterministic)
    tokens = ChatTokenizer(tokenizer)
    _settle_template(model, tokenizer, tokens)
    ready = Network(network.eval().requires_grad_(False).to(device))
    _try(model, ready)
    return LoadedModel(
        network=ready,
        tokens=tokens,
        content=content,
        stops=_stops(network, tokenizer),
        context=count_places(network.config),
        written_out=written_out,
    )


def list_tensors(folder: Path) -> dict[str, int]:
    """Count the numbers of each tensor of a checkpoint, in the files that transformers takes."""
    single, counts = folder / "model.safetensors", {}
    for file in [single] if single.is_file() else sorted(folder.glob("model-*.safetensors")):
        # A file that can't be read counts nothing: loading refuses it with its own words.
        with suppress(Exception), safe_open(file, "pt") as tensors:
            for name in tensors.keys():  # noqa: SIM118
                counts[name] = prod(tensors.get_slice(name).get_shape())
    return counts


def count_places(config: Any) -> int:
    """Return how many tokens a model's text part has places for, by its config."""
    places = getattr(config.get_text_config(), "max_position_embeddings", 0)
    # A config that names no limit, as of relative positions, has none: a number beyond every
    # prompt.
    return int(places or 0) or 1 << 30


def locate(model: str, revision: str) -> tuple[Path, str]:
    """Return a model's folder or GGUF file, and an identifier of its content.

    Raises
    ------
    UserError
        The files aren't here and can't be downloaded, or no hub has such a name.
    """
    folder = checkpoints.folder(model)
    if folder is not None:
        checkpoints.check_checkpoint(model, folder)
        return folder, checkpoints.digest(folder)
    if model.count("/") != 1:
        raise UserError(
            f"model {model}: neither a folder here nor an id of the Hugging Face hub (OWNER/NAME); "
            "take model=qwen2.5-7b, a folder or a GGUF file by model.name=NAME "
            "model.default=./PATH, or model=tiny, which needs no download"
        )
    options: dict[str, Any] = {"revision": revision, "allow_patterns": list(checkpoints.WANTED)}
    try:
        # First without the network: what is here is taken as it is.
        path = Path(snapshot_download(model, local_files_only=True, **options))
        checkpoints.check_checkpoint(model, path)
    except (LocalEntryNotFoundError, HfHubHTTPError, ValueError, UserError, OSError):
        path = _download(model, options)
        checkpoints.check_checkpoint(model, path)
    return path, path.name


def _download(model: str, options: dict[str, Any]) -> Path:
    try:
        # By itself the client would wait for an answer without end.
        HfApi().model_info(model, revision=options["revision"], timeout=_PATIENCE_S)
        return Path(snapshot_download(model, **options))
    except Exception as error:  # of the hub's client, of its HTTP client, or of what answered
        at = "" if options["revision"] == "main" else f" --revision {options['revision']}"
        raise UserError(
            f"model {model}: its weights are not on this machine and could not be downloaded "
            f"({type(error).__name__}); where there is a network run `hf download {model}{at} "
            f"--local-dir {model.rpartition('/')[2]}`, copy that folder here, and name it: "
            f"model.default=./{model.rpartition('/')[2]}; model=tiny needs no download"
        ) from None


def _refuse_numbers(model: str, network: Any, tokenizer: Any) -> None:
    """Refuse weights that aren't finite, and tokens that have none."""
    for name, weight in network.named_parameters():
        # Least and greatest show any NaN or infinity, without a copy of the weights.
        if not all(bool(end.isfinite()) for end in weight.aminmax()):
            raise UserError(
                f"model {model}: its weights {name} hold what is no number; download it again"
            )
    added = tokenizer.added_tokens_decoder
    last = max((n for n in tokenizer.get_vocab().values() if n not in added), default=0)
    if last >= (rows := network.get_input_embeddings().weight.shape[0]):
        raise UserError(
            f"model {model}: its tokenizer numbers tokens up to {last:,}, and it has weights for "
            f"{rows:,}; download it again"
        )


def _refuse_unlike(model: str, network: Any, deterministic: bool) -> None:
    """Refuse models whose layers keep anything but keys and values of the whole context."""
    config = network.config.get_text_config()
    if getattr(network, "_is_stateful", False):
        raise UserError(
            f"model {model}: {type(network).__name__} has layers with a state (state-space or "
            f"linear attention), and the hosted backend runs attention only{_BY_A_SERVER}"
        )
    kinds = sorted(set(getattr(config, "layer_types", None) or ()) - _LAYERS)
    if kinds:
        raise UserError(
            f"model {model}: it has layers of {', '.join(kinds)}; the hosted backend runs full and "
            f"sliding attention only{_BY_A_SERVER}"
        )
    if not getattr(network, "_supports_attention_backend", False):
        raise UserError(
            f"model {model}: {type(network).__name__} takes no other attention than its own, so "
            f"that the hosted backend can't run it{_BY_A_SERVER}"
        )
    experts = [name for name, _ in network.named_modules() if name.endswith("experts")]
    if experts and deterministic:
        raise UserError(
            f"model {model}: it is a mixture of experts ({experts[0]}), whose products have sizes "
            "that depend on the neighbours, so that its bytes don't repeat; "
            f"backend.deterministic=false runs it without the promise{_BY_A_SERVER}"
        )
    moving = sorted(_rope_kinds(config) & {"dynamic", "longrope"})
    if moving:
        raise UserError(
            f"model {model}: its positions are of type {moving[0]}, which follow the longest row "
            "of a batch; the hosted backend would give other answers in the company of other rows"
            f"{_BY_A_SERVER}"
        )
    if config.is_encoder_decoder:
        raise UserError(
            f"model {model}: it has an encoder; the hosted backend runs decoders only{_BY_A_SERVER}"
        )


def _rope_kinds(config: Any) -> set[str]:
    """Return the kinds of rotary positions that a config names, even if layers differ."""
    # Configs of newer transformers have the first name, older ones the second.
    info = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    parts = [info, *(part for part in info.values() if isinstance(part, dict))]
    named = (part.get("rope_type") or part.get("type") for part in parts)
    return {str(kind) for kind in named if kind}


def _try(model: str, network: Network) -> None:
    """Run every kind of pass once, on minimal input."""
    try:
        with torch.inference_mode():
            # Prefix, rest and step on two rows and a few tokens: each kind of matrix once.
            kept = network.prefix([0], 8)
            network.rest([(kept, 1, [0])], 8, 8, 2, 16)
            batch = DecodingBatch(network, 2, 16, frozenset())
            batch.step()
            if network.window and not _heeds_windows(network):
                raise ValueError("its attention isn't told which layers have a sliding window")
    except Exception as error:  # whatever a model's own code does with what it isn't made for
        raise UserError(
            f"model {model}: the hosted backend can't run {type(network.model).__name__}: "
            f"{_line(error)}{_BY_A_SERVER}"
        ) from None


def _heeds_windows(network: Network) -> bool:
    """Return whether layers take the mask of their window: hiding all of it leaves no numbers."""
    hidden = network.make_mask(1, 1, 1)
    masks = torch.cat((torch.zeros_like(hidden), hidden), dim=1)
    first = torch.zeros(1, dtype=torch.long, device=network.device)
    logits = network.step(first, first, masks, DecodingPlaces(*network.empty(1, 1)))
    return bool(logits.isnan().any())


def _settle_template(model: str, tokenizer: Any, tokens: ChatTokenizer) -> None:
    """Find out how the chat template takes a system message, and refuse one that can't be told."""
    if not tokenizer.chat_template:
        raise UserError(f"model {model}: its tokenizer has no chat template; take a chat model")
    special = tokenizer.special_tokens_map
    if excess := template_probe.find_excess(str(tokenizer.get_chat_template()), special):
        raise UserError(f"model {model}: its chat template can't write a conversation: {excess}")
    probe = Message("system", "the system message"), Message("user", "the question")
    problem = _problem_of_template(tokens, probe)
    if not problem:
        return
    if _problem_of_template(tokens, merge_system(probe)):
        raise UserError(f"model {model}: its chat template can't write a conversation: {problem}")
    tokens.merges = True
    _tell_of_merging(model)


def _problem_of_template(tokens: ChatTokenizer, probe: tuple[Message, ...]) -> str:
    """Describe what the template does wrong with a conversation; empty if it is written whole."""
    try:
        text = tokens.render(probe)
    except Exception as error:  # templates raise whatever their authors chose
        return _line(error)
    left_out = [message.role for message in probe if message.content not in text]
    return f"it leaves out the {left_out[0]} message" if left_out else ""


@cache
def _tell_of_merging(model: str) -> None:
    """Say once a process that the system message goes into the first user turn."""
    say(
        f"model {model}: its chat template takes no system message, so that each one begins the "
        "first user turn"
    )


def _stops(network: Any, tokenizer: Any) -> frozenset[int]:
    named = network.generation_config.eos_token_id
    stops = named if isinstance(named, list) else [named]
    return frozenset(t for t in (*stops, tokenizer.eos_token_id) if t is not None)


def _explain(error: Exception) -> str:
    if "trust_remote_code" in str(error):
        return "it brings code of its own; backend.trust_remote_code=true would run that"
    return _line(error)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
