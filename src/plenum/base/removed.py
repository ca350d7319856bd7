"""Names that version 0.2.0 was the last to have, and what stays in the place of each."""

from collections.abc import Iterable, Mapping

from plenum.base.errors import UserError

REMOVED: Mapping[str, str] = {
    "scripts/fit.py": "docs/published-runs.md says what the fits showed",
    "scripts/fault_server.py": "only plenum's own tests start that server",
    "scripts/theory.py": "docs/worlds.md says what its model showed, and how it is proven",
    "scripts/train_tiny_model.py": "model=tiny has the weights that it made",
    "backend.fit": "backend=simulated keeps its other settings",
    "fit": "scripts/plan.py plans from the runs of a study",
    "profile": "repeats=, vary=[wording,order] and the columns of logs= say what makes runs differ",
    "fault_rate": "overrides.fault_rate fails a share of a program's requests",
    "buy": "of logs=, suite=true says where the variance lies",
    "aa": "gate=... alone asks how often that gate errs",
    "sources": "of logs=, suite=true says it wherever a column differs",
    "risk": "decide=.1 accepts 10 % of wrong acts; decide=true is 5 %",
    "agree": "all runs have to agree",
    "fix": "votes over runs and other settings are programs of their own, to be audited as such",
    "temperatures": "overrides.temperature changes the requests of a program of its own",
    "committee.clerk": "committee.extract=regex:..., json:PATH or name reads a text",
    "committee.extract=clerk": "committee.extract=regex:..., json:PATH or name reads a text",
    "committee.elicit": "a program reports preferences itself: run.say(..., preferences=...)",
    "inspect_scores": "audit.json has the verdicts of all cases",
    "objective": "conditions.csv has every estimate; of many the best one would be so by chance",
    "otlp": "audit.json and audit.intoto.json have every verdict",
    "study_pages": "scripts/papers.py makes the pages of all its studies",
    "journals=s3:": "journals lie in a folder, which several machines may share",
    "folder=s3:": "journals lie in a folder, which several machines may share",
    "out=s3:": "files are written to a folder",
    "archive=s3:": "an archive is a file",
    "durable": "each turn is on the disk of the journals' folder before the next call",
    "logs=s3:": "logs are files here",
    "interval=bca": "there are jackknife, percentile and seed_compatible",
    "interval=bootstrap_t": "there are jackknife, percentile and seed_compatible",
    "figure=levels": "conditions.csv has every λ̂ of a large study by its factors",
    "figure=switches": "conditions.csv, the tables and the page's view Compare have them by seat",
    "figure=seats": "the page of a study shows every seat's preferences turn by turn",
    "half_width": "scripts/plan.py says how many replicates a difference takes, before they run",
    "looks": "scripts/plan.py says how many replicates a difference takes, before they run",
    "maximum": "scripts/plan.py says how many replicates a difference takes, before they run",
    "spending": "scripts/plan.py says how many replicates a difference takes, before they run",
    "tracking.uri=postgres": "give the address of MLflow's server, which writes to PostgreSQL",
}
"""Scripts, settings and values (``KEY=VALUE``), each as a user gives it."""


def refuse_removed(names: Iterable[str]) -> None:
    """Refuse the first name that is no longer there, in one line.

    Parameters
    ----------
    names
        Scripts, keys of settings, or arguments of a command line such as ``+backend.fit=x``.

    Raises
    ------
    UserError
        One of them is in :data:`REMOVED`.
    """
    for name in names:
        given = name.lstrip("+~").replace("'", "").replace('"', "")  # quotes for Hydra
        given = given.lower() if "=" in given else given  # a scheme may be written S3
        for gone, instead in REMOVED.items():
            longer = gone if "=" in gone else (f"{gone}=", f"{gone}.")
            if given == gone or given.startswith(longer):
                raise UserError(f"{gone.rstrip(':')}: it left after version 0.2.0; {instead}")
