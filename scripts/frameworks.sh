#!/bin/sh
# Make an environment of its own for each framework whose example the tests play, in .frameworks/NAME:
#
#     sh scripts/frameworks.sh langgraph crewai    # of tests/plenum_audit/frameworks/*.txt; without a name all but crewai
#
# An environment that has the versions of tests/plenum_audit/frameworks/NAME.txt is kept.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(ls tests/plenum_audit/frameworks | sed -n '/^crewai/d; s/\.txt$//p')
for name in "$@"; do
    versions=tests/plenum_audit/frameworks/$name.txt
    folder=.frameworks/$name
    [ -f "$versions" ] ||
        { echo "$name: no such framework; there are $(cd tests/plenum_audit/frameworks && echo *.txt)" >&2; exit 2; }
    cmp -s "$versions" "$folder/versions.txt" && continue
    rm -rf "$folder"
    "${PYTHON:-python3}" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$versions"
    cp "$versions" "$folder/versions.txt"
done
