//! `cargo xtask conformance`: what this implementation and others read, write and refuse.
//!
//! - [`browser`]: the page of the report in a browser
//! - [`peers`]: the peers in conformance/peers, and how they are installed
//!
//! The requests and the verdicts are those of the suite, `zarr_conformance::implementation`.

mod browser;
mod peers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use zarr_conformance::implementation::{
    About, Deviations, Direction, Fixtures, Options, Peer, Results, Snapshot, run as ask,
};

use crate::command::{output, root, target_dir};
use crate::install;

/// The selection of peers and cases.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Only this peer of conformance/peers (may be repeated)
    #[arg(long, value_name = "NAME")]
    peer: Vec<String>,
    /// The command of the adapter of your own implementation, named by `--name`
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
    /// The name of your own implementation
    #[arg(long, value_name = "NAME", default_value = "mine", requires = "command")]
    name: String,
    /// The adapter of `--command` answers many requests in one process
    #[arg(long, requires = "command")]
    serve: bool,
    /// The known failures of your own implementation: a file like those in conformance/expect
    #[arg(long, value_name = "FILE", requires = "command")]
    expect: Option<PathBuf>,
    /// Only cases whose id matches this, where `*` matches any text (may be repeated)
    #[arg(long, value_name = "GLOB")]
    case: Vec<String>,
    /// The folder with the manifest and the stores [default: conformance]
    #[arg(long, value_name = "DIR")]
    fixtures: Option<PathBuf>,
    /// Write differing results into conformance/results
    #[arg(long, conflicts_with_all = ["command", "fixtures"])]
    update: bool,
    /// Keep written stores in target/conformance
    #[arg(long)]
    keep: bool,
    /// Write the page, JSON and JUnit to this folder [default: target/conformance]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Check the page, and those of `zarr serve`, `zarr view` and `cargo xtask bench --report`, in a browser (chromium);
    /// write pictures beside it
    #[arg(long)]
    screenshots: bool,
}

impl Args {
    /// Returns arguments for all cases with one peer.
    pub(crate) fn of(peer: &str) -> Self {
        Self { peer: vec![peer.to_owned()], ..Self::default() }
    }
}

/// Runs the suite. Fails if a result is unexpected.
pub(crate) fn run(args: &Args) -> Result<()> {
    let fixtures = match &args.fixtures {
        None => Fixtures::load(&root().join("conformance"))?,
        Some(folder) if folder.join("stores").is_dir() => {
            Fixtures::of(&folder.join("manifest.json"), &folder.join("stores"))?
        }
        Some(folder) => Fixtures::load(folder)?,
    };
    let (peers, asked) = taking_part(args)?;
    let work = target_dir().join("conformance").join(format!("work-{}", std::process::id()));
    let mut options = Options::new(work);
    options.cases.clone_from(&args.case);
    options.asked = asked;
    options.keep = args.keep;
    options.tell = |doing| println!("{doing}");
    let mut results = ask(&fixtures, &peers, &options)?;

    let known = |id: &str| Deviations::load(&expect_of(args, id));
    for peer in &results.peers {
        known(&peer.id)?;
    }
    let mut surprises: Vec<_> =
        results.explain(|id| known(id).unwrap_or_default()).iter().map(ToString::to_string).collect();
    if args.fixtures.is_none() && args.command.is_none() {
        surprises.extend(compare(&results, &fixtures, args.update)?);
    }
    println!("\n{}", results.to_table());
    let report = write(&results, args)?;
    if args.screenshots {
        browser::check(&report)?;
        browser::check_command(&report)?;
        browser::check_bench(&report)?;
    }
    for surprise in &surprises {
        println!("UNEXPECTED {surprise}");
    }
    if surprises.is_empty() {
        return Ok(());
    }
    let said = args.expect.as_ref().map_or_else(
        || "conformance/expect and conformance/results".to_owned(),
        |file| file.display().to_string(),
    );
    bail!("{} verdicts differ from {said}", surprises.len())
}

