"""The deployment is what its docs say; `plenum_fleet/e2e/test_team.py` starts it without Docker."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "deploy/compose.yaml").read_text(encoding="utf-8")
TEMPLATE = (ROOT / "deploy/.env.template").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(TEXT)["services"]
    return read


def test_every_variable_is_in_the_template_and_has_no_value_there() -> None:
    wanted = set(re.findall(r"\$\{(\w+)", TEXT))
    assert re.findall(r"^(\w+)=(.*)$", TEMPLATE, re.MULTILINE) == [
        (name, "") for name in re.findall(r"^(\w+)=", TEMPLATE, re.MULTILINE)
    ]
    assert wanted == set(re.findall(r"^(\w+)=", TEMPLATE, re.MULTILINE))


def test_a_missing_password_stops_compose_and_none_stands_in_a_file() -> None:
    for name in re.findall(r"^(\w*(?:KEY|PASSWORD))=", TEMPLATE, re.MULTILINE):
        uses = re.findall(rf"\$\{{{name}(.*?)\}}", TEXT)
        assert uses
        assert all(use.startswith(":?") for use in uses), name
    assert "deploy/.env" in (ROOT / ".gitignore").read_text().splitlines()


def test_services_find_each_other_by_names_and_ports(services: dict[str, Any]) -> None:
    assert set(services) == {"postgres", "s3", "prepare", "mlflow"}
    for name in ("prepare", "mlflow"):
        environment = services[name]["environment"]
        assert environment["PGHOST"] in services
        assert environment["PGUSER"] == services["postgres"]["environment"]["POSTGRES_USER"]
        assert environment["PGDATABASE"] == services["postgres"]["environment"]["POSTGRES_DB"]
        assert environment["MLFLOW_S3_ENDPOINT_URL"] == "http://s3:8333"
        assert set(services[name]["depends_on"]) <= set(services)
    assert {"-s3.port=8333", "-bucket=plenum"} <= set(services["s3"]["command"])
    started = services["mlflow"]["entrypoint"]
    assert "--artifacts-destination=s3://plenum/artifacts" in started
    assert "--port=5000" in started


def test_only_mlflow_is_reachable_and_from_this_machine_alone(services: dict[str, Any]) -> None:
    ports = {name: service.get("ports", []) for name, service in services.items()}
    assert ports == {
        **{name: [] for name in ("postgres", "s3", "prepare")},
        "mlflow": ["127.0.0.1:${MLFLOW_PORT:-5000}:5000"],
    }
    images = [service["image"] for service in services.values()]
    assert not any("minio" in image or image.endswith(":latest") for image in images)


def test_docs_name_what_there_is() -> None:
    docs = (ROOT / "docs/scaling.md").read_text(encoding="utf-8")
    for path in re.findall(r"\bdeploy/[\w./]+\w", docs):
        assert path == "deploy/.env" or (ROOT / path).exists(), path
    for service in re.findall(r"exec .*\\\n\s+(\w+) ", docs):
        assert service in yaml.safe_load(TEXT)["services"]


def test_a_job_of_kuberay_fits_our_image_and_our_ray() -> None:
    text = (ROOT / "deploy/rayjob.yaml").read_text(encoding="utf-8")
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (extras,) = re.findall(r"EXTRAS=(\w+)", text)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"][extras][0].startswith("ray[default]")
    job = yaml.safe_load(text)["spec"]
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert f"\nray=={job['rayClusterSpec']['rayVersion']} " in pins
    folder = Path(job["entrypoint"].split()[1]).parent
    assert f"WORKDIR {folder}\n" in image
    groups = [job["rayClusterSpec"]["headGroupSpec"], *job["rayClusterSpec"]["workerGroupSpecs"]]
    for group in groups:
        (container,) = group["template"]["spec"]["containers"]
        assert f"WORKDIR {container['workingDir']}\n" in image
        (mount,) = container["volumeMounts"]
        assert f"journals={mount['mountPath']}/" in job["entrypoint"]
