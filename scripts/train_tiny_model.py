"""Train the model of the package, or measure how often its answers follow the protocol.

    python scripts/train_tiny_model.py                    # train from scratch, or go on
    python scripts/train_tiny_model.py --minutes 10       # stop after ten minutes, to go on later
    python scripts/train_tiny_model.py --evaluate         # greedy deliberations, parse rates

``--help`` lists the options; docs/tiny-model.md explains what is trained and on what.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("PLENUM_ROOT", str(Path(__file__).resolve().parents[1]))

from tiny_model.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
