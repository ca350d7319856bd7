"""A toy kind of study: a model flips a coin ``rounds`` times, and the share of heads is estimated.

It is a package of its own, as an outside one is: ``pyproject.toml`` names the kind and the folder
of its configs as entry points, and the code imports plenum by its modules.
"""

from plenum.design.kinds import Kind

KIND = Kind(
    name="coin",
    plural="coins",
    tasks=("coin",),
    assumed_answers="one word",
    factors=("task", "heads", "model", "backend", "settings", "rounds", "seed"),
    repeated=(),
    tables=("replicates",),
    settings={"task": "coin.settings:CoinTaskConfig"},
    parts={
        "compose": "coin.flips:compose",
        "conversation": "coin.flips:Flips",
        "longest_run": "copy:copy",
        "longest_answer": "coin.flips:find_longest_answer",
        "simulated_agent": "coin.flips:answer",
        "estimates": "coin.flips:estimates",
        "tables": "coin.flips:tables",
        "tracked": "coin.flips:read_fields",
        "by_round": "coin.flips:by_round",
        "report_tables": "coin.flips:report_tables",
        "report_frames": "coin.flips:report_frames",
        "findings": "coin.flips:write_findings",
    },
)
