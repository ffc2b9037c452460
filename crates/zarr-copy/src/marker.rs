//! The marker of an unfinished copy: an object at its root that names the source, until the copy is complete. **For
//! authors of tools** that look for unfinished copies.

use std::fmt::{self, Write as _};

use sha2::{Digest, Sha256};
use zarr_array::meta::json::Object;
use zarr_array::meta::{DocumentName, Ignore, parse_json};
use zarr_array::traits::{Key, Prefix, StoreResult};
use zarr_array::{Limits, Storage};

use crate::digest::{self, hex};
use crate::plan::{CopyPlan, Kind};

/// The name of the object. It begins with a period, so listings of nodes ignore it.
pub const NAME: &str = ".zarr-copy.json";

/// The folder beside the marker in which the workers of a job record what they do. Deleted with the marker.
pub(crate) const JOBS: &str = ".zarr-copy.jobs/";

/// The largest marker, in bytes.
pub const LARGEST: u64 = 1 << 20;

/// Returns the key of the marker of a copy at `root`.
///
/// # Errors
/// If the key is too long.
pub fn key(root: &Prefix) -> StoreResult<Key> {
    root.key(NAME)
}

/// Returns the source that a marker names.
pub fn source(marker: &[u8]) -> Option<String> {
    let document = parse_json(marker, &Limits::default(), &mut Ignore).ok()?;
    document.root.as_object()?.get("copy_of")?.to_text().ok().map(|text| text.into_owned())
}

/// Returns the source of the unfinished copy at `root`, if there is one.
///
/// # Errors
/// Those of the store.
pub async fn unfinished(storage: &Storage, root: &Prefix) -> StoreResult<Option<String>> {
    let marker = storage.get(&key(root)?, LARGEST).await?;
    Ok(marker.and_then(|found| source(&found)))
}

/// A hash as the target of formatted text.
struct Written<'a>(&'a mut Sha256);

impl fmt::Write for Written<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

/// Makes the text of the marker. The same source, with the same documents and settings, gives the same text, because
/// settings change the documents of the copy; the selected parts of arrays are added. Chunks do not count.
pub(crate) fn text(source: &str, plan: &CopyPlan) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| digest::add(&mut hash, text);
    add(source);
    let mut documents = |of: Vec<(DocumentName, Option<String>)>| {
        for (name, text) in of {
            add(name.as_str());
            add(text.as_deref().unwrap_or_default());
        }
    };
    for node in plan.nodes() {
        documents(node.documents());
        if let Kind::Array(array) = &node.kind {
            documents(array.source.metadata().documents());
        }
    }
    for node in plan.nodes() {
        add(node.below.as_str());
        add(if node.consolidated { "consolidated" } else { "" });
    }
    for node in plan.nodes() {
        if let Kind::Array(array) = &node.kind
            && let Some(selection) = &array.selection
        {
            // Writing to a hash never fails. A list is not made into one text, which may be long.
            let _ = writeln!(Written(&mut hash), "{:?} {selection:?}", node.path());
        }
    }
    let mut marker = Object::new();
    marker.set("copy_of", source);
    marker.set("digest", format!("sha256:{}", hex(&hash.finalize())));
    marker.to_value().to_pretty()
}
