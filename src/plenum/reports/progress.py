"""The progress of a study, while a sweep writes it and afterwards."""

import json
from pathlib import Path
from typing import Any

from plenum.tracking.tracker import plan_file


class StudyProgress:
    """stub"""

    def __init__(self, study: str, uri: str, journals: Path) -> None:
        self.study = study
        self.plan = plan_file(journals, uri, study)

    @property
    def kind(self) -> str:
        """Kind"""
        return str(json.loads(self.plan.read_text())["kind"]) if self.plan.exists() else ""

    def read(self) -> dict[str, Any]:
        """Stub"""
        return {"study": self.study, "running": False, "conditions": []}
