"""The design: factors, settings and their checks, conditions and their identity, composing."""

from typing import TYPE_CHECKING

from plenum.base.moved import find_moved

if not TYPE_CHECKING:  # a type checker is to see that plenum's own code says the module
    __getattr__ = find_moved(__name__, {
        "design.backend_extensions": "BackendExtension",
        "design.compose": "complete_backend parse_job",
        "design.condition": "Condition list_changed_settings", "design.job": "Job",
        "design.kinds": "Kind", "design.ranges": "Count Float Positive Probability Text Whole",
        "design.schema": "Config TaskConfig", "design.settings": "Backend Calls Sampling",
    })  # fmt: skip
