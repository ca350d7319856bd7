"""The design: factors, settings and their checks, conditions and their identity, composing."""

from plenum.base.moved import find_moved

__getattr__ = find_moved(
    __name__,
    {
        "design.backend_extensions": "BackendExtension",
        "design.compose": "complete_backend parse_job",
        "design.condition": "Condition list_changed_settings",
        "design.job": "Job",
        "design.kinds": "Kind",
        "design.ranges": "Count Float Positive Probability Text Whole",
        "design.schema": "Config TaskConfig",
        "design.settings": "Backend Calls Sampling",
    },
)
