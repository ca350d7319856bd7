#!/bin/sh
# Install plenum, editable, into an environment, every package checked against its hash:
#
#     sh scripts/install.sh .venv/bin/python [EXTRA ...]        # extras: hosted, ray, rayjobs, server, docs, dev
#
# constraints.txt has the versions and hashes, those of pip and setuptools too.
set -eu
python=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

awk '/^[a-z]/ { keep = /^(pip|setuptools)==/ } keep' "$root/constraints.txt" > "$scratch/pip.txt"
# A directory has no hash: what plenum depends on is installed first, and then plenum alone.
"$python" - "$root/pyproject.toml" "$@" > "$scratch/dependencies.txt" <<'END'
import sys
import tomllib

with open(sys.argv[1], "rb") as file:
    project = tomllib.load(file)["project"]
extras = project["optional-dependencies"]
unknown = [name for name in sys.argv[2:] if name not in extras]
if unknown:
    print(f"{unknown[0]}: no such extra; there are {', '.join(extras)}", file=sys.stderr)
    sys.exit(2)
print(*project["dependencies"], *(line for name in sys.argv[2:] for line in extras[name]), sep="\n")
END

pip() {
    command=$1
    shift
    "$python" -m pip "$command" --quiet --disable-pip-version-check --no-build-isolation "$@"
}
pip install --require-hashes -r "$scratch/pip.txt"
# Among builds with known hashes pip prefers the index's, with CUDA: a build for the CPU that the
# machine's settings put first is taken by its version, and its hash is checked here.
torch=$(sed -n 's/^torch==\([^ ]*\) .*/\1/p' "$root/constraints.txt")
if grep -q '^torch' "$scratch/dependencies.txt" &&
    ! "$python" -c "import torch; assert torch.__version__.startswith('$torch')" 2> /dev/null; then
    pip download --no-deps --dest "$scratch" "torch==$torch"
    hash=$("$python" -m pip hash "$scratch"/torch-* | sed -n 's/^--hash=//p')
    grep -q "$hash" "$root/constraints.txt" ||
        { echo "torch $torch: its hash $hash is not in constraints.txt" >&2; exit 1; }
    pip install --no-deps "$scratch"/torch-*
fi
pip install --require-hashes -c "$root/constraints.txt" -r "$scratch/dependencies.txt"
pip install --no-deps -e "$root"
