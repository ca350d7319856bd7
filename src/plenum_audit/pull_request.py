"""The comment on a pull request: one an audit, which is edited from then on.

``python -m plenum_audit.pull_request FILE NAME`` reads what GitHub Actions sets in the environment.
A comment that can't be written is a warning of the job, since the verdict is known without it.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from plenum.base.exits import format_error

_LONGEST = 60_000
"""Number of UTF-16 units of a comment, which GitHub counts; it allows 65,536."""
_PAGE = 100
_TIMEOUT_S = 30.0


def comment_on_pull_request(body: str, name: str, environment: Mapping[str, str]) -> str:
    """Write or edit the comment of this name, and return its address.

    Parameters
    ----------
    body
        Markdown.
    name
        Name of the audit: comments of other names stay.
    environment
        Variables of GitHub Actions: ``GITHUB_API_URL``, ``GITHUB_REPOSITORY``,
        ``GITHUB_EVENT_PATH`` and ``GITHUB_TOKEN``.

    Raises
    ------
    KeyError, OSError, ValueError
        The event is none of a pull request, or a variable is missing.
    httpx.HTTPError
        GitHub doesn't answer, or refuses it.
    """
    event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    number = int(event["pull_request"]["number"])
    mark = f"<!-- plenum: {re.sub('-(?=-)', '- ', name)} -->"  # two hyphens would end it
    if len(units := body.encode("utf-16-le")) > 2 * _LONGEST:
        kept_part = units[: 2 * _LONGEST].decode("utf-16-le", "ignore")
        body = f"{kept_part}\n\nThe rest is in the files of the audit.\n"
    repository = environment["GITHUB_REPOSITORY"]
    with httpx.Client(
        base_url=f"{environment['GITHUB_API_URL']}/repos/{repository}/issues",
        headers={
            "Authorization": f"Bearer {environment['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
        },
        timeout=_TIMEOUT_S,
    ) as client:
        own = _ask_own_name(client)
        kept = next((c["id"] for c in _comments(client, number) if _is_ours(c, mark, own)), None)
        text = {"body": f"{mark}\n{body}"}
        if kept is None:
            answer = client.post(f"/{number}/comments", json=text)
        else:
            answer = client.patch(f"/comments/{kept}", json=text)
        answer.raise_for_status()
        return str(answer.json().get("html_url", ""))


def _is_ours(comment: Mapping[str, Any], mark: str, own: str) -> bool:
    """Return whether a comment begins with the mark, and whoever owns the token wrote it."""
    author = comment.get("user") or {}
    return str(comment.get("body") or "").startswith(mark) and author.get("login") == own


def _ask_own_name(client: httpx.Client) -> str:
    """Return the login of the token's owner; that of a job's own token, which can't ask for it."""
    answer = client.get(str(client.base_url).partition("/repos/")[0] + "/user")
    return str(answer.json()["login"]) if answer.is_success else "github-actions[bot]"


def _comments(client: httpx.Client, number: int) -> Iterator[dict[str, Any]]:
    """Yield the comments of a pull request, the first one first."""
    page, full = 1, True
    while full:
        asked = {"per_page": _PAGE, "page": page}
        answer = client.get(f"/{number}/comments", params=asked).raise_for_status()
        found = answer.json()
        yield from found
        page, full = page + 1, len(found) == _PAGE


def main() -> None:
    """Comment with the text of a file; print a warning of GitHub Actions if that can't be done."""
    file, name = sys.argv[1:]
    try:
        body = Path(file).read_text(encoding="utf-8", errors="replace")
        print(comment_on_pull_request(body, name, os.environ))
    except (KeyError, OSError, ValueError, TypeError, httpx.HTTPError) as error:
        print(f"::warning::plenum could not comment: {type(error).__name__}: {format_error(error)}")


if __name__ == "__main__":
    main()
