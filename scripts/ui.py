"""Open MLflow's UI on the results in the working directory.

python scripts/ui.py [port=5000]
python scripts/ui.py store=FILE artifacts=FOLDER [port=5000]     a tracking server instead
"""

import os
import subprocess
import sys
from pathlib import Path

try:
    from plenum.base.errors import UserError
    from plenum.cli import front_door
except ModuleNotFoundError as missing:  # a Python without the environment that `make` makes
    from environment import explain

    raise explain(missing) from None

LOCAL = "mlruns/mlflow.db"


def main() -> None:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(str(__doc__).strip())
        return
    given = read_arguments(sys.argv[1:])
    store, port = given["store"], given["port"]
    if not given["artifacts"] and not Path(store).is_file():
        raise UserError(f"{store}: no results here yet; run a sweep in this folder first")
    # MLflow would make or migrate a database in place, where a kill leaves it broken.
    if given["artifacts"]:
        prepare("store", f"sqlite:///{store}")
    else:
        prepare("views", store, f"http://127.0.0.1:{port}")
    environment = {
        # LiteLLM's price list must not be fetched: without internet the server would hang at start.
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "PYTHONSAFEPATH": "1",  # a file here may be named as a module of Python
    }
    command = compose_command(**given)
    sys.stdout.flush()
    os.execve(command[0], command, {**os.environ, **environment})


def read_arguments(arguments: list[str]) -> dict[str, str]:
    """Read the port, the store, and the folder of artifacts, which a tracking server has."""
    given = {"port": "5000", "store": LOCAL, "artifacts": ""}
    for argument in arguments:
        key, sign, value = argument.partition("=")
        if not (sign and value and key in given):
            raise UserError(f"{argument}: give port=5000, store=FILE or artifacts=FOLDER")
        given[key] = value
    if not given["port"].isdecimal() or not 0 < int(given["port"]) < 65536:
        raise UserError(f"port: {given['port']}; a number from 1 to 65535")
    return given


def prepare(module: str, *arguments: str) -> None:
    done = subprocess.run([sys.executable, "-Pm", f"plenum.tracking.{module}", *arguments])
    if done.returncode:
        raise SystemExit(done.returncode)


def compose_command(port: str, store: str, artifacts: str = "") -> list[str]:
    """The server's command; it names the hosts, because MLflow's own list lets others pass."""
    hosts = ",".join(f"{host}:{port}" for host in ("localhost", "127.0.0.1", "[::1]"))
    kept = ["--artifacts-destination", artifacts] if artifacts else []
    return [
        *(sys.executable, "-m", "mlflow", "server", "--workers", "1"),
        *("--host", "127.0.0.1", "--port", port, "--allowed-hosts", hosts),
        *("--backend-store-uri", f"sqlite:///{store}", *kept),
    ]


if __name__ == "__main__":
    front_door(main)
