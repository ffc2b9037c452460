//! `cargo xtask test`: the one test command.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, output, root, run as start};
use crate::workspace::Workspace;
use crate::{book, conformance, examples, fixtures, tidy};

/// Which steps run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this step (may be repeated)
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// All but this step (may be repeated)
    #[arg(long, value_name = "STEP")]
    skip: Vec<String>,
    /// Name the steps and what they do
    #[arg(long)]
    list: bool,
}

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<()>,
}

/// In the order in which they run; the first failure ends the run.
const STEPS: [Step; 12] = [
    Step { name: "fmt", about: "the sources are formatted", run: fmt },
    Step { name: "clippy", about: "no warning of the compiler or of clippy, in any target", run: clippy },
    Step { name: "minimal", about: "each library compiles without its default features", run: minimal },
    Step { name: "test", about: "all tests and the examples of the documentation", run: test },
    Step {
        name: "examples",
        about: "codecs, a data type and a store from outside of the workspace keep the contracts",
        run: examples::run,
    },
    Step { name: "doc", about: "the documentation builds without a warning", run: doc },
    Step {
        name: "book",
        about: "the guide builds as a book, and no link of a document is dead",
        run: book::run,
    },
    Step { name: "tidy", about: "the design's edges and invariants hold", run: tidy::run },
    Step {
        name: "fixtures",
        about: "the zarr command reads what other implementations wrote, which is what was published",
        run: recorded,
    },
    Step {
        name: "conformance",
        about: "this implementation reads, writes and refuses what the suite says",
        run: conforms,
    },
    Step {
        name: "race",
        about: "writers in several processes lose nothing, also when they are killed",
        run: race,
    },
    Step { name: "package", about: "each published crate can be packed", run: package },
];

/// Runs the steps.
pub(crate) fn run(args: &Args) -> Result<()> {
    for name in args.only.iter().chain(&args.skip) {
        if !STEPS.iter().any(|s| s.name == name) {
            let names: Vec<_> = STEPS.iter().map(|s| s.name).collect();
            bail!("there is no step {name:?}; the steps are {}", names.join(", "));
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
    Ok(())
}

fn test() -> Result<()> {
    start(&mut cargo(["test", "--workspace", "--all-features", "--locked"]))
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

/// Of the peers only this one, which needs nothing that is not here.
fn conforms() -> Result<()> {
    conformance::run(&conformance::Args::of("zarr"))
}

/// Short races, each of which ends with an error after two minutes; they take some seconds.
fn race() -> Result<()> {
    let races: [&[&str]; 5] = [
        &["--writes=60", "--kill=20"],
        &["--service=moto", "--writes=25"],
        &["--service=azurite", "--writes=25"],
        &["--service=server", "--writes=25"],
        // The same must lose something where writers put without conditions.
        &["--service=server", "--writes=25", "--kill=0", "--unchecked"],
    ];
    for options in races {
        println!("race {}", options.join(" "));
        let run = ["run", "--quiet", "--locked", "-p", "conformance-race", "--", "--timeout=120"];
        start(cargo(run).args(options))?;
    }
    Ok(())
}

fn package() -> Result<()> {
    for package in Workspace::load()?.published() {
        // The tree may be under work or no repository at all: what would be packed is what is asked here.
        let list =
            output(&mut cargo(["package", "--list", "--allow-dirty", "--locked", "-p", &package.name]))?;
        let sources = if package.library { "src/lib.rs" } else { "src/main.rs" };
        for needed in ["Cargo.toml", "README.md", "CHANGELOG.md", sources] {
            if !list.lines().any(|file| file.replace('\\', "/") == needed) {
                let dir = package.dir.strip_prefix(root()).unwrap_or(&package.dir);
                bail!("the package of {} would lack {needed}", dir.display());
            }
        }
        println!("{:<24}{:>4} files", package.name, list.lines().count());
    }
    Ok(())
}
