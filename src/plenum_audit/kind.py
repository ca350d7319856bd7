"""Audited programs as a kind of study: references to the code that plenum uses for them."""

from plenum.design.kinds import Kind

KIND = Kind(
    name="program",
    plural="programs",
    tasks=("program",),
    assumed_answers="answers as long as the program's requests allow",
    factors=("task", "committee", "case", "knobs", "model", "backend", "settings", "seed"),
    repeated=(),
    tables=("replicates", "calls", "messages"),
    parts={
        "compose": "plenum_audit.programs.compose:refuse",
        "estimates": "plenum_audit.execution.summarise_program:estimate_program",
        "tables": "plenum_audit.tracking.programs:tabulate_programs",
        "tracked": "plenum_audit.tracking.programs:read_fields",
        "by_round": "plenum_audit.tracking.programs:measure_rounds",
        "simulated_agent": "plenum_audit.programs.simulated_agent:answer",
        "report_tables": "plenum_audit.reports.publish:report_tables",
        "findings": "plenum_verdicts.reports.publish:findings",
    },
    more="an audit's page: audit.html or suite.html, in its run in MLflow and where it was written",
    named_by=("committee", "case"),
    outcomes=("completed", "failed"),
    scripts={"audit": "plenum_audit.design:SCRIPT"},
)
