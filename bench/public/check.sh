#!/bin/sh
# Runs the public harness once, on a small array: its programs still run, all round trips give equal arrays.
#
# usage: bench/public/check.sh PYTHON PROGRAM      for example: bench/public/check.sh python3.13 target/debug/public
#
# PUBLIC_HARNESS names a clone of the harness; without it, one is made. The programs of zarrs_tools are not built for this.
set -eu
requirements=requirements.txt
program=$2
package=$(cd "$(dirname "$0")/../../python" && pwd)
. "$package/suites/environment.sh"
harness=${PUBLIC_HARNESS:-$place/zarr_benchmarks}
if [ ! -d "$harness" ]; then
    git clone --quiet https://github.com/LDeakin/zarr_benchmarks "$harness"
    git -C "$harness" checkout --quiet 9679f36
fi
"$run" "$here/run.py" --scripts "$harness" --ours "$program" --shape 256,256,256 --rounds 1
