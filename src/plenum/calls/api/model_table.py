"""LiteLLM's table of models, read without LiteLLM, for servers that are called directly.

LiteLLM takes two seconds and 100 MB to import, and carries none of their calls. It is asked where
the table alone doesn't say.
"""

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SELF_HOSTED = ("hosted_vllm", "vllm", "openai_like", "custom_openai", "lm_studio", "llamafile")
COMPATIBLE = ("openai", "ollama", *SELF_HOSTED)
"""Providers with OpenAI's protocol: OpenAI, and servers that one runs oneself."""
_ORDER = ("temperature", "max_tokens", "response_format", "seed", "logprobs")
"""Parameters that any model takes but the odd ones, in the order in which LiteLLM returns them."""
_ODD = re.compile(r"gpt-[56]|audio|^gpt-4$|^gpt-3\.5-turbo-16k$|(^|/)o\d")
"""Models of OpenAI's that refuse or rename some of them; the rules are code of LiteLLM's."""


@cache
def read_models() -> Mapping[str, Mapping[str, Any]] | None:
    """Read what LiteLLM lists of models that are called directly, by name; ``None`` if it can't."""
    # by these settings LiteLLM calls a proxy of its own, or fetches another table
    usual = {"USE_LITELLM_PROXY": "false", "LITELLM_LOCAL_MODEL_COST_MAP": "true"}
    spec = find_spec("litellm")
    if spec is None or any(os.environ.get(n, usual[n]).lower() != usual[n] for n in usual):
        return None
    path = Path(spec.origin or "").with_name("model_prices_and_context_window_backup.json")
    try:
        table = json.loads(path.read_bytes())
    except (OSError, ValueError):  # another version may keep it elsewhere
        return None
    return {n: each for n, each in table.items() if each.get("litellm_provider") in COMPATIBLE}


def find_route(model: str) -> tuple[str, str, str | None] | None:
    """Find the name on the wire, the provider, and the endpoint of a model, if it has a known one.

    A name without a provider is OpenAI's if it is listed so. ``None`` if LiteLLM has to be asked.
    """
    models = read_models()
    if models is None:
        return None
    provider, slash, wire = model.partition("/")
    if slash and provider in COMPATIBLE:
        # The address at which Ollama listens if nothing else is set.
        local = os.environ.get("OLLAMA_API_BASE") or "http://localhost:11434"
        return wire, provider, local if provider == "ollama" else None
    listed = not slash and ":" not in model and models.get(model, {}).get("litellm_provider")
    return (model, "openai", None) if listed == "openai" else None


def map_parameters(wire: str, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """Map a call's parameters to those that a model takes; ``None`` if LiteLLM has to be asked."""
    if read_models() is None or _ODD.search(wire) or not parameters.keys() <= set(_ORDER):
        return None
    return {name: parameters[name] for name in _ORDER if parameters.get(name) is not None}


def find_entry(model: str) -> Mapping[str, Any]:
    """Find what LiteLLM lists of a model; empty if it doesn't list it."""
    models, route = read_models(), find_route(model)
    if models is None or route is None:
        from plenum.calls.api.litellm_import import litellm

        try:
            # The listed entry itself: a price that isn't listed per token comes back as 0.
            entry: Mapping[str, Any] = litellm.model_cost[litellm.get_model_info(model)["key"]]
        except Exception:  # LiteLLM raises several types for a model that it doesn't list
            return {}
        return entry
    # an own model is listed without what the owner added, and a snapshot without its date
    added = r"(:[^:]*){3}$" if "ft:" in model else r"-\d{4}-\d{2}-\d{2}$"
    any_case = {name.lower(): entry for name, entry in models.items()} | dict(models)
    names = (model, route[0], re.sub(added, "", model))
    wanted = (any_case.get(n) or any_case.get(n.lower(), {}) for n in names)
    return next((entry for entry in wanted if entry.get("litellm_provider") == route[1]), {})
