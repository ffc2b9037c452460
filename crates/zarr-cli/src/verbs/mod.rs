//! A file per verb: its options, and what it does.

mod append;
mod attrs;
mod cat;
mod checksum;
mod chunks;
mod completions;
mod consolidate;
mod copy;
mod create;
mod diff;
mod doctor;
mod du;
mod explain;
pub(crate) mod help;
mod info;
mod ls;
mod man;
mod migrate;
mod mv;
#[cfg(feature = "page")]
mod page;
mod pyramid;
mod remove_metadata;
mod resize;
mod rm;
#[cfg(feature = "serve")]
mod serve;
mod set;
mod stats;
mod sweep;
mod sync;
mod tree;
mod validate;
#[cfg(feature = "page")]
mod view;
mod write;

use std::path::PathBuf;

use clap::Subcommand;

use crate::args::stores::Stores;
use crate::exit::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Info(info::Args),
    Tree(tree::Args),
    Ls(ls::Args),
    Cat(cat::Args),
    #[command(hide = true)]
    Chunks(chunks::Args),
    Du(du::Args),
    Explain(explain::Args),
    Diff(diff::Args),
    Stats(stats::Args),
    #[command(visible_alias = "cp")]
    Copy(copy::Args),
    Sync(sync::Args),
    Pyramid(pyramid::Args),
    Create(create::Args),
    Append(append::Args),
    Write(write::Args),
    Resize(resize::Args),
    Set(set::Args),
    Attrs(attrs::Args),
    Mv(mv::Args),
    Rm(rm::Args),
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    #[cfg(feature = "page")]
    View(view::Args),
    Consolidate(consolidate::Args),
    Migrate(migrate::Args),
    #[command(hide = true)]
    RemoveMetadata(remove_metadata::Args),
    #[command(hide = true)]
    Sweep(sweep::Args),
    Validate(validate::Args),
    Doctor(doctor::Args),
    Checksum(checksum::Args),
    Completions(completions::Args),
    Man(man::Args),
    Help(help::Args),
}

impl Verb {
    /// Whether the verb may change a store.
    pub(crate) fn writes(&self) -> bool {
        matches!(
            self,
            Self::Copy(_)
                | Self::Sync(_)
                | Self::Pyramid(_)
                | Self::Create(_)
                | Self::Append(_)
                | Self::Write(_)
                | Self::Resize(_)
                | Self::Set(_)
                | Self::Attrs(_)
                | Self::Mv(_)
                | Self::Rm(_)
                | Self::Consolidate(_)
                | Self::Migrate(_)
                | Self::RemoveMetadata(_)
        )
    }

    /// Runs the verb.
    pub(crate) fn run(&self, stores: &Stores) -> Outcome {
        match self {
            Self::Info(args) => info::run(args, stores),
            Self::Tree(args) => tree::run(args, stores),
            Self::Ls(args) => ls::run(args, stores),
            Self::Cat(args) => cat::run(args, stores),
            Self::Chunks(args) => chunks::run(args, stores),
            Self::Du(args) => du::run(args, stores),
            Self::Explain(args) => explain::run(args, stores),
            Self::Diff(args) => diff::run(args, stores),
            Self::Stats(args) => stats::run(args, stores),
            Self::Copy(args) => copy::run(args, stores),
            Self::Sync(args) => sync::run(args, stores),
            Self::Pyramid(args) => pyramid::run(args, stores),
            Self::Create(args) => create::run(args, stores),
            Self::Append(args) => append::run(args, stores),
            Self::Write(args) => write::run(args, stores),
            Self::Resize(args) => resize::run(args, stores),
            Self::Set(args) => set::run(args, stores),
            Self::Attrs(args) => attrs::run(args, stores),
            Self::Mv(args) => mv::run(args, stores),
            Self::Rm(args) => rm::run(args, stores),
            #[cfg(feature = "serve")]
            Self::Serve(args) => serve::run(args, stores),
            #[cfg(feature = "page")]
            Self::View(args) => view::run(args, stores),
            Self::Consolidate(args) => consolidate::run(args, stores),
            Self::Migrate(args) => migrate::run(args, stores),
            Self::RemoveMetadata(args) => remove_metadata::run(args, stores),
            Self::Sweep(args) => sweep::run(args, stores),
            Self::Validate(args) => validate::run(args, stores),
            Self::Checksum(args) => checksum::run(args, stores),
            Self::Doctor(args) => doctor::run(args, stores),
            Self::Completions(args) => completions::run(args),
            Self::Man(args) => man::run(args),
            Self::Help(args) => help::run(args),
        }
    }
}

/// Prints the elements of the array at a path, one per line.
pub(crate) fn lines_of(path: PathBuf, stores: &Stores) -> Outcome {
    cat::run(&cat::Args::lines_of(path), stores)
}
