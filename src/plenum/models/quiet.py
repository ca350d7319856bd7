"""LiteLLM, imported so that it fetches nothing, reports nothing and prints nothing."""

import logging
import os

# Without this the import fetches a price list over the network.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
# In its default mode the import reads a .env file: keys come from the environment alone.
os.environ.setdefault("LITELLM_MODE", "PRODUCTION")

import litellm
from litellm import exceptions
from litellm.llms.openai.common_utils import OpenAIError

litellm.telemetry = False
litellm.suppress_debug_info = True
for _name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

__all__ = ["OpenAIError", "exceptions", "litellm"]
