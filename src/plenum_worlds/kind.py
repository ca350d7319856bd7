"""Worlds as a kind of study: references to the code that plenum uses for them."""

from plenum.design.factors import FACTORS
from plenum.design.kinds import Kind

_FACTORS = (
    "task", "consensus", "diversity", "volatility", "policy", "agents", "turns", "runs", "view",
    "world",
)  # fmt: skip
"""The factors that only conditions in worlds have."""

KIND = Kind(
    name="world",
    plural="worlds",
    tasks=(),
    assumed_answers="answers as long as sampling.max_tokens allows",
    factors=(*FACTORS, *_FACTORS),
    repeated=("scenario", "roles", "protocol", "memory"),
    tables=("ensemble", "replicates"),
    parts={
        "compose": "plenum_worlds.compose:compose_world",
        "conversation": "plenum_worlds.episode:Episode",
        "longest_run": "plenum_worlds.cost:longest_run",
        "longest_answer": "plenum_worlds.cost:longest_answer",
        "estimates": "plenum_worlds.estimates:estimate_episodes",
        "tables": "plenum_worlds.tracking:tabulate_episodes",
        "tracked": "plenum_worlds.tracking:read_fields",
        "by_round": "plenum_worlds.tracking:measure_rounds",
        "report_tables": "plenum_worlds.reports.publish:publish_world_tables",
        "report_frames": "plenum_worlds.reports.publish:frames",
        "report_figures": "plenum_worlds.reports.figures:figures",
        "report": "plenum_worlds.reports.page:compose_world_page",
        "findings": "plenum_worlds.reports.findings:sentences",
        "explorer": "plenum_worlds.reports.explorer:EXPLORER",
        "staged": "plenum_worlds.stage:stage_run",
        "tasks": "plenum_worlds.registry:WORLDS",
        "simulated_agent": "plenum_worlds.simulated_agents:answer",
    },
    more="more worlds: docs/worlds.md",
    settings={
        "task": "plenum_worlds.settings:WorldTaskConfig",
        "consensus": "plenum_worlds.settings:ConsensusConfig",
        "diversity": "plenum_worlds.settings:DiversityConfig",
        "volatility": "plenum_worlds.settings:VolatilityConfig",
    },
    named_by=("task", "model"),
)
