//! Checks what remains in a directory after killed writers, failed system calls, full disks and power cuts: see
//! README.md.

mod disk;
mod documents;
mod enospc;
mod kill;
mod powercut;
mod random;
mod report;
mod soak;
mod syscalls;
mod victim;
mod work;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

/// Ends writers in every way there is, and checks that what they acknowledged is there, whole.
#[derive(Debug, Parser)]
enum Cli {
    /// Kill writers with SIGKILL at random times
    Kill(kill::Args),
    /// Let each system call of a writer fail, or kill the writer there (needs strace)
    Syscalls(syscalls::Args),
    /// Fill the disk (needs root)
    Enospc(enospc::Args),
    /// Cut the power of a disk (needs root, and ext4 or XFS on a loop device)
    Powercut(powercut::Args),
    /// Write, read and kill for a long time, and watch the memory and the files that are left over
    Soak(soak::Args),
    /// A writer, which this program starts
    #[command(hide = true)]
    Victim(victim::Args),
    /// The command `zarr`, which this program starts
    #[command(hide = true)]
    Command {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse() {
        Cli::Kill(args) => kill::run(&args),
        Cli::Syscalls(args) => syscalls::run(&args),
        Cli::Enospc(args) => enospc::run(&args),
        Cli::Powercut(args) => powercut::run(&args),
        Cli::Soak(args) => soak::run(&args),
        Cli::Victim(args) => victim::run(&args).map(|()| true),
        Cli::Command { words } => return zarr_cli::run(["zarr".into()].into_iter().chain(words)).into(),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
