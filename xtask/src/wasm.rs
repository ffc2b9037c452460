//! The steps `wasm` and `node`: a program that reads and writes without threads, clock and files.

use std::process::Command;

use anyhow::Result;

use crate::command::{answers, cargo, root, run as start, target_dir};

const TARGET: &str = "wasm32-unknown-unknown";
const PACKAGE: &str = "conformance-wasm";

/// Instantiates a module without imports and calls its `main`, which returns 0 or traps.
const SCRIPT: &str = "
const bytes = require('fs').readFileSync(process.argv[1]);
WebAssembly.instantiate(bytes, {}).then(({ instance }) => process.exit(instance.exports.main(0, 0)));
";

/// Checks that the program compiles for WebAssembly. Says so where the target cannot be installed.
pub(crate) fn check() -> Result<()> {
    if !has_target() {
        return Ok(());
    }
    start(&mut cargo(["check", "--quiet", "--locked", "--target", TARGET, "-p", PACKAGE]))
}

/// Builds the program for WebAssembly and runs it with node. Says so where the target cannot be installed or there is
/// no node.
pub(crate) fn run() -> Result<()> {
    if !has_target() {
        return Ok(());
    }
    start(&mut cargo(["build", "--quiet", "--locked", "--target", TARGET, "-p", PACKAGE]))?;
    if !answers(Command::new("node").arg("--version")) {
        println!("wasm: built, but not run, because there is no node");
        return Ok(());
    }
    let module = target_dir().join(TARGET).join("debug").join(format!("{PACKAGE}.wasm"));
    start(Command::new("node").args(["-e", SCRIPT]).arg(module))
}

/// Whether the compiler has the target, after an attempt to install it.
fn has_target() -> bool {
    let mut add = Command::new("rustup");
    let has = answers(add.args(["target", "add", TARGET]).current_dir(root()));
    if !has {
        println!("wasm: skipped, rustup cannot add the target {TARGET}");
    }
    has
}
