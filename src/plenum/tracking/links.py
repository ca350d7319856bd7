"""Print the pages of MLflow's UI on which the studies of a local store are compared.

python -m plenum.tracking.links mlruns/mlflow.db http://127.0.0.1:5000
"""

import sys
from pathlib import Path

from plenum.base.errors import UserError
from plenum.tracking import views
from plenum.tracking.database import rows

_STUDIES = """
    SELECT experiment_id, name, EXISTS (
        SELECT 1 FROM experiment_tags
        WHERE experiment_tags.experiment_id = experiments.experiment_id AND key = ?
    )
    FROM experiments
    WHERE lifecycle_stage = 'active' AND EXISTS (
        SELECT 1 FROM runs JOIN tags USING (run_uuid)
        WHERE runs.experiment_id = experiments.experiment_id
          AND runs.lifecycle_stage = 'active'
          AND tags.key = 'plenum.kind' AND tags.value = 'condition'
    )
    ORDER BY name
"""


def links(database: Path, server: str) -> dict[str, str]:
    """The page that compares a study's conditions, by study; none where there is no store yet.

    Parameters
    ----------
    database
        The SQLite file of the store.
    server
        The address at which it is served.

    Raises
    ------
    UserError
        The file is no SQLite database, or a damaged one.
    """
    studies = rows(database.resolve(), _STUDIES, f"{views.TAG}{views.CONDITIONS}")
    return {name: views.link(server, str(number), bool(saved)) for number, name, saved in studies}


def main() -> None:
    """Print one line a study."""
    database, server = sys.argv[1:]
    try:
        pages = links(Path(database), server)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    print("conditions by chart, once the server is up:" if pages else "no study here yet: make run")
    width = max(map(len, pages), default=0)
    for study, page in pages.items():
        print(f"  {study:{width}}  {page}")


if __name__ == "__main__":
    main()
