"""How many lines the sweep of `make run` leaves on a screen of 80 columns.

The sweep runs on a pseudo-terminal of 80 x 45, whose cursor is followed: lines that a live display
writes over count once. Lines from the first table on are the answer, those before it progress.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
COLUMNS, ROWS = 80, 45
SWEEP = ("-m", "roles=on,off", "model=uniform,mixed")
_PART = re.compile(r"\x1b\[([\d;]*)([A-Za-z])|\x1b\[\?\d+[hl]|\x1b[()][A-Z0-9]|\r|\n|[^\x1b\r\n]+")
_LONGEST_S = 600


def measure(quick: bool) -> dict[str, Any]:
    """The figures of this part.

    Returns
    -------
    dict
        ``screen_lines``: from the table of conditions to the prompt; ``screen_progress_lines``:
        what stands above them; ``screen_widest``: columns of the widest line of the answer.
    """
    sweep = (*SWEEP, "replicates=4") if quick else SWEEP
    with tempfile.TemporaryDirectory() as folder:
        lines = lines_of(_on_a_terminal([sys.executable, str(ROOT / "run.py"), *sweep], folder))
    first = next(at for at, line in enumerate(lines) if line.startswith("Study default"))
    answer = lines[first:]
    print("\n".join(lines))
    return {
        "screen_lines": len(answer),
        "screen_progress_lines": first,
        "screen_widest": max(len(line.replace("\u0302", "")) for line in answer),
    }


def lines_of(written: str) -> list[str]:
    """The lines that stand in a terminal after all of a text was written to it."""
    lines, row, column = [""], 0, 0
    for part in _PART.finditer(written):
        text, end = part[0], part[2]
        count = int(part[1]) if (part[1] or "").isdigit() else 1
        if text == "\n":
            row += 1
            lines += [""] * (row - len(lines) + 1)
        elif text == "\r":
            column = 0
        elif end == "A":
            row = max(row - count, 0)
        elif end == "K":
            lines[row] = ""
        elif not text.startswith("\x1b"):
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
    while lines and not lines[-1].strip():
        lines.pop()
    return [piece for line in lines for piece in _pieces(line)]


def _pieces(line: str) -> list[str]:
    """A line as a terminal breaks it that is too narrow for it."""
    shown, pieces = line.rstrip(), []
    while len(shown.replace("\u0302", "")) > COLUMNS:
        pieces.append(shown[:COLUMNS])
        shown = shown[COLUMNS:]
    return [*pieces, shown]


def _on_a_terminal(command: list[str], folder: str) -> str:
    """What a command writes to a terminal of this size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    named = {"TERM": "xterm", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        command, cwd=folder, env=kept | named, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 65536):
            written += part
    except OSError:  # the terminal ends with its last writer
        pass
    finally:
        os.close(ours)
    if process.wait(_LONGEST_S) != 0:
        raise SystemExit(f"{' '.join(command)}:\n{written.decode(errors='replace')}")
    return written.decode("utf-8", "replace")
