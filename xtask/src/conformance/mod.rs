//! `cargo xtask conformance`: who reads, writes and refuses what, of this implementation and of others.
//!
//! - [`browser`]: the page of the report in a browser
//! - [`peers`]: the peers in conformance/peers, and how they are installed
//!
//! What is asked, and how it is judged, is the suite's: `zarr_conformance::implementation`.

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

/// Who is asked for what.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Only this peer of conformance/peers (may be repeated)
    #[arg(long, value_name = "NAME")]
    peer: Vec<String>,
    /// An implementation of your own: the command of its adapter, which `--name` names
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
    /// The name of your own implementation
    #[arg(long, value_name = "NAME", default_value = "mine", requires = "command")]
    name: String,
    /// The adapter of `--command` serves
    #[arg(long, requires = "command")]
    serve: bool,
    /// What is known to fail of your own implementation: a file like those in conformance/expect
    #[arg(long, value_name = "FILE", requires = "command")]
    expect: Option<PathBuf>,
    /// Only cases whose id is like this, in which `*` stands for anything (may be repeated)
    #[arg(long, value_name = "GLOB")]
    case: Vec<String>,
    /// The folder with the manifest and the stores [default: conformance]
    #[arg(long, value_name = "DIR")]
    fixtures: Option<PathBuf>,
    /// Take over what differs from conformance/results
    #[arg(long, conflicts_with_all = ["command", "fixtures"])]
    update: bool,
    /// Leave what was written in target/conformance
    #[arg(long)]
    keep: bool,
    /// Write the page, JSON and JUnit to this folder [default: target/conformance]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Look at the page in a browser (chromium), and put pictures beside it
    #[arg(long)]
    screenshots: bool,
}

impl Args {
    /// One peer is asked for everything.
    pub(crate) fn of(peer: &str) -> Self {
        Self { peer: vec![peer.to_owned()], ..Self::default() }
    }
}

/// Runs it; fails where something is not as it is known to be.
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
    bail!("{} verdicts are not as {said} say", surprises.len())
}

/// The peers that take part, and the ids of those that are asked.
fn taking_part(args: &Args) -> Result<(Vec<Peer>, Vec<String>)> {
    let mut sources = peers::all()?;
    if let Some(unknown) = args.peer.iter().find(|name| sources.iter().all(|source| source.id != **name)) {
        let names: Vec<_> = sources.iter().map(|source| source.id.as_str()).collect();
        bail!("there is no peer {unknown:?}, only {}", names.join(", "));
    }
    if args.command.is_some() {
        // Somebody has to read what is written, and to know what shall be.
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
        // As a shell cuts it, so that quotes and variables do what one thinks.
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

/// Compares with the snapshots in conformance/results, or takes over what differs.
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
                differences.iter().map(|line| format!("{}: {line} (`--update` takes it over)", peer.id)),
            );
        }
    }
    Ok(found)
}

/// Writes the reports; says where.
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

/// The day, where the system tells it.
fn today() -> String {
    output(Command::new("date").args(["-u", "+%Y-%m-%d"])).unwrap_or_default().trim().to_owned()
}
