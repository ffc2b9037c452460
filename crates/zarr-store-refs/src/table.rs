//! The references of one file in compact memory: keys in one text, 32 bytes a reference, each location once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::limits::RefsLimits;
use zarr_store::references::Reference;
use zarr_traits::store::{Answer, Dir, List, ListDir, Listed, Page};
use zarr_traits::strided::to_usize;
use zarr_traits::{Bytes, Key, Prefix, StoreError, StoreErrorKind, StoreResult};

/// The number of keys in one page of a listing.
pub(crate) const PAGE: usize = 10_000;

/// The references of one file, in ascending order of their keys.
pub(crate) struct Table {
    keys: String,
    /// The bytes of all values that are in the file itself.
    inline: Bytes,
    locations: Vec<Arc<str>>,
    problems: Vec<String>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u32,
    key_len: u32,
    /// The index of the location; or a mark.
    location: u32,
    offset: u64,
    len: u64,
}

/// Instead of a location: a range of `inline`, and the index of a problem.
const INLINE: u32 = u32::MAX;
const PROBLEM: u32 = u32::MAX - 1;
/// The length of a reference to a whole object. No range has it, because it would end beyond `u64`.
const WHOLE: u64 = u64::MAX;

impl Table {
    fn key(&self, entry: &Entry) -> &str {
        key(&self.keys, entry)
    }

    /// Returns the reference of a key.
    pub(crate) fn find(&self, key: &str) -> StoreResult<Option<Reference>> {
        let Ok(at) = self.entries.binary_search_by(|entry| self.key(entry).cmp(key)) else { return Ok(None) };
        let Entry { location, offset, len, .. } = self.entries[at];
        match (location, usize::try_from(offset)) {
            (INLINE, Ok(start)) => {
                let end = start + to_usize(len);
                Ok(Some(Reference::Bytes(self.inline.slice(start..end))))
            }
            (PROBLEM, Ok(problem)) => {
                Err(StoreError::new(StoreErrorKind::Corrupt, &self.problems[problem]).with_key(key))
            }
            (location, _) => {
                let location = Arc::clone(&self.locations[location as usize]);
                Ok(Some(match len {
                    WHOLE => Reference::Object(location),
                    _ => Reference::Range { location, offset, len, check: None },
                }))
            }
        }
    }

    /// The entries whose keys begin with `prefix`.
    fn below(&self, prefix: &Prefix) -> &[Entry] {
        let start = self.entries.partition_point(|entry| self.key(entry) < prefix.as_str());
        let below = &self.entries[start..];
        &below[..below.partition_point(|entry| self.key(entry).starts_with(prefix.as_str()))]
    }

    /// Answers a listing, one page of it.
    pub(crate) fn list(&self, list: List<'_>) -> StoreResult<Answer> {
        let below = self.below(list.prefix);
        let after = list.after.map_or(0, |after| below.partition_point(|e| self.key(e) <= after.as_str()));
        let page = &below[after..][..PAGE.min(below.len() - after)];
        let entries = page.iter().map(|entry| self.listed(entry)).collect::<StoreResult<_>>()?;
        Ok(Answer::List(Page::new(entries, below.len() > after + PAGE)))
    }

    /// Answers a listing of one level.
    pub(crate) fn list_dir(&self, list: ListDir<'_>) -> StoreResult<Answer> {
        let mut below = self.below(list.prefix);
        let mut dir = Dir::default();
        while let Some(entry) = below.first() {
            let key = self.key(entry);
            let rest = &key[list.prefix.as_str().len()..];
            let skipped = match rest.split_once('/') {
                None => {
                    dir.objects.push(self.listed(entry)?);
                    1
                }
                Some((name, _)) => {
                    let child = list.prefix.child(name)?;
                    let inside = below.partition_point(|e| self.key(e).starts_with(child.as_str()));
                    dir.prefixes.push(child);
                    inside
                }
            };
            below = &below[skipped..];
        }
        Ok(Answer::ListDir(dir))
    }

    fn listed(&self, entry: &Entry) -> StoreResult<Listed> {
        let listed = Listed::new(Key::new(self.key(entry))?);
        let has_size = entry.location != PROBLEM && entry.len != WHOLE;
        Ok(if has_size { listed.with_size(entry.len) } else { listed })
    }

