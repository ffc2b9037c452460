//! Tasks that end writers in hard ways, let them race, or explore their orders: programs of `conformance/crash`,
//! `conformance/race` and `conformance/schedules`.

use std::ffi::OsStr;
use std::process::Command;

use anyhow::Result;

use crate::build;
use crate::command::{answers, run as start};
use crate::install::debian;

/// The options of the program; `-- --help` lists them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Runs one of the programs. What it can use is installed as root; otherwise it says what it leaves out.
pub(crate) fn run(program: &str, task: Option<&str>, args: &Args) -> Result<()> {
    provide(task);
    several(program, [task.into_iter().chain(args.options.iter().map(String::as_str))])
}

/// Short forms of all tasks but the races, for every change. They take some seconds.
pub(crate) fn short() -> Result<()> {
    several(
        "conformance-crash",
        [
            &["kill", "--rounds=15"][..],
            &["syscalls", "--work=shard", "--faults=EIO,KILL"],
            &["enospc", "--rounds=24"],
            &["powercut", "--rounds=1", "--after=0"],
            &["powercut", "--documents", "--rounds=3", "--after=0"],
        ],
    )
}

/// Installs the package of Debian with the program that a task starts, if it is missing.
fn provide(task: Option<&str>) {
    let (program, package) = match task {
        Some("powercut") => ("mkfs.xfs", "xfsprogs"),
        Some("syscalls") => ("strace", "strace"),
        _ => return,
    };
    if !answers(Command::new(program).arg("-V"))
        && let Err(error) = debian(package)
    {
        println!("{error:#}");
    }
}

/// Short races, for every change. They take some seconds; after two minutes a race ends with an error.
pub(crate) fn races() -> Result<()> {
    several(
        "conformance-race",
        [
            &["--timeout=120", "--writes=60", "--kill=20"][..],
            &["--timeout=120", "--service=moto", "--writes=25"],
            &["--timeout=120", "--service=azurite", "--writes=25"],
            &["--timeout=120", "--service=server", "--writes=25"],
            // Without conditional puts the same race must lose updates.
            &["--timeout=120", "--service=server", "--writes=25", "--kill=0", "--unchecked"],
            &["readers", "--reads=200", "--appenders=2"],
            &["readers", "--reads=200", "--shape-last", "--layout=chunk"],
            &["resizes", "--rounds=4"],
        ],
    )
}

/// Very many rounds of appends beside a smaller shape.
pub(crate) fn many_resizes() -> Result<()> {
    several("conformance-race", [["resizes", "--rounds=200"]])
}

/// Some schedules of each exploration, for every change.
pub(crate) fn some_schedules() -> Result<()> {
    several("conformance-schedules", [["--schedules=60"]])
}

/// Very many schedules of each exploration.
pub(crate) fn many_schedules() -> Result<()> {
    several("conformance-schedules", [["--schedules=10000"]])
}

/// Runs a program of the build with each of some lists of arguments.
fn several<S: AsRef<OsStr>>(
    program: &str,
    runs: impl IntoIterator<Item = impl IntoIterator<Item = S>>,
) -> Result<()> {
    let program = build::program(program)?;
    runs.into_iter().try_for_each(|arguments| start(Command::new(&program).args(arguments)))
}
