//! The store under test, with blocking calls, and its objects.

use std::fmt;

use zarr_traits::{
    ByteRange, Bytes, Key, Prefix, Reply, Storage, StoreErrorKind, StoreResult, Version, block_on,
    store::{Dir, Listed, ObjectMeta, Outcome, PutMode, Read, ReadBuffer, ReadVersion},
};

use crate::report::{Check, Excerpt, Fault, ensure};

/// The objects of a reading check, besides [`LARGE`]. The keys below `a/`, `e/` and `l/` are for listings.
pub(super) const SMALL: &[(&str, &[u8])] = &[
    ("a/b", b"the value of a/b"),
    ("a/c/d", b"the value of a/c/d"),
    ("ab/c", b"not below a/"),
    ("digits", b"0123456789"),
    ("e/f/g", b"x"),
    ("empty", b""),
    ("l/a/b", b"1"),
    ("l/a/c", b"2"),
    ("l/a/d/e", b"3"),
    ("l/a/f/g", b"4"),
    ("zarr.json", b"{}"),
];

/// The key of a large object.
pub(super) const LARGE: &str = "large";

/// The size of the large object, which is not a multiple of a block size.
pub(super) const LARGE_SIZE: usize = 100_003;

/// A limit above the size of all objects of the suite.
pub(super) const ENOUGH: u64 = 1 << 20;

/// Returns bytes of which any few are unique, so that a wrong offset is found.
pub(super) fn pattern(len: usize) -> Vec<u8> {
    (0u32..).flat_map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()).take(len).collect()
}

/// Returns a key of the suite.
pub(super) fn key(key: &str) -> Key {
    Key::new(key).expect("the keys of the suite are legal")
}

/// Returns a prefix of the suite.
pub(super) fn prefix(prefix: &str) -> Prefix {
    Prefix::new(prefix).expect("the prefixes of the suite are legal")
}

pub(super) fn span(offset: u64, len: u64) -> ByteRange {
    ByteRange::Span { offset, len }
}

/// The store under test.
pub(super) struct Subject {
    pub(super) storage: Storage,
}

impl Subject {
    pub(super) fn new(storage: Storage) -> Self {
        Self { storage }
    }

    /// Whether the store supports listing.
    pub(super) fn lists(&self) -> bool {
        self.storage.capabilities().list
    }

    pub(super) fn fill(&self, key: &Key, value: Bytes) -> Check {
        match block_on(self.storage.put_if(key, &[value], PutMode::Replace)) {
            Ok(Outcome::Done(_)) => Ok(()),
            Ok(outcome) => Err(Fault(format!("an unconditional put of {key:?} returned {outcome:?}"))),
            Err(e) => Err(Fault(format!("put failed: {e:#}"))),
        }
    }

    pub(super) fn put(&self, name: &str, value: impl Into<Bytes>) -> Check {
        self.fill(&key(name), value.into())
    }

    pub(super) fn put_if(&self, name: &str, value: &'static str, mode: PutMode<'_>) -> StoreResult<Outcome> {
        block_on(self.storage.put_if(&key(name), &[value.into()], mode))
    }

    pub(super) fn delete(&self, name: &str, version: Option<&Version>) -> StoreResult<Outcome> {
        block_on(self.storage.delete_if(&key(name), version))
    }

    pub(super) fn delete_prefix(&self, name: &str) -> StoreResult<()> {
        block_on(self.storage.delete_prefix(&prefix(name)))
    }

    pub(super) fn ranges(
        &self,
        name: &str,
        ranges: &[ByteRange],
        version: ReadVersion<'_>,
    ) -> StoreResult<Option<Reply>> {
        block_on(self.storage.get_ranges(&key(name), ranges, version, ENOUGH))
    }

    /// Reads ranges into recycled memory, at most `limit` bytes. Returns the bytes of all ranges, and the facts about
    /// the object.
    pub(super) fn limited(
        &self,
        name: &str,
        ranges: &[ByteRange],
        version: ReadVersion<'_>,
        limit: u64,
    ) -> StoreResult<Option<(Bytes, ObjectMeta)>> {
        let mut buffer = ReadBuffer::reusing(vec![0xA5; 64], limit);
        let key = key(name);
        let read = Read::new(&key, ranges, &mut buffer).version(version);
        let meta = block_on(self.storage.read(read))?;
        Ok(meta.map(|meta| (buffer.into_bytes(), meta)))
    }

    pub(super) fn head(&self, name: &str) -> StoreResult<Option<ObjectMeta>> {
        block_on(self.storage.head(&key(name)))
    }

    pub(super) fn value(&self, name: &str) -> StoreResult<Option<Bytes>> {
        block_on(self.storage.get(&key(name), ENOUGH))
    }

    /// Returns the current version of an object, if the store has versions.
    pub(super) fn version(&self, name: &str) -> Result<Option<Version>, Fault> {
        let reply = self.ranges(name, &[ByteRange::All], ReadVersion::Report)?;
        reply.map(|reply| reply.version).ok_or_else(|| Fault(format!("{name:?} is absent after it was put")))
    }

    pub(super) fn list(&self, below: &str) -> Result<Vec<String>, Fault> {
        let (prefix, mut listed) = (prefix(below), Vec::<Listed>::new());
        loop {
            let page = block_on(self.storage.list(&prefix, listed.last().map(|listed| &listed.key)))?;
            ensure!(
                !(page.more && page.entries.is_empty()),
                "a page of {below:?} is empty but announces more pages"
            );
            listed.extend(page.entries);
            if !page.more {
                break;
            }
        }
        for Listed { key, meta, .. } in &listed {
            let head = if meta.size.is_some() { block_on(self.storage.head(key))? } else { None };
            let size = head.and_then(|head| head.size);
            ensure!(
                size.is_none() || size == meta.size,
                "{key:?} is listed with {meta:?}, but has {size:?} bytes"
            );
        }
        Ok(listed.into_iter().map(|listed| String::from(listed.key)).collect())
    }

    pub(super) fn list_dir(&self, below: &str) -> StoreResult<Dir> {
        block_on(self.storage.list_dir(&prefix(below)))
    }

    /// Checks that an object has this value, or is absent.
    pub(super) fn holds(&self, name: &str, expected: Option<&[u8]>) -> Check {
        let value = self.value(name)?;
        match (&value, expected) {
            (Some(value), Some(expected)) => {
                ensure!(
                    value == expected,
                    "{name:?} holds {}, expected {}",
                    Excerpt(value),
                    Excerpt(expected)
                );
            }
            (None, Some(expected)) => {
                ensure!(false, "{name:?} is absent, expected {}", Excerpt(expected));
            }
            (Some(value), None) => ensure!(false, "{name:?} holds {}, expected no object", Excerpt(value)),
            (None, None) => {}
        }
        Ok(())
    }
}

/// Checks that a call failed with an error of this kind.
pub(super) fn fails<T: fmt::Debug>(result: StoreResult<T>, kind: StoreErrorKind, what: &str) -> Check {
    match result {
        Err(e) if e.kind() == kind => Ok(()),
        Err(e) => Err(Fault(format!("{what}: the error has kind {:?}, expected {kind:?}: {e:#}", e.kind()))),
        Ok(value) => {
            let mut value = format!("{value:?}");
            value.truncate(value.char_indices().nth(200).map_or(value.len(), |(at, _)| at));
            Err(Fault(format!("{what}: no error of kind {kind:?}, but {value}")))
        }
    }
}
