"""What differs from run to run, and what stands in its place: the one list of it.

Masked: run ids of MLflow, versions and commits, paths of this machine, dates, digests of files that
hold them (archives, Parquet), seconds and latencies. Journals of hosted models name the machine, so
their digests leave that out, and other digests of them are masked.
"""

import os
import re
import sys
from calendar import month_name
from pathlib import Path

VOLATILE = re.compile(r"(^|[._])(seconds|latency\w*|run_id|sha256_ensemble|sha256_replicates)$")
"""Names of params, metrics, columns and keys whose values are masked."""

MASK = "*"

_WRAPPED = re.compile(r"^Next\. .+\n(?:(?!stderr:|\$ ).+\n)*", re.M)
"""A line that names a path, and so is wrapped by the path's length."""


class Masks:
    """Replaces what differs from run to run in texts.

    Parameters
    ----------
    root, work
        The checkout, and the folder in which the studies were run.
    """

    def __init__(self, root: Path, work: Path) -> None:
        relative = os.path.relpath(root, work)
        pythons = (sys.executable, os.path.relpath(sys.executable, work))
        python = "|".join(map(re.escape, pythons))
        self._patterns = [
            (re.compile(pattern), mask)
            for pattern, mask in (
                (re.escape(str(work)), "<work>"),
                (re.escape(str(root)), "<root>"),
                (rf"{re.escape(relative)}(?=/)", "<root>"),
                (r"(\.\./)*\.\.(?=<root>)", ""),
                (rf"'?(?:{python}|<root>/\.venv\S*/bin/python[\d.]*)'?", "<python>"),
                (r"\bpython[\d.]*(?= '?<root>)", "<python>"),
                (r"'(<root>/[^' ]*)'", r"\1"),  # quoted for its spaces
                (r"(?:\d+\.\d [kM]B, )?SHA-256 [0-9a-f]{64}\b", "SHA-256 <sha256>"),
                (r"\b[0-9a-f]{32}\b", "<run>"),
                (r"#/experiments/\d+\b", "#/experiments/<number>"),  # by the cases run before
                (r"\b\d\.\d\.\d\+[0-9a-f]{7,40}(-dirty)?", "<version>"),
                (r"\b\d{4}-\d\d-\d\d[ T/]\d\d[:-]\d\d[:-]\d\d([.,]\d+)?", "<date>"),
                (rf"\b\d{{1,2}} ({'|'.join(month_name[1:])}) \d{{4}}\b", "<date>"),
                (r"\b17\d{11}\b|\b1[6-9]\d{8}(\.\d+)?\b", "<time>"),
                (
                    r"(?m)^(stderr: )?(writing|waiting|watch it|replicates \d+/\d+ \|).*\n",
                    "",
                ),  # slow machines
            )
        ]

    def hide(self, digest: str, mask: str) -> None:
        """Mask a digest of this machine, such as a hosted model's environment."""
        self._patterns.append((re.compile(re.escape(digest)), mask))

    def text(self, text: str) -> str:
        """The text with every volatile part masked."""
        for pattern, mask in self._patterns:
            text = pattern.sub(mask, text)
        return _WRAPPED.sub(lambda found: " ".join(found[0].split()) + "\n", text)
