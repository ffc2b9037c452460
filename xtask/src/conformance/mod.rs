//! `cargo xtask conformance`: what this implementation and others read, write and refuse.
//!
//! - [`browser`]: the page of the report in a browser
//! - [`peers`]: the peers in conformance/peers, and how they are installed
//!
//! The requests and the verdicts are those of the suite, `zarr_conformance::implementation`.

mod browser;
mod peers;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use zarr_conformance::implementation::{
    About, Deviations, Fixtures, Options, Peer, Results, Snapshot, run as ask,
};

use crate::command::{root, target_dir};
use crate::install;

/// The selection of peers and cases.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Only this peer of conformance/peers (may be repeated). With `--command`, peers only read what yours writes, which
    /// is not judged without a peer
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
    /// Write differing results into conformance/results, and with --screenshots the pictures of the README of zarr-cli
    #[arg(long, conflicts_with_all = ["command", "fixtures"])]
    update: bool,
    /// Keep written stores in target/conformance
    #[arg(long)]
    keep: bool,
    /// Write the page, JSON and JUnit to this folder [default: target/conformance]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Check the page, and those of `zarr serve`, `zarr view` and `cargo xtask bench --page`, in a browser (chromium);
    /// write pictures beside it
    #[arg(long)]
    screenshots: bool,
}

impl Args {
    /// Returns arguments for all cases with one peer.
    pub(crate) fn of(peer: &str) -> Self {
        Self { peer: vec![peer.to_owned()], ..Self::default() }
    }

    /// Returns arguments for all cases with all peers, and for the pages in a browser.
    pub(crate) fn with_pictures() -> Self {
        Self { screenshots: true, ..Self::default() }
    }
}

/// Runs the suite. Fails if a result is unexpected.
pub(crate) fn run(args: &Args) -> Result<()> {
    let fixtures = Fixtures::load(&args.fixtures.clone().unwrap_or_else(|| root().join("conformance")))?;
    let (peers, asked) = taking_part(args)?;
    let known: BTreeMap<_, _> =
        peers.iter().map(|peer| Ok((&*peer.id, known(args, &peer.id)?))).collect::<Result<_>>()?;
    let work = target_dir().join("conformance").join(format!("work-{}", std::process::id()));
    let mut options = Options::new(work);
    options.cases.clone_from(&args.case);
    options.write = args.command.is_none() || peers.len() > 1;
    options.asked = asked;
    options.keep = args.keep;
    options.tell = |doing| println!("{doing}");
    let mut results = ask(&fixtures, &peers, &options)?;

    let mut surprises: Vec<_> = results
        .explain(|id| known.get(id).cloned().unwrap_or_default())
        .iter()
        .map(ToString::to_string)
        .collect();
    if args.fixtures.is_none() && args.command.is_none() {
        surprises.extend(compare(&results, &fixtures, args.update)?);
    }
    println!("\n{}", results.to_table());
    let report = args.report.clone().unwrap_or_else(|| target_dir().join("conformance"));
    let page = results.write_reports(&report, &About::today())?;
    println!("{}; {}", results.to_line(), page.display());
    if args.screenshots {
        browser::check(&report)?;
        browser::check_command(&report)?;
        browser::check_kinds(&report, args.update)?;
        browser::check_bench(&report)?;
    }
    for surprise in &surprises {
        println!("UNEXPECTED {surprise}");
    }
    if surprises.is_empty() {
        return Ok(());
    }
    let said = match (&args.expect, &args.command) {
        (Some(file), _) => format!("differ from {}", file.display()),
        (None, Some(_)) => "are unexpected; name a file with known failures by --expect".to_owned(),
        (None, None) => "differ from conformance/expect and conformance/results".to_owned(),
    };
    bail!("{} verdicts {said}", surprises.len())
}

/// Returns the peers that take part, and the ids of the tested peers, or no ids if all peers are tested.
fn taking_part(args: &Args) -> Result<(Vec<Peer>, Vec<String>)> {
    let mut sources = peers::all()?;
    if let Some(unknown) = args.peer.iter().find(|name| sources.iter().all(|source| source.id != **name)) {
        let names: Vec<_> = sources.iter().map(|source| source.id.as_str()).collect();
        bail!("unknown peer {unknown:?}; the peers are {}", names.join(", "));
    }
    // Another implementation is judged by the named peers only.
    if args.command.is_some() || !args.peer.is_empty() {
        sources.retain(|source| args.peer.contains(&source.id));
    }
    sources.retain(|source| match source.missing() {
        Some(what) if !install::required() => {
            println!("SKIPPED {}: {what} is missing on this machine", source.id);
            false
        }
        _ => true,
    });
    println!("{}", installs(&sources));
    install::all(sources.iter().map(|source| {
        let install: Box<dyn FnOnce() -> Result<String> + Send> =
            Box::new(|| source.install(args.command.is_some()));
        (source.id.as_str(), install)
    }))?;
    let mut peers: Vec<_> = sources.iter().map(peers::Source::peer).collect::<Result<_>>()?;
    let mut asked = Vec::new();
    if let Some(command) = &args.command {
        peers.push(Peer::shell(&args.name, command).serving(args.serve));
        asked.push(args.name.clone());
    }
    Ok((peers, asked))
}

/// Returns a line about what is built or installed.
fn installs(sources: &[peers::Source]) -> String {
    if sources.is_empty() {
        return "builds and installs nothing; writing is not judged: name a reader by --peer".to_owned();
    }
    let plans: Vec<_> = sources.iter().map(peers::Source::plan).collect();
    format!("builds or installs what is missing: {}", plans.join(", "))
}

/// Returns the known failures of a peer.
fn known(args: &Args, id: &str) -> Result<Deviations> {
    let file = match &args.command {
        Some(_) => args.expect.clone().filter(|_| id == args.name),
        None => {
            Some(root().join("conformance/expect").join(format!("{id}.toml"))).filter(|file| file.exists())
        }
    };
    Ok(file.as_deref().map(Deviations::load).transpose()?.unwrap_or_default())
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
