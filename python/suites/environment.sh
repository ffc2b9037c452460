# Sourced by the scripts beside it: makes an environment with this package and what a file of requirements names, in a folder
# that goes when the script ends. The package is `package`, if that is set, and else the folder above. Sets `here`, `place` and `run`, and takes the Python off the arguments by `shift "$taken"`.
here=$(cd "$(dirname "$0")" && pwd)
python=${1:-python3}
taken=$(($# > 0 ? 1 : 0))

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m venv "$place/venv"
run="$place/venv/bin/python"
export MATURIN_PEP517_ARGS="--profile dev"
"$run" -m pip install --quiet --no-compile "${package:-$here/..}" -r "$here/$requirements"
export PYTHONPATH="$here"
