#!/bin/sh
# Builds the package, checks its types, and runs its tests in Node and in Chromium.
#
# usage: npm/test.sh
# Needs Rust and Node; the variable CHROMIUM names the browser if it is not in PATH.
set -eu
cd "$(dirname "$0")"
npm ci --silent --no-audit --no-fund
./build.sh
node_modules/.bin/tsc -p test
node test/size.mjs
node test/package.mjs
node test/node.mjs
node test/browser.mjs
