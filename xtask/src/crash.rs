//! Tasks that end writers in hard ways, or let them race: programs of `conformance/crash` and `conformance/race`.

use anyhow::Result;

use crate::command::{cargo, run as start};

/// The options of the program; `-- --help` lists them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Runs one of the programs.
pub(crate) fn run(package: &str, task: Option<&str>, args: &Args) -> Result<()> {
    program(package, task, &args.options)
}

/// Short forms of all tasks but the races, for every change. They take some seconds.
pub(crate) fn short() -> Result<()> {
    let tasks: [(&str, &[&str]); 4] = [
        ("kill", &["--rounds=15"]),
        ("syscalls", &["--work=shard", "--faults=EIO,KILL"]),
        ("enospc", &["--rounds=24"]),
        ("powercut", &["--rounds=1", "--after=0"]),
    ];
    tasks.into_iter().try_for_each(|(task, options)| program("conformance-crash", Some(task), options))
}

fn program<S: AsRef<str>>(package: &str, task: Option<&str>, options: &[S]) -> Result<()> {
    let mut program = cargo(["run", "--quiet", "--locked", "-p", package, "--"]);
    start(program.args(task).args(options.iter().map(AsRef::as_ref)))
}
