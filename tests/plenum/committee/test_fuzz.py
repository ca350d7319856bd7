"""Odd replies are read as docs/protocol.md says, by an independent reading of that page."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts/bench"))

from attacks import fuzz


def test_twenty_thousand_odd_replies_are_read_as_the_page_says() -> None:
    read = fuzz.run(20_000, seed=1, processes=1)
    assert read["fuzz_misread"] == 0, read["examples"]
    assert min(read["fuzz_accepted"], read["fuzz_refused"]) > 0.2 * read["fuzz_replies"] == 4_000