/// Returns the peers that take part, and the ids of the tested peers.
fn taking_part(args: &Args) -> Result<(Vec<Peer>, Vec<String>)> {
    let mut sources = peers::all()?;
    if let Some(unknown) = args.peer.iter().find(|name| sources.iter().all(|source| source.id != **name)) {
        let names: Vec<_> = sources.iter().map(|source| source.id.as_str()).collect();
        bail!("unknown peer {unknown:?}; the peers are {}", names.join(", "));
    }
    if args.command.is_some() {
        // Another peer must read the written stores, and provide the elements to write.
        sources.retain(|source| source.id == "zarr" || args.peer.contains(&source.id));
    } else if !args.peer.is_empty() {
        sources.retain(|source| args.peer.contains(&source.id));
    }
    sources.retain(|source| match source.missing() {
        Some(what) if !install::required() => {
            println!("SKIPPED {}: {what} is missing on this machine", source.id);
            false
        }
        _ => true,
    });
    install::all(sources.iter().map(|source| {
        let install: Box<dyn FnOnce() -> Result<String> + Send> = Box::new(|| source.install());
        (source.id.as_str(), install)
    }))?;
    let mut peers: Vec<_> = sources.iter().map(peers::Source::peer).collect::<Result<_>>()?;
    let mut asked = Vec::new();
    if let Some(command) = &args.command {
        // A shell splits the command, so that quotes and variables work as expected.
        let own = Peer::new(&args.name, ["sh", "-c", &format!("{command} \"$@\""), "sh"]);
        peers.push(own.serving(args.serve));
        asked.push(args.name.clone());
    }
    Ok((peers, asked))
}

fn expect_of(args: &Args, id: &str) -> PathBuf {
    match &args.expect {
        Some(file) if id == args.name => file.clone(),
        _ => root().join("conformance/expect").join(format!("{id}.toml")),
    }
}

/// Compares the results with the snapshots in conformance/results, or updates the snapshots.
fn compare(results: &Results, fixtures: &Fixtures, update: bool) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for peer in &results.peers {
        let file = root().join("conformance/results").join(format!("{}.txt", peer.id));
        let mut before = Snapshot::parse(&fs::read_to_string(&file).unwrap_or_default());
        let now = Snapshot::of(results, &peer.id);
        if update {
            before.merge(now);
            let is_there = |id: &str| {
                let id = id.strip_prefix("write.").unwrap_or(id);
                fixtures.cases.iter().any(|case| case.id == id)
            };
            before.retain(is_there);
            let text = format!("# {} {}\n{before}", peer.name, peer.version);
            fs::write(&file, text).with_context(|| file.display().to_string())?;
        } else {
            let differences = before.differences(&now);
            found.extend(
                differences.iter().map(|line| format!("{}: {line} (update with `--update`)", peer.id)),
            );
        }
    }
    Ok(found)
}

/// Writes the reports. Returns the path of the page.
fn write(results: &Results, args: &Args) -> Result<PathBuf> {
    let folder = args.report.clone().unwrap_or_else(|| target_dir().join("conformance"));
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let about = About { date: today() };
    let put = |name: &str, text: String| -> Result<()> {
        let file: &Path = &folder.join(name);
        fs::write(file, text).with_context(|| file.display().to_string())
    };
    put("index.html", results.to_html(&about))?;
    put("report.json", results.to_json(&about).to_string())?;
    put("junit.xml", results.to_junit())?;
    let failed: usize = results.peers.iter().map(|peer| results.summary(&peer.id, |_| true).failed).sum();
    let asked = |direction| results.asked.iter().filter(|asked| asked.direction == direction).count();
    let [read, write, reject] = Direction::ALL.map(asked);
    println!(
        "cases: {read} to read, {write} to write, {reject} to refuse; {failed} fail unexpectedly; {}",
        folder.join("index.html").display()
    );
    Ok(folder)
}

/// Returns the date, if the system has it.
fn today() -> String {
    output(Command::new("date").args(["-u", "+%Y-%m-%d"])).unwrap_or_default().trim().to_owned()
}
