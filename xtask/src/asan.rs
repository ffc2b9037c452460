//! `cargo xtask asan`: the tests of unsafe code and of C libraries under AddressSanitizer.

use std::process::Command;

use anyhow::Result;

use crate::command::{answers, output, root, run as start, target_dir};
use crate::guard::Guard;

/// What decides how these tests end: this task, the crates of others, and of ours those with unsafe code, of which
/// [tidy](crate::tidy) checks that there are no others, and those with C libraries. These are tested.
const GUARD: Guard = Guard {
    name: "asan",
    files: &[
        "Cargo.lock",
        "crates/zarr-strided",
        "crates/zarr-codecs-core",
        "crates/zarr-blosc",
        "crates/zarr-codecs-numcodecs",
        "xtask/src/asan.rs",
    ],
};

/// When to run the tests.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Only if they have not passed with these sources, which .ci/passed remembers
    #[arg(long)]
    if_changed: bool,
}

/// Runs the tests with the installed nightly toolchain, or reports that it is missing.
pub(crate) fn run(args: &Args) -> Result<()> {
    GUARD.run(args.if_changed, check)
}

/// Returns whether the tests can run here.
fn check() -> Result<bool> {
    if !answers(Command::new("rustup").args(["run", "nightly", "rustc", "--version"])) {
        println!("asan: skipped, no nightly toolchain is installed (`rustup toolchain install nightly`)");
        return Ok(false);
    }
    let version = output(Command::new("rustup").args(["run", "nightly", "rustc", "-vV"]))?;
    let host = version.lines().find_map(|l| l.strip_prefix("host: ")).unwrap_or("x86_64-unknown-linux-gnu");
    if !host.ends_with("linux-gnu") {
        // The sanitizer runtimes of Apple's C compiler and of rustc are incompatible.
        println!("asan: skipped, it runs on Linux and not on {host}");
        return Ok(false);
    }
    // `--target` keeps the sanitizer out of build scripts.
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo", "test", "--locked", "--all-features", "--lib", "--tests"]);
    command.args(["--target", host]);
    let crates = GUARD.files.iter().filter_map(|file| file.strip_prefix("crates/"));
    command.args(crates.flat_map(|name| ["-p", name]));
    command.env("RUSTFLAGS", "-Zsanitizer=address -Cdebuginfo=1");
    // The crate `cc` passes the sanitizer to the C compiler, so C-Blosc and zstd are checked, too. GCC moves constant
    // arrays of a block into static memory and still poisons them after the block, which is a false alarm in zstd.
    for flags in ["CFLAGS", "CXXFLAGS"] {
        command.env(flags, "-fno-sanitize-address-use-after-scope");
    }
    // Freed memory is held back to catch its use, but only a little, so that tests with a memory limit pass.
    command.env("ASAN_OPTIONS", "quarantine_size_mb=4:thread_local_quarantine_size_kb=64");
    command.env("CARGO_TARGET_DIR", target_dir().join("asan"));
    // The variables that name the toolchain of this program.
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
    start(command.current_dir(root()))?;
    Ok(true)
}
