//! Tests an implementation of Zarr in any language: its adapter reads stores that other implementations wrote, and
//! refuses malformed stores.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use zarr_conformance::implementation::{About, Deviations, Fixtures, Options, Peer, SuiteError, run};

/// Tests what an implementation of Zarr, in any language, reads, writes and refuses.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Ask an adapter for all cases, print a table, and write a page, JSON and JUnit
    ///
    /// The exit code is 0 if all verdicts are expected, 1 if not, and 2 for wrong usage and errors of the suite.
    ///
    /// An adapter is a program with the calls `info NODE`, `read [--json] NODE`, `list STORE` and `write [--json] NODE
    /// METADATA`. It exits with 0 after success, with 1 and a message if it refuses the store, and with 89 for a call
    /// that it does not implement. The protocol is in conformance/peers/README.md of the repository.
    ///
    /// Stores that an implementation writes are judged by other implementations that read them. So writing is asked
    /// only if an adapter of another implementation is named by `--peer`. It must read the stores itself, because it
    /// also provides the elements to write.
    Run(Run),
    /// Write the stores and their manifest.json to a folder, to look at a failing case
    ///
    /// The manifest has the `store` and the `array` of each case, as the report has.
    Unpack {
        /// The folder, which is created or empty
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Run {
    /// The command of the adapter, for the shell `sh`
    #[arg(long, value_name = "COMMAND")]
    command: String,
    /// The name of the implementation in the report
    #[arg(long, value_name = "NAME", default_value = "mine")]
    name: String,
    /// The adapter answers many requests in one process (the call `serve`), as adapters with protocol.py do
    #[arg(long)]
    serve: bool,
    /// The known failures, a TOML file; any other failure is unexpected
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Only cases whose id matches this, where `*` matches any text (may be repeated)
    #[arg(long, value_name = "GLOB")]
    case: Vec<String>,
    /// A folder with other stores and their manifest.json
    #[arg(long, value_name = "DIR")]
    fixtures: Option<PathBuf>,
    /// Another implementation, which reads what this one writes: the command of its adapter, which is started for each
    /// call (may be repeated)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = peer)]
    peer: Vec<Peer>,
    /// The folder for index.html, report.json and junit.xml
    #[arg(long, value_name = "DIR", default_value = "zarr-conformance")]
    report: PathBuf,
    /// Keep the folder with the stores, also with those that were written
    #[arg(long)]
    keep: bool,
}

fn peer(text: &str) -> Result<Peer, &'static str> {
    let (name, command) = text.split_once('=').ok_or("expected NAME=COMMAND")?;
    Ok(Peer::shell(name, command))
}

fn main() -> ExitCode {
    let done = match Cli::parse().action {
        Action::Run(args) => judge(&args),
        Action::Unpack { folder } => Fixtures::bundled(&folder).map(|fixtures| {
            println!("{} cases, {}", fixtures.cases.len(), folder.join("manifest.json").display());
            true
        }),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the suite. Returns whether all verdicts are expected.
fn judge(args: &Run) -> Result<bool, SuiteError> {
    let known = args.expect.as_deref().map(Deviations::load).transpose()?.unwrap_or_default();
    let work = tempfile::Builder::new().prefix("zarr-conformance-").tempdir()?;
    let fixtures = match &args.fixtures {
        Some(folder) => Fixtures::load(&std::path::absolute(folder)?)?,
        None => Fixtures::bundled(&work.path().join("fixtures"))?,
    };
    if args.keep {
        println!("stores of {} cases: {}", fixtures.cases.len(), fixtures.root.display());
    }
    let mut peers = args.peer.clone();
    peers.push(Peer::shell(&args.name, &args.command).serving(args.serve));
    let mut options = Options::new(work.path().join("written"));
    options.cases.clone_from(&args.case);
    options.asked = vec![args.name.clone()];
    options.write = !args.peer.is_empty();
    options.keep = args.keep;
    options.tell = |doing| println!("{doing}");
    if !options.write {
        println!("writing is not judged: name a reader by --peer");
    }
    let mut results = run(&fixtures, &peers, &options)?;
    let surprises = results.explain(|_| known.clone());
    println!("\n{}", results.to_table());
    let page = results.write_reports(&args.report, &About::today())?;
    println!("{}; {}", results.to_line(), page.display());
    for surprise in &surprises {
        println!("UNEXPECTED {surprise}");
    }
    if args.keep {
        println!("kept {}", work.keep().display());
    }
    Ok(surprises.is_empty())
}
