#!/bin/sh
# Resolve pyproject.toml's ranges, with all extras, in a fresh virtual environment, and write the
# exact versions to constraints.txt. Call: sh scripts/constraints.sh [python]
set -eu
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"${1:-python3}" -m venv "$fresh"
"$fresh/bin/python" -m pip install --quiet --disable-pip-version-check -e '.[hosted,dev]'
{
    echo "# Exact versions of one resolution that passes the tests; made by \`make constraints\`."
    # Names and versions only: no hosts, no paths, no local build labels such as +cpu.
    "$fresh/bin/python" -m pip list --format=freeze --disable-pip-version-check --exclude-editable |
        grep -v -i -E '^(pip|setuptools|wheel|triton|(nvidia|cuda)-.*)==' | sed 's/+[A-Za-z0-9.]*$//'
} > constraints.txt
wc -l constraints.txt
