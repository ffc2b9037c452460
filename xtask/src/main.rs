//! Tasks of this workspace: `cargo xtask --help`.
//!
//! They need cargo and nothing else; what more a task can use (Python, a nightly toolchain, the benchmark harness) it
//! looks for, and says so where it is missing.

mod asan;
mod bench;
mod book;
mod command;
mod conformance;
mod examples;
mod fixtures;
mod install;
mod links;
mod seeded;
mod services;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tasks of this workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// The one test command: format, lints, features, tests, docs, tidy, fixtures, race, packages
    Test(test::Args),
    /// What a program can check of the design: dependency edges, invariants, what each crate carries
    Tidy,
    /// Check the links of all documents and build the guide as a book, in target/book
    Book,
    /// Run the `zarr` command over recorded stores of other implementations
    Fixtures(fixtures::Args),
    /// Ask this implementation and others to read, write and refuse what the fixtures say
    Conformance(conformance::Args),
    /// Make mistakes in a copy of the sources, and see that the suites notice
    Seeded(seeded::Args),
    /// Run our contender beside the rivals, where the benchmark harness is there
    Bench(bench::Args),
    /// The services that stores in the network are tested against
    Services(services::Args),
    /// The tests of the crates with unsafe code under AddressSanitizer, with the installed nightly
    Asan,
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Test(args) => test::run(&args),
        Task::Tidy => tidy::run(),
        Task::Book => book::run(),
        Task::Fixtures(args) => fixtures::run(&args),
        Task::Conformance(args) => conformance::run(&args),
        Task::Seeded(args) => seeded::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Services(args) => services::run(&args),
        Task::Asan => asan::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
