"""Golden files of what users rely on, made of small studies; see ``python -m tests.golden --help``.

Nothing here imports plenum: the studies are run through the command line, and what they leave is
read from files and from MLflow's database, so that the check stands while the code is rebuilt.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # of ``forking``, without pytest
