//! `zarr`: look into Zarr stores, print what they hold, create, change, copy and check them.
//!
//! One file per verb; [`exit`] has the exit codes and the one place that prints errors.

mod attrs;
mod cat;
mod chunks;
mod consolidate;
mod copy;
mod create;
mod elements;
mod exit;
mod explain;
mod extension;
mod info;
mod json;
mod listed;
mod ls;
mod migrate;
mod nested;
mod npy;
mod planned;
mod progress;
mod remove_metadata;
mod render;
mod rm;
mod select;
mod slabs;
mod stdout;
mod stored;
mod table;
mod target;
mod tree;
mod validate;
mod walk;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::{Exit, Outcome};

/// Look into Zarr stores, print what they hold, create, change, copy and check them.
#[derive(Debug, Parser)]
#[command(name = "zarr", version, arg_required_else_help = true, args_conflicts_with_subcommands = true, after_help = EXIT_CODES)]
struct Cli {
    /// Print the elements of the array at PATH, one per line (the form of the public zarr-conformance-tests).
    #[arg(long = "array_path", value_name = "PATH", hide_short_help = true)]
    array_path: Option<PathBuf>,
    #[command(subcommand)]
    verb: Option<Verb>,
}

const EXIT_CODES: &str = "\
STORE is a directory; STORE/path is a node in it, for example weather.zarr/t2m.

Exit codes: 0 ok, 1 invalid or different, 2 usage, 3 not found, 4 input or output, 5 corrupt data,
6 unsupported extension.";

#[derive(Debug, Subcommand)]
enum Verb {
    Info(info::Args),
    Tree(tree::Args),
    Ls(ls::Args),
    Cat(cat::Args),
    Chunks(chunks::Args),
    Explain(explain::Args),
    Copy(copy::Args),
    Create(create::Args),
    Attrs(attrs::Args),
    Rm(rm::Args),
    Consolidate(consolidate::Args),
    Migrate(migrate::Args),
    RemoveMetadata(remove_metadata::Args),
    Validate(validate::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // Whoever closed the stream knows.
            let _ = e.print();
            return if e.use_stderr() { Exit::Usage.into() } else { Exit::Ok.into() };
        }
    };
    let done = run(cli);
    exit::report(done)
}

fn run(cli: Cli) -> Outcome {
    match (cli.verb, cli.array_path) {
        (Some(Verb::Info(args)), _) => info::run(&args),
        (Some(Verb::Tree(args)), _) => tree::run(&args),
        (Some(Verb::Ls(args)), _) => ls::run(&args),
        (Some(Verb::Cat(args)), _) => cat::run(&args),
        (Some(Verb::Chunks(args)), _) => chunks::run(&args),
        (Some(Verb::Explain(args)), _) => explain::run(&args),
        (Some(Verb::Copy(args)), _) => copy::run(&args),
        (Some(Verb::Create(args)), _) => create::run(&args),
        (Some(Verb::Attrs(args)), _) => attrs::run(&args),
        (Some(Verb::Rm(args)), _) => rm::run(&args),
        (Some(Verb::Consolidate(args)), _) => consolidate::run(&args),
        (Some(Verb::Migrate(args)), _) => migrate::run(&args),
        (Some(Verb::RemoveMetadata(args)), _) => remove_metadata::run(&args),
        (Some(Verb::Validate(args)), _) => validate::run(&args),
        (None, Some(path)) => cat::run(&cat::Args::lines_of(path)),
        (None, None) => Err(exit::Failure::usage("nothing to do; see zarr --help")),
    }
}
