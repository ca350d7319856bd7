"""A chat template tried in a process of its own, which may neither hang nor take all memory.

A template is a program that came with the weights. The process renders what a committee says, with
limits of time, memory and length, and ends with another status than 0 where they don't suffice.
"""

import json
import re
import resource
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from jinja2 import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

_SECONDS, _BYTES = 5, 1 << 30
"""Of the processor, and of memory: the process of a usual template takes less than a second, and a
fraction of the memory. Both are plenum's own."""
_LONGEST_TEMPLATE = 1_000_000
"""Letters; real ones have some thousands."""
_LONGEST_FRAME = 100_000
"""Letters that a template may write around the messages."""

_MARKS = re.compile(r"\{%-?\s*(?:end)?generation\s*-?%\}")
"""Marks for training, which are no part of Jinja."""

# As long as a long prompt: what a template does with each letter has to show.
_SAID = "A port must choose: a dam, a dyke, or moving. " * 200


def find_excess(template: str, special: Mapping[str, object]) -> str:
    """Describe the limit that a template breaks; empty if it keeps to all."""
    if len(template) > _LONGEST_TEMPLATE:
        return f"it has {len(template):,} letters, of {_LONGEST_TEMPLATE:,} allowed"
    given = json.dumps({"template": template, "special": {k: str(v) for k, v in special.items()}})
    # Isolated: neither this folder nor the user's packages are imported.
    command = [sys.executable, "-I", str(Path(__file__))]
    try:
        ended = subprocess.run(
            command,
            input=given,
            env={},  # a template that gets out of its sandbox finds no key
            text=True,
            capture_output=True,
            # By the clock, on a busy machine; the limit of the processor ends a template before.
            timeout=6 * _SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "it isn't written within seconds"
    return "" if ended.returncode == 0 else "it takes too long, or too much memory, to be written"


def _render() -> None:
    """Render conversations of a committee's shapes; other errors are told where they matter."""
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    given = json.load(sys.stdin)
    own = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )
    own.globals |= {"strftime_now": lambda form: form, "raise_exception": _raise}
    own.filters["tojson"] = lambda value, **form: json.dumps(value)
    template = own.from_string(_MARKS.sub("", given["template"]))
    for roles in (("system", "user"), ("user",), ("system", "user", "assistant", "user")):
        messages = [{"role": role, "content": _SAID} for role in roles]
        about = {**given["special"], "tools": None, "documents": None}
        try:
            text = template.render(messages=messages, add_generation_prompt=True, **about)
        except (TemplateError, TypeError, ValueError, KeyError, AttributeError):
            continue
        # A template may write a message several times, but not without end.
        if len(text) > _LONGEST_FRAME + 10 * len(roles) * len(_SAID):
            # Any status but 0 tells the parent that a limit was broken.
            sys.exit(3)


def _raise(message: str) -> None:
    raise TemplateError(message)


if __name__ == "__main__":
    with suppress(TemplateError):
        _render()
