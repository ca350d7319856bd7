"""LiteLLM's table of models, read without LiteLLM, for servers that are called directly.

LiteLLM takes two seconds and 100 MB to import, and carries none of their calls. Where a function
here returns ``None``, the table alone doesn't say, and LiteLLM is asked.
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
_OWN, _DATE = r"(:[^:]*){3}$", r"-\d{4}-\d{2}-\d{2}$"


@cache
def read_models() -> Mapping[str, Mapping[str, Any]] | None:
    """Read what LiteLLM lists of models that are called directly, by the name that it lists."""
    proxy = os.environ.get("USE_LITELLM_PROXY", "false").lower()
    local = os.environ.get("LITELLM_LOCAL_MODEL_COST_MAP", "true").lower()
    spec = find_spec("litellm")
    # by these settings LiteLLM calls a proxy of its own, or fetches another table
    if proxy != "false" or local != "true" or spec is None:
        return None
    path = Path(spec.origin or "").with_name("model_prices_and_context_window_backup.json")
    try:
        table = json.loads(path.read_bytes())
    except (OSError, ValueError):  # another version may keep it elsewhere
        return None
    return {n: each for n, each in table.items() if each.get("litellm_provider") in COMPATIBLE}


def find_route(model: str) -> tuple[str, str, str | None] | None:
    """Find the name on the wire, the provider, and the endpoint of a model, if it has a known one.

    A name without a provider is OpenAI's if it is listed so.
    """
    models = read_models()
    if models is None:
        return None
    provider, slash, wire = model.partition("/")
    if slash and provider in COMPATIBLE:
        local = os.environ.get("OLLAMA_API_BASE") or "http://localhost:11434"
        return wire, provider, local if provider == "ollama" else None
    listed = not slash and ":" not in model and models.get(model, {}).get("litellm_provider")
    return (model, "openai", None) if listed == "openai" else None


def map_parameters(wire: str, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """Map a call's parameters to those that a model takes, where it takes them as they are."""
    if read_models() is None or _ODD.search(wire) or not parameters.keys() <= set(_ORDER):
        return None
    return {name: parameters[name] for name in _ORDER if parameters.get(name) is not None}


def find_entry(model: str) -> Mapping[str, Any] | None:
    """Find what is listed of a model; empty if it isn't listed."""
    models, route = read_models(), find_route(model)
    if models is None or route is None:
        return None
    wire, provider, _ = route
    # an own model is listed without what the owner added, and a snapshot without its date
    stripped = re.sub(_OWN if "ft:" in model else _DATE, "", model)
    any_case = {name.lower(): entry for name, entry in models.items()} | dict(models)
    found = (any_case.get(n) or any_case.get(n.lower(), {}) for n in (model, wire, stripped))
    return next((entry for entry in found if entry.get("litellm_provider") == provider), {})
