//! What says that a copy is not complete, and of what it is one: an object at the root of the copy as long as it grows.

use sha2::{Digest, Sha256};
use zarr_array::meta::json::Document;
use zarr_array::meta::{DocumentName, Ignore};
use zarr_array::traits::{Key, Prefix, StoreResult};
use zarr_array::{Limits, Storage, block_on};

use super::plan::{Kind, Node};
use crate::json;
use crate::target::Target;

/// The name of the object. It begins with a period: listings of nodes pass it over.
pub(super) const NAME: &str = ".zarr-copy.json";

/// The largest such object, in bytes.
pub(super) const LARGEST: u64 = 1 << 20;

/// The text of the object.
#[derive(Debug)]
pub(super) struct Marker(String);

impl Marker {
    /// Of the copy of these nodes. The same source, with the same documents, copied with the same options gives the same
    /// text: what options say is in the documents of the copy. Chunks of the source are not looked at.
    pub(super) fn of(source: &Target, nodes: &[Node]) -> Self {
        let place = source.identity();
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            // With its length, so that no two lists of texts are the same bytes.
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

    /// What a marker that was found says it is a copy of.
    pub(super) fn source(found: &[u8]) -> Option<String> {
        let document = Document::parse(found, &Limits::default(), &mut Ignore).ok()?;
        document.root.as_object()?.get("copy_of")?.to_text().ok().map(|text| text.into_owned())
    }
}

/// What the unfinished copy at `root` is one of, if there is one.
pub(crate) fn unfinished(storage: &Storage, root: &Prefix) -> StoreResult<Option<String>> {
    let marker = block_on(storage.get(&key(root)?, LARGEST))?;
    Ok(marker.and_then(|found| Marker::source(&found)))
}

/// The key of the marker of a copy at `root`.
pub(crate) fn key(root: &Prefix) -> StoreResult<Key> {
    root.key(NAME)
}
