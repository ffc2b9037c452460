//! `cargo xtask test`: what decides every change. `cargo xtask full`: this, and what runs nightly and before a release.

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, run as start};
use crate::cost::{Cost, Meter};
use crate::{
    asan, book, build, conformance, crash, datasets, documentation, examples, features, fixtures, fuzz,
    images, oldest, packages, release, selections, semver, services, suite, tidy, versions, wasm, works,
};

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
    /// CPU seconds that the step may take on a cold machine. In CI twice as many are an error.
    budget: u32,
    run: fn() -> Result<()>,
}

const fn step(name: &'static str, budget: u32, about: &'static str, run: fn() -> Result<()>) -> Step {
    Step { name, about, budget, run }
}

/// The steps for every change, in their order. The first failure ends the run.
const EACH: [Step; 14] = [
    step("fmt", 20, "the sources are formatted", fmt),
    step(
        "build",
        1000,
        "all targets compile with all features, without a warning of the compiler or of clippy",
        built,
    ),
    step("test", 400, "all tests, and all benchmarks once", suite::run),
    step(
        "minimal",
        250,
        "libraries and the command compile without their default features, and no page of a library has a dead link",
        features::minimal,
    ),
    step(
        "wasm",
        80,
        "arrays and groups compile for where there are no threads, clock and files",
        wasm::check,
    ),
    step(
        "doc",
        150,
        "the examples of the documentation pass, and its pages have no warning",
        documentation::check,
    ),
    step("examples", 20, "the examples of extensions are as short as promised", examples::check),
    step(
        "tidy",
        20,
        "dependencies and invariants of the design hold, and no link of a document is dead",
        tidy::run,
    ),
    step(
        "fixtures",
        100,
        "the zarr command reads stores of other implementations, and these are unchanged",
        recorded,
    ),
    step("conformance", 60, "this implementation passes the conformance suite", conforms),
    step(
        "race",
        60,
        "writers in several processes lose no update, also when they are killed; readers see what they may",
        crash::races,
    ),
    step(
        "schedules",
        10,
        "in some orders of their steps, writers that share data lose nothing",
        crash::some_schedules,
    ),
    step(
        "crash",
        60,
        "what a writer has acknowledged remains after a kill, a failed call, a full disk and a power cut",
        crash::short,
    ),
    step("package", 20, "the package of each published crate is complete", release::packages),
];

/// What else runs nightly and before a release.
const NIGHTLY: [Step; 25] = [
    step("large", 400, "the large forms of tests", suite::run_large),
    step(
        "explore",
        900,
        "in 10,000 orders of their steps each, writers that share data lose nothing",
        crash::many_schedules,
    ),
    step(
        "resizes",
        200,
        "in 200 rounds of two appends and a smaller shape, nothing is lost and nothing stays outside",
        crash::many_resizes,
    ),
    step(
        "each",
        600,
        "each library compiles alone without its default features, and a store that only reads works",
        features::each,
    ),
    step(
        "oldest",
        300,
        "the libraries and the command compile with the oldest versions that their manifests allow",
        oldest::check,
    ),
    step(
        "defaults",
        600,
        "the zarr command with its default features reads stores of other implementations",
        defaults,
    ),
    step(
        "outside",
        1000,
        "crates outside of the workspace, with lock files of their own, keep the contracts",
        examples::outside,
    ),
    step(
        "datafusion",
        600,
        "a program with DataFusion selects by label from a dataset and answers a query",
        examples::datafusion,
    ),
    step(
        "versions",
        150,
        "extensions built against the traits alone run with newer crates above them",
        versions::check,
    ),
    step("semver", 1500, "the public API of the traits breaks no promise of its version", semver::check),
    step("pages", 300, "the documentation of programs has no warning", documentation::pages),
    step("book", 200, "the guide builds as a book", book::run),
    step("works", 400, "small calls need no more instructions than before", || {
        works::run(&works::Args::default())
    }),
    step("node", 200, "arrays and groups work in Node without threads, clock and files", wasm::run),
    step(
        "peers",
        2000,
        "other implementations read and write as recorded, and the pages look right in a browser",
        peers,
    ),
    step("selections", 300, "random selections are those of NumPy", selections::many),
    step("datasets", 200, "datasets are those of xarray, in both directions", datasets::run),
    step("images", 60, "other programs read the images that `zarr pyramid` makes", images::run),
    step("asan", 1500, "unsafe code and C libraries run under AddressSanitizer", || {
        asan::run(&asan::Args::default())
    }),
    step(
        "fuzz",
        3000,
        "readers of stored bytes take what once failed, and ten seconds of new inputs each",
        fuzz::smoke,
    ),
    step("python", 2000, "the package for Python is built, installed and tested", packages::python),
    step(
        "suites",
        700,
        "xarray's and Dask's own tests of Zarr pass with the package for Python, but for a list",
        packages::python_suites,
    ),
    step(
        "zarr-python",
        1000,
        "zarr-python's own tests pass with the pipeline of the package for Python, but for a list",
        packages::zarr_python_suite,
    ),
    step(
        "public",
        300,
        "the programs of the public benchmark harness run, and its round trips give equal arrays",
        packages::public_harness,
    ),
    step("npm", 1000, "the package for JavaScript is built and tested in Node and in a browser", || {
        packages::npm(&packages::Args::default())
    }),
];

