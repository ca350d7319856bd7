#!/bin/sh
# Make an environment of its own for each tool that the tests use as its users do, in .frameworks/NAME:
#
#     sh scripts/frameworks.sh langgraph crewai llama_cpp    # of the lists below; without a name all but crewai
#
# NAME.txt lists packages of Python, NAME.npm packages of npm. An environment that has these versions is kept.
set -eu
cd "$(dirname "$0")/.."
lists="tests/plenum_audit/frameworks tests/plenum_hosted/servers"
names() { ls $lists | sed -n 's/\.txt$//p; s/\.npm$//p'; }
[ $# -gt 0 ] || set -- $(names | sed '/^crewai/d')
for name in "$@"; do
    versions=$(for list in $lists; do ls "$list/$name".txt "$list/$name".npm || true; done 2> /dev/null)
    [ -n "$versions" ] ||
        { echo "$name: no such framework; there are $(names | tr '\n' ' ')" >&2; exit 2; }
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
