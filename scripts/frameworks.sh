#!/bin/sh
# Make an environment of its own for each framework whose example the tests play, in .frameworks/NAME:
#
#     sh scripts/frameworks.sh langgraph openai_agents     # of tests/frameworks/*.txt; all but crewai without a name
#
# tests/frameworks/NAME.txt has the versions. An environment whose versions are still those is kept.
set -eu
cd "$(dirname "$0")/.."
for name in ${*:-langgraph openai_agents autogen agent_framework}; do
    versions=tests/frameworks/$name.txt
    folder=.frameworks/$name
    [ -f "$versions" ] || { echo "$name: no such framework; there are" tests/frameworks/*.txt >&2; exit 2; }
    cmp -s "$versions" "$folder/versions.txt" && continue
    rm -rf "$folder"
    "${PYTHON:-python3}" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$versions"
    cp "$versions" "$folder/versions.txt"
done