/// Runs the steps for every change.
pub(crate) fn run(args: &Args) -> Result<()> {
    run_steps(args, EACH.iter().collect())
}

/// Runs the steps for every change and the nightly ones, with the services that they need.
pub(crate) fn full(args: &Args) -> Result<()> {
    if !args.list && args.only.is_empty() {
        services::install()?;
    }
    run_steps(args, EACH.iter().chain(&NIGHTLY).collect())
}

fn run_steps(args: &Args, steps: Vec<&Step>) -> Result<()> {
    for name in args.only.iter().chain(&args.skip) {
        if !steps.iter().any(|s| s.name == name) {
            if NIGHTLY.iter().any(|s| s.name == name) {
                bail!("the step {name:?} runs at night: cargo xtask full --only {name}");
            }
            let names: Vec<_> = steps.iter().map(|s| s.name).collect();
            bail!("unknown step {name:?}; the steps are {}", names.join(", "));
        }
    }
    if args.list {
        for step in &steps {
            println!("{:<13}{}", step.name, step.about);
        }
        return Ok(());
    }
    let named = |list: &[String], step: &Step| list.iter().any(|n| n == step.name);
    let chosen =
        steps.into_iter().filter(|s| (args.only.is_empty() || named(&args.only, s)) && !named(&args.skip, s));

    let all = Meter::start();
    let mut costs: Vec<(&Step, Cost)> = Vec::new();
    for step in chosen {
        println!("\n==> {}: {}", step.name, step.about);
        let meter = Meter::start();
        (step.run)().with_context(|| format!("step {}", step.name))?;
        costs.push((step, meter.cost()));
        println!("<== {}: ok, {:.1} s", step.name, meter.cost().wall);
    }
    println!("\n{:<13}{:>8} {:>8} {:>8}", "step", "wall s", "CPU s", "budget");
    for (step, cost) in &costs {
        println!("{:<13}{} {:>8}  ok", step.name, cost.columns(), step.budget);
    }
    let budget: u32 = costs.iter().map(|(step, _)| step.budget).sum();
    println!("{:<13}{} {budget:>8}  {} steps passed", "all", all.cost().columns(), costs.len());
    within_budget(&costs)
}

/// In CI, fails if a step took more than twice its budget.
fn within_budget(costs: &[(&Step, Cost)]) -> Result<()> {
    let over = |(step, cost): &&(&Step, Cost)| cost.cpu.is_some_and(|cpu| cpu > 2.0 * f64::from(step.budget));
    let over: Vec<_> = costs.iter().filter(over).map(|(step, _)| step.name).collect();
    if over.is_empty() {
        return Ok(());
    }
    let message = format!("more than twice the budget of CPU seconds: {}", over.join(", "));
    if std::env::var_os("CI").is_some() {
        bail!("{message}");
    }
    println!("warning: {message}");
    Ok(())
}

fn fmt() -> Result<()> {
    start(&mut cargo(["fmt", "--all", "--check"]))
}

fn built() -> Result<()> {
    if build::clippy().is_none() {
        bail!("clippy is missing beside cargo: rustup component add clippy, and run cargo xtask test");
    }
    build::all()?.without_warnings()
}

fn recorded() -> Result<()> {
    fixtures::verify(false)?;
    fixtures::run(&fixtures::Args::default())
}

fn defaults() -> Result<()> {
    fixtures::run(&fixtures::Args::with_default_features())
}

/// Runs the suite with this implementation only, which needs no other programs.
fn conforms() -> Result<()> {
    conformance::run(&conformance::Args::of("zarr"))
}

fn peers() -> Result<()> {
    conformance::run(&conformance::Args::with_pictures())
}
