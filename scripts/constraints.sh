#!/bin/sh
# Resolve pyproject.toml's ranges, with all extras and for every platform, and write versions and
# hashes to constraints.txt. Versions that it has are kept where the ranges allow them; without the
# file all are the newest. Call: sh scripts/constraints.sh [python]
set -eu
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"${1:-python3}" -m venv "$fresh/env"
"$fresh/env/bin/python" -m pip install --quiet --disable-pip-version-check uv
# The versions of now; torch's extra hash isn't in the index and is added again below.
test ! -f constraints.txt || cp constraints.txt "$fresh/pins.txt"
# Names, versions and hashes only: no hosts and no paths.
printf 'pip\nsetuptools\n' | "$fresh/env/bin/uv" pip compile --quiet \
    --universal --fork-strategy fewest --all-extras --generate-hashes \
    --no-header --no-annotate -o "$fresh/pins.txt" pyproject.toml -
# torch's builds for the CPU alone lie in an index of its own: the one that this machine installs.
torch=$(sed -n 's/^torch==\([^ ]*\) .*/\1/p' "$fresh/pins.txt")
"$fresh/env/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps \
    --dest "$fresh" "torch==$torch"
cpu=$("$fresh/env/bin/python" -m pip hash "$fresh"/torch-* | sed -n 's/^--hash=//p')
{
    echo "# Exact versions of one resolution that passes the tests; made by \`make constraints\`."
    if grep -q "$cpu" "$fresh/pins.txt"; then
        cat "$fresh/pins.txt"
    else
        awk -v cpu="$cpu" '{ print } /^torch==/ { print "    --hash=" cpu " \\" }' \
            "$fresh/pins.txt"
    fi
} > constraints.txt
grep -c '==' constraints.txt
