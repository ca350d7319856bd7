"""MLflow as the store of studies: writing and reading.

Nothing is imported here, since MLflow takes seconds; but it is told to print no notices, which it
heeds only before its import.
"""

import os
from typing import TYPE_CHECKING

from plenum.base.moved import find_moved

for _name, _value in {
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "GIT_PYTHON_REFRESH": "quiet",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
}.items():
    os.environ.setdefault(_name, _value)

if not TYPE_CHECKING:  # a type checker is to see that plenum's own code says the module
    __getattr__ = find_moved(__name__, {
        "tracking.conditions": "tabulate_replicates TrackedCondition", "tracking.study": "Study",
    })  # fmt: skip