    /// The number of references.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({} references)", self.len())
    }
}

fn key<'a>(keys: &'a str, entry: &Entry) -> &'a str {
    &keys[entry.key as usize..][..entry.key_len as usize]
}

/// Collects references in any order.
pub(crate) struct Builder {
    keys: String,
    inline: Vec<u8>,
    locations: Vec<Arc<str>>,
    known: HashMap<Arc<str>, u32>,
    problems: Vec<String>,
    entries: Vec<Entry>,
    limits: RefsLimits,
}

impl Builder {
    /// Returns an empty table within limits.
    pub(crate) fn new(limits: &RefsLimits) -> Self {
        Self {
            keys: String::new(),
            inline: Vec::new(),
            locations: Vec::new(),
            known: HashMap::new(),
            problems: Vec::new(),
            entries: Vec::new(),
            limits: limits.clone(),
        }
    }

    /// The number of references that may be added.
    pub(crate) fn left(&self) -> usize {
        self.limits.references - self.entries.len()
    }

    /// Adds a value that is in the file itself.
    pub(crate) fn inline(&mut self, key: &str, bytes: &[u8]) -> StoreResult<()> {
        let offset = self.inline.len() as u64;
        self.inline.extend_from_slice(bytes);
        self.push(key, INLINE, offset, bytes.len() as u64)
    }

    /// Adds a reference that is an error when it is read.
    pub(crate) fn problem(&mut self, key: &str, why: String) -> StoreResult<()> {
        let index = self.problems.len() as u64;
        self.problems.push(why);
        self.push(key, PROBLEM, index, 0)
    }

    /// Adds a reference to a range of an object, or to all of it.
    pub(crate) fn target(&mut self, key: &str, location: &str, range: Option<(u64, u64)>) -> StoreResult<()> {
        let (len, most) = (location.len(), self.limits.location_bytes);
        if len > most {
            return self.problem(key, format!("the location has {len} bytes, at most {most} are accepted"));
        }
        if let Some((offset, length)) = range
            && offset.checked_add(length).is_none()
        {
            return self.problem(key, format!("{length} bytes at offset {offset} are in no object"));
        }
        let index = match self.known.get(location) {
            Some(index) => *index,
            None => {
                let index = u32::try_from(self.locations.len()).unwrap_or(PROBLEM);
                if index >= PROBLEM {
                    return Err(too_many());
                }
                let location: Arc<str> = location.into();
                self.locations.push(Arc::clone(&location));
                self.known.insert(location, index);
                index
            }
        };
        let (offset, len) = range.unwrap_or((0, WHOLE));
        self.push(key, index, offset, len)
    }

    fn push(&mut self, key: &str, location: u32, offset: u64, len: u64) -> StoreResult<()> {
        if self.left() == 0 {
            return Err(too_many());
        }
        let (Ok(start), Ok(key_len)) = (u32::try_from(self.keys.len()), u32::try_from(key.len())) else {
            return Err(too_many());
        };
        self.keys.push_str(key);
        self.entries.push(Entry { key: start, key_len, location, offset, len });
        Ok(())
    }

    /// Returns the table. Of several references with one key the last counts, and the `weak` that were added last only if
    /// there is no other. Keys that no store can have are left out.
    pub(crate) fn finish(mut self, weak: usize) -> Table {
        self.entries.rotate_right(weak);
        let keys = std::mem::take(&mut self.keys);
        self.entries.retain(|entry| Key::new(key(&keys, entry)).is_ok());
        self.entries.sort_by(|a, b| key(&keys, a).cmp(key(&keys, b)));
        // `dedup_by` keeps the first of equal neighbours.
        self.entries.reverse();
        self.entries.dedup_by(|a, b| key(&keys, a) == key(&keys, b));
        self.entries.reverse();
        Table {
            keys,
            inline: self.inline.into(),
            locations: self.locations,
            problems: self.problems,
            entries: self.entries,
        }
    }
}

fn too_many() -> StoreError {
    StoreError::new(StoreErrorKind::LimitExceeded, "the file has more references than accepted")
}
