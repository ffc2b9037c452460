//! A new archive: level 0 is copied into a hidden directory beside it, where the levels are made, and which is packed at the end.

use std::fs;
use std::path::{Path, PathBuf};

use zarr_array::traits::Prefix;
use zarr_array::{block_on, node};
use zarr_store::split_node;
use zarr_store::zip::{PackOptions, write_file};
use zarr_store_fs::FsStore;

use super::settings::Args;
use crate::args::stores::{Stores, directory_of, shown};
use crate::exit::{Exit, Failure, Outcome};

/// An archive to be made.
#[derive(Debug)]
pub(super) struct Archive {
    file: PathBuf,
    /// The hidden directory.
    hidden: PathBuf,
    /// The directory in it that is packed. It has the name of the archive, which becomes that of the image.
    content: PathBuf,
}

impl Archive {
    /// Returns the archive at a destination; `None` if the destination is none, or a node inside of one.
    pub(super) fn of(destination: &Path, stores: &Stores) -> Option<Self> {
        let url = stores.destination_url(destination)?;
        let (store, node, _) = split_node(&url);
        let (file, adapter) = store.rsplit_once('|')?;
        let file = directory_of(file).filter(|_| adapter.eq_ignore_ascii_case("zip:") && node == "/")?;
        let name = file.file_name()?.to_str()?.to_owned();
        let hidden = file.with_file_name(format!(".{name}.zarr-pyramid"));
        let stem = file.file_stem()?.to_owned();
        Some(Self { content: hidden.join(stem), file, hidden })
    }

    /// Makes the levels, and packs them with level 0.
    pub(super) fn fill(&self, args: &Args, stores: &Stores, make: impl FnOnce(&Args) -> Outcome) -> Outcome {
        let Self { file, hidden, content } = self;
        let given = shown(file);
        if file.exists() {
            return Err(Failure::usage(format!("{given:?} exists, and an archive is written as a whole")));
        }
        if hidden.exists() && !args.resume && !args.dry_run {
            let message = format!(
                "an earlier run for {given:?} is not complete: `--resume` goes on, or remove {:?}",
                shown(hidden)
            );
            return Err(Failure::usage(message));
        }
        let outcome = make(&Args { destination: Some(content.clone()), ..args.clone() })?;
        if args.dry_run || outcome != Exit::Ok {
            return Ok(outcome);
        }
        let store = stores.traced(FsStore::open(content)?);
        block_on(write_file(&store, &Prefix::root(), file, &PackOptions::new(node::is_document)))?;
        fs::remove_dir_all(hidden)
            .map_err(|e| Failure::io(&e, format_args!("cannot remove {:?}", shown(hidden))))?;
        Ok(outcome)
    }
}
