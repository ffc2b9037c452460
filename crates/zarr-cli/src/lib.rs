#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

// `verbs` has a file per verb, `args` reads what the user typed, and `out` prints. Both may use what is at the root, such as
// `exit`, the exit codes and the one place that prints errors; what else is at the root several verbs use.

mod args;
mod boxes;
mod colour;
mod crew;
mod decimals;
mod decoded;
mod doomed;
mod elements;
mod exit;
mod folder;
mod frame;
mod interrupt;
mod listed;
mod name;
mod out;
mod pick;
mod planned;
#[cfg(feature = "image")]
mod scene;
mod secrets;
mod slabs;
mod sparse;
mod stored;
mod taken;
mod terminal;
mod torn;
mod trace;
mod usage;
mod verbs;
mod visit;
mod walk;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

use clap::error::Error as ClapError;
use clap::{CommandFactory, FromArgMatches, Parser};

use args::stores::Stores;
use args::{access, first, typed};
use exit::{Exit, Failure, Outcome};
use trace::Log;
use verbs::Verb;

/// Show what Zarr stores hold, print elements, and create, change, copy and check nodes.
#[derive(Debug, Parser)]
#[command(
    version = VERSION,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    override_help = verbs::help::HELP,
    after_help = EXIT_CODES
)]
struct Cli {
    /// Print the elements of the array at PATH, one per line (the form of the public zarr-conformance-tests).
    #[arg(long = "array_path", value_name = "PATH", hide = true)]
    array_path: Option<PathBuf>,
    #[command(flatten)]
    access: access::Options,
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// Other programs are called zarr as well, so the version names this one.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (Rust, ", env!("CARGO_PKG_REPOSITORY"), ")");

const EXIT_CODES: &str = "\
STORE is a directory, and STORE/path names a node in it: weather.zarr/t2m. STORE can also be a URL, with `|zarr:path`
for a node in it: file:///data/weather.zarr|zarr:t2m. Options for stores: zarr --help.

Exit codes: 0 ok, 1 invalid or different, 2 usage, 3 not found, 4 input or output, 5 corrupt data,
6 unsupported extension, 7 store unavailable, 8 permission denied, 9 conflict with another writer, 10 uncertain
write, 11 limit exceeded.";

/// Runs the command with its arguments and returns its exit code.
///
/// The first argument is the name under which the command was started. Messages and the help use it. The command writes
/// to standard output and standard error, reads the variables of the environment that name credentials, and sets a
/// handler for Ctrl-C that ends the process. So a process runs it once.
///
/// # Examples
///
/// ```
/// let code = zarr_cli::run(["zarr", "--version"].map(Into::into));
/// assert_eq!(code, 0);
/// ```
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<_> = args.into_iter().collect();
    if let Some(first) = args.first() {
        name::set(first);
    }
    typed::remember(&args);
    match parse(&args) {
        Ok((cli, paths)) => exit::report(checked(cli, &paths)),
        Err(e) => print_help(&args, &e) as u8,
    }
}

/// Prints what clap answers instead of arguments: the help, the version, or an error.
fn print_help(args: &[OsString], e: &ClapError) -> Exit {
    if let Some(hint) = first::hint(args, e) {
        exit::say(&hint);
        return Exit::Usage;
    }
    let text = e.render().ansi().to_string();
    let text = secrets::without_secrets(&text);
    let text = name::in_text(&text);
    // If the stream is closed, there is nowhere to report this.
    if e.use_stderr() {
        let _ = write!(anstream::stderr(), "{text}");
        Exit::Usage
    } else {
        let _ = write!(anstream::stdout(), "{text}");
        Exit::Ok
    }
}

/// Returns the command line, and the paths in it. `zarr STORE` is `zarr info STORE`.
fn parse(args: &[OsString]) -> Result<(Cli, Vec<PathBuf>), ClapError> {
    let matches = command().try_get_matches_from(args).or_else(|e| match first::with_info(args, &e) {
        Some(args) => command().try_get_matches_from(args),
        None => Err(e),
    })?;
    Ok((Cli::from_arg_matches(&matches)?, typed::paths(&matches)))
}

/// Returns the command line as clap knows it, under the name of this process.
fn command() -> clap::Command {
    Cli::command().name(name::get()).bin_name(name::get())
}

/// Runs the verb if the paths of the command line may be used.
fn checked(cli: Cli, paths: &[PathBuf]) -> Outcome {
    typed::check(paths)?;
    if cli.access.confined {
        typed::check_confined(paths)?;
    }
    traced(cli)
}

/// Runs the verb. The trace is completed even if the verb fails.
fn traced(cli: Cli) -> Outcome {
    let mut access = cli.access.access(environment())?;
    let Some(file) = cli.access.trace.clone() else { return durable(cli, Stores::new(access)) };
    let log = Log::open(&file)?;
    access.trace = Some(log.trace());
    let done = durable(cli, Stores::new(access));
    let written = log.finish().map_err(|e| Failure::io(&e, format_args!("cannot write {file:?}")));
    done.and_then(|exit| written.map(|()| exit))
}

/// Returns the environment variables that are valid text. Only the stores read them.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// Runs the verb. With `--durable` waits in the end until everything is on the disk.
fn durable(cli: Cli, stores: Stores) -> Outcome {
    if !cli.access.durable {
        return chosen(cli, &stores);
    }
    if !cli.verb.as_ref().is_some_and(Verb::writes) {
        return Err(Failure::usage("--durable is for verbs that write"));
    }
    let stores = stores.durable();
    let exit = chosen(cli, &stores)?;
    stores.sync()?;
    Ok(exit)
}

/// Runs the verb that the command line names.
fn chosen(cli: Cli, stores: &Stores) -> Outcome {
    match (cli.verb, cli.array_path) {
        (Some(_), Some(_)) => Err(Failure::usage("--array_path cannot be combined with a verb")),
        (Some(verb), None) => verb.run(stores),
        (None, Some(path)) => verbs::lines_of(path, stores),
        (None, None) => Err(Failure::usage("nothing to do; see `zarr --help`")),
    }
}
