//! Chunks that no array has: outside of a shape that became smaller, or of an array that was erased. They become elements
//! again when an array gets them. One listing shows them.

use std::collections::{BTreeMap, HashMap};

use zarr_array::meta::{ArrayMeta, Format, NodeMeta};
use zarr_array::traits::{Key, Prefix};
use zarr_array::{Limits, block_on, node};

use super::Finding;
use super::data::stray;
use crate::args::target::{Target, registry};
use crate::exit::{Failure, say};
use crate::listed::Grid;
use crate::stored::{Keys, chunk, is_document_of, may_be_chunk};

/// The largest number of objects that are listed. Takes some tenths of a second on a local disk.
const LISTED: usize = 100_000;

/// The nodes of a hierarchy by the prefixes of their keys, and the objects that none of them has.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    owners: HashMap<String, Owner>,
    found: HashMap<String, BTreeMap<&'static str, (u64, Key)>>,
}

/// The deepest node above an object.
#[derive(Debug)]
enum Owner {
    Array(Format, Grid),
    Group,
    /// A node that cannot be understood. Nobody knows its objects.
    Unknown,
}

impl Leftovers {
    /// Adds a node, or a node that is broken.
    pub(super) fn add(&mut self, path: &str, node: Option<&NodeMeta>) {
        let array = |array: &ArrayMeta| {
            let grid = Grid::of(array, &registry(), &Limits::default());
            grid.map(|grid| Owner::Array(array.format(), grid))
        };
        let owner = match node {
            Some(NodeMeta::Array(meta)) => array(meta).unwrap_or(Owner::Unknown),
            Some(NodeMeta::Group(_)) => Owner::Group,
            None => Owner::Unknown,
        };
        self.owners.insert(prefix(path), owner);
    }

    /// Lists the objects below the target.
    ///
    /// # Errors
    /// Those of the store, also for an object that cannot be seen.
    pub(super) fn look(&mut self, target: &Target) -> Result<(), Failure> {
        for (at, listed) in Keys::new(&target.storage, target.prefix()?).enumerate() {
            if at == LISTED {
                say(
                    "note: only the first 100,000 objects were looked at for chunks that no array has; `--data` looks at all \
                     of the arrays",
                );
                break;
            }
            let listed = listed?;
            let key = listed.key.as_str();
            let mut ends = key.rmatch_indices('/').map(|(at, _)| at + 1).chain([0]);
            let Some((above, owner)) = ends.find_map(|end| self.owners.get_key_value(&key[..end])) else {
                continue;
            };
            let name = &key[above.len()..];
            let why = match owner {
                Owner::Array(format, _) if is_document_of(name, Some(*format)) => continue,
                Owner::Array(_, grid) => match chunk(name, &*grid.keys, &grid.counts) {
                    Ok(_) => continue,
                    Err(why) => why,
                },
                // Hidden folders are those of tools.
                Owner::Group if name.split('/').any(|name| name.starts_with('.')) => continue,
                Owner::Group if may_be_chunk(name) => "the name of a chunk, but no array has it",
                Owner::Group | Owner::Unknown => continue,
            };
            block_on(node::check_stray(&target.storage, &listed))?;
            let found = self.found.entry(above.clone()).or_default();
            found.entry(why).or_insert((0, listed.key)).0 += 1;
        }
        Ok(())
    }

    /// Returns the findings of a node.
    pub(super) fn of(&self, path: &str) -> impl Iterator<Item = Finding> {
        let found = self.found.get(&prefix(path)).into_iter().flatten();
        found.map(|(why, (count, key))| {
            let mut message = (*why).to_owned();
            if *count > 1 {
                message += &format!(", and {} more", count - 1);
            }
            Finding { message, ..stray(key, why) }
        })
    }
}

/// Returns the prefix of the keys of a node, as a text.
fn prefix(path: &str) -> String {
    Prefix::of_node(path).map_or_else(|_| path.to_owned(), |prefix| prefix.as_str().to_owned())
}
