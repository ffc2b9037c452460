//! Tasks of this workspace: `cargo xtask --help`.
//!
//! Tasks need only cargo. A task that can use more (Python, a nightly toolchain, the benchmark harness) looks for it
//! and reports if it is missing.

mod asan;
mod bench;
mod book;
mod build;
mod command;
mod conformance;
mod cost;
mod crash;
mod datasets;
mod documentation;
mod examples;
mod features;
mod fixtures;
mod fuzz;
mod guard;
mod images;
mod install;
mod links;
mod oldest;
mod packages;
mod release;
mod seeded;
mod selections;
mod semver;
mod services;
mod suite;
mod test;
mod tidy;
mod version;
mod versions;
mod wasm;
mod works;
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
    /// Run what decides every change: format, lints, tests, features, docs, tidy, fixtures, race, packages
    Test(test::Args),
    /// Run everything: this, and what runs nightly and before a release
    Full(test::Args),
    /// Check the design: dependencies between crates, invariants, files of each crate
    Tidy,
    /// Build the guide as a book, in target/book
    Book,
    /// Run the `zarr` command over recorded stores of other implementations
    Fixtures(fixtures::Args),
    /// Test how this implementation and others read, write and refuse the fixtures
    Conformance(conformance::Args),
    /// Set the version of the traits or of the other crates, wherever it is written, and date their changelogs
    Version(version::Args),
    /// Publish the crates in order, each built from its package; `--dry-run` uploads nothing
    Release(release::Args),
    /// Make mistakes in a copy of the sources, and check that the suites notice them
    Seeded(seeded::Args),
    /// Read images of `zarr pyramid` with other programs
    Images,
    /// Compare datasets with xarray, in both directions
    Datasets,
    /// Compare random selections with NumPy
    Selections(selections::Args),
    /// Compare our contender with its rivals in the benchmark harness; measure scaling; make a page of results
    Bench(bench::Args),
    /// Count the instructions of small works, and compare them with those that are recorded (needs valgrind)
    Works(works::Args),
    /// Install the services for tests of network stores
    Services(services::Args),
    /// Fuzz the readers of stored bytes
    Fuzz(fuzz::Args),
    /// Kill writers at random times, and check what remains
    Crash(crash::Args),
    /// Let each system call of a writer fail, and check what remains (needs strace)
    Syscalls(crash::Args),
    /// Fill the disk of a writer, and check what remains (needs root)
    Enospc(crash::Args),
    /// Cut the power of a writer's disk, and check what remains (needs root)
    Powercut(crash::Args),
    /// Let writers race, and count lost updates; `-- readers`: what readers see beside appends; `-- resizes`: appends beside a
    /// smaller shape
    Race(crash::Args),
    /// Explore the orders in which writers take their steps
    Schedules(crash::Args),
    /// Write, read and kill for an hour, and watch memory and files
    Soak(crash::Args),
    /// Test the crates with unsafe code or C libraries under AddressSanitizer, with the installed nightly
    Asan(asan::Args),
    /// Build, install and test the package for Python
    Python,
    /// Build and test the package for JavaScript, in Node and in a browser
    Npm(packages::Args),
}

fn main() -> ExitCode {
    let done = documentation::instead_of_rustdoc().unwrap_or_else(|| run(Cli::parse().task));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> anyhow::Result<()> {
    match task {
        Task::Test(args) => test::run(&args),
        Task::Full(args) => test::full(&args),
        Task::Tidy => tidy::run(),
        Task::Book => book::run(),
        Task::Fixtures(args) => fixtures::run(&args),
        Task::Conformance(args) => conformance::run(&args),
        Task::Version(args) => version::run(&args),
        Task::Release(args) => release::run(&args),
        Task::Seeded(args) => seeded::run(&args),
        Task::Datasets => datasets::run(),
        Task::Images => images::run(),
        Task::Selections(args) => selections::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Works(args) => works::run(&args),
        Task::Services(args) => services::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Crash(args) => crash::run("conformance-crash", Some("kill"), &args),
        Task::Syscalls(args) => crash::run("conformance-crash", Some("syscalls"), &args),
        Task::Enospc(args) => crash::run("conformance-crash", Some("enospc"), &args),
        Task::Powercut(args) => crash::run("conformance-crash", Some("powercut"), &args),
        Task::Race(args) => crash::run("conformance-race", None, &args),
        Task::Schedules(args) => crash::run("conformance-schedules", None, &args),
        Task::Soak(args) => crash::run("conformance-crash", Some("soak"), &args),
        Task::Asan(args) => asan::run(&args),
        Task::Python => packages::python(),
        Task::Npm(args) => packages::npm(&args),
    }
}
