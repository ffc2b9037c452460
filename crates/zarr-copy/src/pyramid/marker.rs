//! The marker of a pyramid that is not complete, and the records of finished work beside it. **For authors of tools** that
//! look for unfinished work.
//!
//! They are not those of a copy: what a copy has left may be erased, but here the group and level 0 are the user's.

use std::collections::HashSet;

use sha2::{Digest, Sha256};
use zarr_array::meta::json::Object;
use zarr_array::meta::{Ignore, parse_json};
use zarr_array::traits::{Key, Prefix, StoreResult};
use zarr_array::{Limits, Storage};

use crate::digest::{add, hex};
use crate::error::CopyResult;

/// The name of the object. It begins with a period, so listings of nodes ignore it.
pub const NAME: &str = ".zarr-pyramid.json";

/// The folder of the records, beside the marker.
const JOBS: &str = ".zarr-pyramid.jobs/";

/// The record of the removal of older levels.
const CLEARED: &str = "cleared";

/// The largest marker or record, in bytes.
pub(crate) const LARGEST: u64 = 16 << 20;

/// Returns the key of the marker of a group.
///
/// # Errors
/// If the key is too long.
pub fn key(group: &Prefix) -> StoreResult<Key> {
    group.key(NAME)
}

/// Returns the path of level 0 that a marker names.
pub(crate) fn level0(marker: &[u8]) -> Option<String> {
    let document = parse_json(marker, &Limits::default(), &mut Ignore).ok()?;
    document.root.as_object()?.get("pyramid_of")?.as_text()
}

/// Returns the text of the marker for level 0 at a path. `settings` are all texts that the levels depend on.
pub(crate) fn text(level0: &str, settings: impl IntoIterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    for text in settings {
        add(&mut hash, &text);
    }
    let mut marker = Object::new();
    marker.set("pyramid_of", level0);
    marker.set("digest", format!("sha256:{}", hex(&hash.finalize())));
    marker.to_value().to_pretty()
}

/// The records of a group. A record is an object with the numbers of finished jobs of a pass; its name has the levels of the
/// pass, because other threads or memory give other passes.
#[derive(Debug)]
pub(crate) struct Records {
    storage: Storage,
    folder: Prefix,
    next: u64,
}

impl Records {
    pub(crate) fn new(storage: &Storage, group: &Prefix) -> StoreResult<Self> {
        Ok(Self { storage: storage.clone(), folder: Prefix::new(format!("{group}{JOBS}"))?, next: 0 })
    }

    /// Returns the key of the folder.
    pub(crate) fn folder(&self) -> &str {
        self.folder.as_str()
    }

    /// Returns the finished jobs of a pass, and counts the records. Without listings there are none.
    pub(crate) async fn done(&mut self, pass: &str) -> CopyResult<HashSet<u64>> {
        let mut done = HashSet::new();
        if !self.storage.capabilities().list {
            return Ok(done);
        }
        for object in self.storage.list_all(&self.folder).await? {
            let Some((of, number)) = object.key.name().rsplit_once('.') else { continue };
            self.next = self.next.max(number.parse::<u64>().map_or(0, |number| number.saturating_add(1)));
            if of != pass {
                continue;
            }
            let Some(record) = self.storage.get(&object.key, LARGEST).await? else { continue };
            done.extend(
                String::from_utf8_lossy(&record).split(' ').filter_map(|job| job.parse::<u64>().ok()),
            );
        }
        Ok(done)
    }

    /// Records finished jobs. What they wrote must be durable.
    pub(crate) async fn add(&mut self, pass: &str, jobs: &[u64]) -> CopyResult<()> {
        let key = self.folder.key(&format!("{pass}.{}", self.next))?;
        self.next += 1;
        let jobs: Vec<String> = jobs.iter().map(u64::to_string).collect();
        Ok(self.storage.put(&key, jobs.join(" ")).await?)
    }

    /// Whether older levels are removed.
    pub(crate) async fn is_cleared(&self) -> CopyResult<bool> {
        Ok(self.storage.exists(&self.folder.key(CLEARED)?).await?)
    }

    pub(crate) async fn set_cleared(&self) -> CopyResult<()> {
        Ok(self.storage.put(&self.folder.key(CLEARED)?, "").await?)
    }

    /// Whether there are records.
    pub(crate) async fn are_left(&self) -> CopyResult<bool> {
        Ok(self.storage.capabilities().list
            && !self.storage.list(&self.folder, None).await?.entries.is_empty())
    }

    /// Deletes all records.
    pub(crate) async fn clear(&self) -> CopyResult<()> {
        Ok(self.storage.delete_prefix(&self.folder).await?)
    }
}
