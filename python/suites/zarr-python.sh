#!/bin/sh
# Runs zarr-python's own tests with the pipeline of this package. They differ only where the list beside this file says so.
#
# usage: python/suites/zarr-python.sh [PYTHON] [OPTION OF PYTEST]...     for example: python/suites/zarr-python.sh python3.13 --own
set -eu
requirements=zarr-python-requirements.txt
. "$(dirname "$0")/environment.sh"
shift "$taken"

# The tests are in the package of sources only, with the settings of pytest that they need.
version=$(sed -n 's/^zarr==//p' "$here/$requirements")
"$run" -m pip download --quiet --no-deps --no-binary :all: --dest "$place" "zarr==$version"
tar -xf "$place/zarr-$version.tar.gz" -C "$place"
cd "$place/zarr-$version"
# Left out: benchmarks, what runs other programs or other versions, examples of the documentation, and a test of `sync` without
# an array, which must see in 20 ms that 2 ms are over: on a busy machine it does not. Without the options of
# the package's settings, which are about benchmarks and reports. Some of the tests of properties take minutes, so a process
# without tests takes some of the other's.
"$run" -m pytest -c pyproject.toml --rootdir . -o addopts= -p no:cacheprovider -p stand_in --differing "$here/zarr-python.txt" \
    --quiet --tb=short --disable-warnings -n 2 --dist worksteal -W ignore::zarr_rs.FallbackWarning \
    --ignore=tests/benchmarks --ignore=tests/test_regression --ignore=tests/test_docs.py --ignore=tests/test_examples.py \
    --deselect tests/test_sync.py::test_sync_timeout \
    "$@" tests
