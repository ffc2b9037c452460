//! A folder or a bucket with stores in it, which is not a node itself.

use std::path::Path;

use zarr_array::traits::Prefix;
use zarr_array::{Limits, block_on, node};

use crate::args::place::Place;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::out::progress::Progress;

#[derive(Debug)]
pub(crate) struct Folder {
    /// The folder's path in what it is listed from.
    pub(crate) path: String,
    /// The nodes directly in the folder, in the order of their names.
    pub(crate) stores: Vec<Target>,
}

impl Folder {
    /// Reads a folder. Returns `None` if no store is in it, or if it cannot be listed.
    pub(crate) fn read(given: &Path, stores: &Stores) -> Option<Self> {
        let folder = Target::opened(Place::exact(given, stores), stores).ok().filter(Target::lists)?;
        let mut prefixes = block_on(folder.storage.list_dir(&folder.prefix().ok()?)).ok()?.prefixes;
        prefixes.sort_unstable();
        let progress = Progress::documents(prefixes.len(), false);
        let is_node = |prefix: &Prefix| {
            progress.add(1);
            let documents = block_on(node::documents(&folder.storage, prefix, None, &Limits::default()));
            // A store whose documents cannot be read is listed, and the note says why.
            documents.map_or(true, |documents| documents.make_node())
        };
        prefixes.retain(is_node);
        let stores: Vec<_> = prefixes.iter().map(|prefix| folder.at_path(&prefix.node_path())).collect();
        (!stores.is_empty()).then_some(Self { path: folder.path.clone(), stores })
    }
}
