//! The marker of an unfinished copy: an object at its root that names the source, until the copy is complete.

use sha2::{Digest, Sha256};
use zarr_array::meta::json::Document;
use zarr_array::meta::{DocumentName, Ignore};
use zarr_array::traits::{Key, Prefix, StoreResult};
use zarr_array::{Limits, Storage, block_on};

use super::plan::{Kind, Node};
use crate::json;
use crate::target::Target;

/// The name of the object. It begins with a period, so listings of nodes ignore it.
pub(super) const NAME: &str = ".zarr-copy.json";

/// The largest marker, in bytes.
pub(super) const LARGEST: u64 = 1 << 20;

/// The text of the marker.
#[derive(Debug)]
pub(super) struct Marker(String);

impl Marker {
    /// Makes the marker for a copy of these nodes. The same source, with the same documents and options, gives the same
    /// text, because options change the documents of the copy. Chunks do not count.
    pub(super) fn of(source: &Target, nodes: &[Node]) -> Self {
        let place = source.identity();
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            // The length separates the texts unambiguously.
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        add(&place);
        let mut documents = |of: Vec<(DocumentName, Option<String>)>| {
            for (name, text) in of {
                add(name.as_str());
                add(text.as_deref().unwrap_or_default());
            }
        };
        for node in nodes {
            documents(node.documents());
            if let Kind::Array(array) = &node.kind {
                documents(array.source.metadata().documents());
            }
        }
        for node in nodes {
            add(node.below.as_str());
            add(if node.consolidated { "consolidated" } else { "" });
        }
        let digest = format!("sha256:{:x}", hash.finalize());
        Self(json::pretty(&json::object([("copy_of", place.into()), ("digest", digest.into())]).into()))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Returns the source that a marker names.
    pub(super) fn source(found: &[u8]) -> Option<String> {
        let document = Document::parse(found, &Limits::default(), &mut Ignore).ok()?;
        document.root.as_object()?.get("copy_of")?.to_text().ok().map(|text| text.into_owned())
    }
}

/// Returns the source of the unfinished copy at `root`, if there is one.
pub(crate) fn unfinished(storage: &Storage, root: &Prefix) -> StoreResult<Option<String>> {
    let marker = block_on(storage.get(&key(root)?, LARGEST))?;
    Ok(marker.and_then(|found| Marker::source(&found)))
}

/// Returns the key of the marker of a copy at `root`.
pub(crate) fn key(root: &Prefix) -> StoreResult<Key> {
    root.key(NAME)
}
