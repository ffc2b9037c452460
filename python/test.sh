#!/bin/sh
# Builds the wheel, installs it into a new virtual environment, and runs the tests and the type checker there.
#
# usage: python/test.sh [PYTHON] [ZARR]     for example: python/test.sh python3.12 "zarr>=3.2"
set -eu
cd "$(dirname "$0")"
python=${1:-python3}
zarr=${2:-zarr}

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m venv "$place/venv"
bin="$place/venv/bin"
# The profile for development checks arithmetic for overflow, and compiles sooner.
export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=0 MATURIN_PEP517_ARGS="--profile dev"
"$bin/pip" install --quiet . "$zarr" pytest pytest-asyncio pytest-xdist mypy xarray cftime dask distributed cubed pyarrow obstore tqdm nbclient ipykernel matplotlib \
    -r ../conformance/services/requirements.txt
# s3fs needs an older boto3 than the one above.
"$bin/pip" install --quiet s3fs gcsfs adlfs boto3==1.43.117
"$bin/pip" list | grep -E '^(numpy|numcodecs|zarr|zarr-rs) '
"$bin/python" -m pytest --quiet -n 2 tests
"$bin/python" -m mypy
