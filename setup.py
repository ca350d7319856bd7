"""The build: what lies beside ``src`` and a command reads travels in the wheel."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
LEFT_OUT = ("__pycache__", "bench", "*.sh", "published")
"""Benchmarks, and texts under another licence that a user has fetched into the checkout."""


class BuildWithProject(build_py):
    """A build that copies the project's folders to where ``plenum.base.project`` looks for them."""

    def run(self) -> None:
        """Build, and copy the folders unless the build is of an editable installation."""
        super().run()
        if self.editable_mode:  # an editable installation reads the checkout itself
            return
        target = Path(self.build_lib, "plenum", "_project")
        shutil.rmtree(target, ignore_errors=True)  # what an earlier build left
        for name in ("conf", "reference", "scenarios", "scripts"):
            left_out = shutil.ignore_patterns(*LEFT_OUT)
            shutil.copytree(ROOT / name, target / name, ignore=left_out)
        shutil.copyfile(ROOT / "run.py", target / "run.py")


setup(cmdclass={"build_py": BuildWithProject})
