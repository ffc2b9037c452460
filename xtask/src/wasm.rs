//! The step `wasm`: a program that reads and writes without threads, clock and files.

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

/// Builds the program for WebAssembly and runs it with node. Says so where the target cannot be installed or there is
/// no node.
pub(crate) fn run() -> Result<()> {
    let mut add = Command::new("rustup");
    if !answers(add.args(["target", "add", TARGET]).current_dir(root())) {
        println!("wasm: skipped, rustup cannot add the target {TARGET}");
        return Ok(());
    }
    // Outside of the target directory for the host: the features differ.
    let folder = target_dir().join("wasm");
    let build = ["build", "--quiet", "--locked", "--target", TARGET, "-p", PACKAGE];
    start(cargo(build).env("CARGO_TARGET_DIR", &folder))?;
    if !answers(Command::new("node").arg("--version")) {
        println!("wasm: built, but not run, because there is no node");
        return Ok(());
    }
    let module = folder.join(TARGET).join("debug").join(format!("{PACKAGE}.wasm"));
    start(Command::new("node").args(["-e", SCRIPT]).arg(module))
}
