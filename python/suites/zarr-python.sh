#!/bin/sh
# Runs zarr-python's own tests with the pipeline of this package. They differ only where the list beside this file says so.
#
# usage: python/suites/zarr-python.sh [PYTHON] [OPTION OF PYTEST]...     for example: python/suites/zarr-python.sh python3.13 --own
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${1:-python3}
[ $# -eq 0 ] || shift

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m venv "$place/venv"
export MATURIN_PEP517_ARGS="--profile dev"
"$place/venv/bin/pip" install --quiet --no-compile "$here/.." -r "$here/zarr-python-requirements.txt"

# The tests are in the package of sources only, with the settings of pytest that they need.
version=$(sed -n 's/^zarr==//p' "$here/zarr-python-requirements.txt")
"$place/venv/bin/pip" download --quiet --no-deps --no-binary :all: --dest "$place" "zarr==$version"
tar -xf "$place/zarr-$version.tar.gz" -C "$place"
cd "$place/zarr-$version"
export PYTHONPATH="$here"
# Left out: benchmarks, what runs other programs or other versions, and examples of the documentation. Without the options of
# the package's settings, which are about benchmarks and reports.
"$place/venv/bin/python" -m pytest -c pyproject.toml --rootdir . -o addopts= -p no:cacheprovider -p stand_in --differing "$here/zarr-python.txt" \
    --quiet --tb=short --disable-warnings -n 2 -W ignore::zarr_rs.FallbackWarning \
    --ignore=tests/benchmarks --ignore=tests/test_regression --ignore=tests/test_docs.py --ignore=tests/test_examples.py \
    "$@" tests
