#!/bin/sh
# Make an environment of its own for each tool that the tests use as its users do, in .frameworks/NAME:
#
#     sh scripts/frameworks.sh langgraph crewai    # of tests/plenum_audit/frameworks/; without a name all but crewai
#
# NAME.txt lists packages of Python, NAME.npm packages of npm. An environment that has these versions is kept.
set -eu
cd "$(dirname "$0")/.."
lists=tests/plenum_audit/frameworks
[ $# -gt 0 ] || set -- $(ls "$lists" | sed -n '/^crewai/d; s/\.[a-z]*$//p')
for name in "$@"; do
    versions=$(ls "$lists/$name".txt "$lists/$name".npm 2> /dev/null) ||
        [ -n "$versions" ] ||
        { echo "$name: no such framework; there are $(ls "$lists" | tr '\n' ' ')" >&2; exit 2; }
    folder=.frameworks/$name
    cmp -s "$versions" "$folder/versions.txt" && continue
    rm -rf "$folder"
    case $versions in
        *.npm)
            command -v npm > /dev/null || { echo "$name: needs npm, left out" >&2; continue; }
            mkdir -p "$folder"
            xargs npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" < "$versions"
            ;;
        *)
            "${PYTHON:-python3}" -m venv "$folder"
            "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$versions"
            ;;
    esac
    cp "$versions" "$folder/versions.txt"
done
