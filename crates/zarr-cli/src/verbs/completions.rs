//! `zarr completions`: prints the completion script of a shell.

use clap_complete::{Shell, generate};

use crate::exit::{Exit, Outcome};
use crate::out::stdout::Stdout;
use crate::{command, name};

/// Print the script with which a shell completes the verbs and options of this command.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  zarr completions bash > ~/.local/share/bash-completion/completions/zarr
  zarr completions zsh > ~/.zfunc/_zarr
  zarr completions fish > ~/.config/fish/completions/zarr.fish";

pub(crate) fn run(args: &Args) -> Outcome {
    // Writing to memory cannot fail.
    let mut script = Vec::new();
    generate(args.shell, &mut command(), name::get(), &mut script);
    let mut out = Stdout::new();
    out.write(&script)?;
    out.flush()?;
    Ok(Exit::Ok)
}
