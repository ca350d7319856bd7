"""What version 0.2.0 left: a small study, its archive and tables, and a study that is half paid.

python -m tests.golden.upgrade CHECKOUT     writes ``v020.tar.xz`` anew by ``.venv`` of a checkout
"""

import os
import sys
from pathlib import Path

from openai_server import serving

from . import old

FILE = Path(__file__).with_name("v020.tar.xz")
PORT = 38219
"""Of the server: a URL is part of a condition's identity, so that it has to be the same again."""
SMALL = "-m study=small scenario=HL-01 roles=on,off model=uniform,mixed replicates=4 rounds=5"
PAID = (
    "-m study=paid scenario=HL-01 roles=on,off model=uniform model.default=ollama/tiny"
    " backend=api replicates=2 rounds=2 calls.max_attempts=1"
)
BOUGHT = 40
"""Calls that the budget of version 0.2.0 allowed, of 64."""


def environment(**more: str) -> dict[str, str]:
    """Variables of a command that calls the server; Ollama's needs no key."""
    return {"OLLAMA_API_BASE": f"http://127.0.0.1:{PORT}", **more}


def make(checkout: Path) -> None:
    """Run everything with the code of a checkout, and pack what it left."""
    lines = {
        f"run.py {SMALL}": 0,
        "scripts/accounting.py study=small": 0,
        "scripts/export.py study=small out=small.zip": 0,
        f"run.py {PAID} budget.calls={BOUGHT}": 1,
    }
    variables = {**os.environ, **environment(COLUMNS="160")}
    # Its own interpreter: entry points of another version name modules that it doesn't have.
    python = [str(checkout / ".venv/bin/python")]
    with serving(PORT):
        old.pack(FILE, python, checkout, lines, ["small.zip"], variables)


if __name__ == "__main__":
    make(Path(sys.argv[1]).resolve())
