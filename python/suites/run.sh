#!/bin/sh
# Runs the tests of xarray and Dask that use Zarr, with the parts of this package in place of zarr-python's. They differ only
# where the lists beside this file say so.
#
# usage: python/suites/run.sh [PYTHON] [OPTION OF PYTEST]...     for example: python/suites/run.sh python3.12 --own
set -eu
requirements=requirements.txt
. "$(dirname "$0")/environment.sh"
shift "$taken"

# Not in the folder of the package, whose settings of pytest are for its own tests.
cd "$place"
suite() {
    list=$1
    shift
    "$run" -m pytest -c /dev/null --rootdir "$place" -p no:cacheprovider -p stand_in --differing "$here/$list" \
        -o asyncio_default_fixture_loop_scope=function --quiet --tb=short --disable-warnings -n 2 "$@"
}
suite xarray.txt -k "zarr or Zarr" "$@" --pyargs \
    xarray.tests.test_backends xarray.tests.test_backends_api xarray.tests.test_backends_datatree xarray.tests.test_distributed
# One test expects this warning as an error, as the settings in the sources of Dask make it.
suite dask.txt -k zarr -W error::dask.array.core.PerformanceWarning "$@" --pyargs \
    dask.array.tests.test_array_core dask.array.tests.test_xarray dask.tests.test_distributed
