//! `cargo xtask test`: all checks.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, run as start};
use crate::workspace::Workspace;
use crate::{book, conformance, crash, examples, fixtures, release, tidy, wasm};

/// The selection of steps.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this step (may be repeated)
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// All but this step (may be repeated)
    #[arg(long, value_name = "STEP")]
    skip: Vec<String>,
    /// List the steps and what they check
    #[arg(long)]
    list: bool,
}

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<()>,
}

/// The steps in their order. The first failure ends the run.
const STEPS: [Step; 15] = [
    Step { name: "fmt", about: "the sources are formatted", run: fmt },
    Step { name: "clippy", about: "no warning of the compiler or of clippy, in any target", run: clippy },
    Step { name: "minimal", about: "each library compiles without its default features", run: minimal },
    Step { name: "wasm", about: "arrays and groups work without threads, clock and files", run: wasm::run },
    Step { name: "test", about: "all tests and the examples of the documentation", run: test },
    Step { name: "benches", about: "all benchmarks run, each work once", run: benches },
    Step {
        name: "examples",
        about: "codecs, a data type and a store outside of the workspace keep the contracts",
        run: examples::run,
    },
    Step { name: "doc", about: "the documentation builds without a warning", run: doc },
    Step {
        name: "book",
        about: "the guide builds as a book, and no link of a document is dead",
        run: book::run,
    },
    Step { name: "tidy", about: "dependencies and invariants of the design hold", run: tidy::run },
    Step {
        name: "fixtures",
        about: "the zarr command reads stores of other implementations, and these are unchanged",
        run: recorded,
    },
    Step { name: "conformance", about: "this implementation passes the conformance suite", run: conforms },
    Step {
        name: "race",
        about: "writers in several processes lose no update, also when they are killed",
        run: race,
    },
    Step {
        name: "crash",
        about: "what a writer has acknowledged remains after a kill, a failed call, a full disk and a power cut",
        run: crash::short,
    },
    Step {
        name: "package",
        about: "the package of each published crate is complete",
        run: release::packages,
    },
];

/// Runs the steps.
pub(crate) fn run(args: &Args) -> Result<()> {
    for name in args.only.iter().chain(&args.skip) {
        if !STEPS.iter().any(|s| s.name == name) {
            let names: Vec<_> = STEPS.iter().map(|s| s.name).collect();
            bail!("unknown step {name:?}; the steps are {}", names.join(", "));
        }
    }
    if args.list {
        for step in &STEPS {
            println!("{:<13}{}", step.name, step.about);
        }
        return Ok(());
    }
    let named = |list: &[String], step: &Step| list.iter().any(|n| n == step.name);
    let chosen =
        STEPS.iter().filter(|s| (args.only.is_empty() || named(&args.only, s)) && !named(&args.skip, s));

    let begun = Instant::now();
    let mut times: Vec<(&str, Duration)> = Vec::new();
    for step in chosen {
        println!("\n==> {}: {}", step.name, step.about);
        let start = Instant::now();
        (step.run)().with_context(|| format!("step {}", step.name))?;
        times.push((step.name, start.elapsed()));
        println!("<== {}: ok, {:.1} s", step.name, start.elapsed().as_secs_f64());
    }
    println!();
    for (name, time) in &times {
        println!("{name:<13}{:>7.1} s  ok", time.as_secs_f64());
    }
    println!("{:<13}{:>7.1} s  {} steps passed", "all", begun.elapsed().as_secs_f64(), times.len());
    Ok(())
}

fn fmt() -> Result<()> {
    start(&mut cargo(["fmt", "--all", "--check"]))
}

fn clippy() -> Result<()> {
    start(&mut cargo([
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--locked",
        "--",
        "-Dwarnings",
    ]))
}

fn minimal() -> Result<()> {
    for package in Workspace::load()?.published().filter(|p| p.library) {
        start(&mut cargo(["check", "--quiet", "--locked", "--no-default-features", "-p", &package.name]))?;
    }
    // The only test of a feature that is off.
    let reading = ["-p", "zarr-store-fs", "--test", "reading"];
    start(cargo(["test", "--quiet", "--locked", "--no-default-features"]).args(reading))
}

fn test() -> Result<()> {
    start(&mut cargo(["test", "--workspace", "--all-features", "--locked"]))
}

/// Without `--bench`, benchmarks do everything once. They are built as the tests are.
fn benches() -> Result<()> {
    start(&mut cargo(["test", "--quiet", "--workspace", "--all-features", "--locked", "--bench", "*"]))
}

fn doc() -> Result<()> {
    start(
        cargo(["doc", "--workspace", "--no-deps", "--all-features", "--locked"])
            .env("RUSTDOCFLAGS", "-Dwarnings"),
    )
}

fn recorded() -> Result<()> {
    fixtures::verify(false)?;
    fixtures::run(&fixtures::Args::default())
}

/// Runs the suite with this implementation only, which needs no other programs.
fn conforms() -> Result<()> {
    conformance::run(&conformance::Args::of("zarr"))
}

/// Runs short races. They take some seconds; after two minutes a race ends with an error.
fn race() -> Result<()> {
    let races: [&[&str]; 5] = [
        &["--writes=60", "--kill=20"],
        &["--service=moto", "--writes=25"],
        &["--service=azurite", "--writes=25"],
        &["--service=server", "--writes=25"],
        // Without conditional puts the same race must lose updates.
        &["--service=server", "--writes=25", "--kill=0", "--unchecked"],
    ];
    for options in races {
        println!("race {}", options.join(" "));
        let run = ["run", "--quiet", "--locked", "-p", "conformance-race", "--", "--timeout=120"];
        start(cargo(run).args(options))?;
    }
    Ok(())
}
