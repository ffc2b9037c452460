//! What is stored of an array: the objects below its node, in the order of their keys, a page at a time.

use zarr_array::blocking::Array;
use zarr_array::meta::{DocumentName, Documents, Format};
use zarr_array::traits::{Dims, Key, KeyEncoding, Prefix, StoreResult, store::Listed};
use zarr_array::{Storage, block_on};

use crate::progress::Progress;
use crate::target::Target;

/// All keys below a prefix. After an error there is nothing more.
#[derive(Debug)]
struct Keys<'a> {
    storage: &'a Storage,
    prefix: Prefix,
    page: std::vec::IntoIter<Listed>,
    last: Option<Key>,
    more: bool,
}

impl<'a> Keys<'a> {
    fn new(storage: &'a Storage, prefix: Prefix) -> Self {
        Self { storage, prefix, page: Vec::new().into_iter(), last: None, more: true }
    }

    fn turn(&mut self) -> StoreResult<()> {
        self.more = false;
        let page = block_on(self.storage.list(&self.prefix, self.last.as_ref()))?;
        self.last = page.entries.last().map(|listed| listed.key.clone());
        self.more = page.more && self.last.is_some();
        self.page = page.entries.into_iter();
        Ok(())
    }
}

impl Iterator for Keys<'_> {
    type Item = StoreResult<Listed>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(listed) = self.page.next() {
                return Some(Ok(listed));
            }
            if !self.more {
                return None;
            }
            if let Err(e) = self.turn() {
                return Some(Err(e));
            }
        }
    }
}

/// Whether an object of this name beside a node of `format` is a document, of its own or of another format. The documents of
/// format 1 have names that anything else may have.
fn is_document(name: &str, format: Option<Format>) -> bool {
    let is_own =
        |format| Documents::steps(Some(format)).iter().copied().flatten().any(|n| n.as_str() == name);
    DocumentName::of(name).is_some() || format.is_some_and(is_own)
}

/// The size of a listed object, which is asked for only where the listing does not tell it. `None`: it was deleted.
pub(crate) fn size(storage: &Storage, listed: &Listed) -> StoreResult<Option<u64>> {
    match listed.meta.size {
        None => block_on(storage.size(&listed.key)),
        size => Ok(size),
    }
}

/// How much is stored, without documents of nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) bytes: u128,
    pub(crate) objects: u64,
}

impl Size {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, objects: self.objects + other.objects }
    }

    /// What is stored of the node at a path.
    pub(crate) fn below(
        target: &Target,
        path: &str,
        format: Option<Format>,
        progress: &Progress,
    ) -> StoreResult<Self> {
        let prefix = Prefix::of_node(path)?;
        let mut sum = Self::default();
        for listed in Keys::new(&target.storage, prefix.clone()) {
            let listed = listed?;
            progress.add(1);
            if prefix.strip(&listed.key).is_some_and(|name| is_document(name, format)) {
                continue;
            }
            // What is deleted meanwhile does not count.
            if let Some(bytes) = size(&target.storage, &listed)? {
                sum = sum.plus(Self { bytes: bytes.into(), objects: 1 });
            }
        }
        Ok(sum)
    }
}

/// The objects of an array, without its documents.
#[derive(Debug)]
pub(crate) struct Stored<'a> {
    listed: Keys<'a>,
    format: Format,
    keys: &'a dyn KeyEncoding,
    /// How many chunks there are in each dimension.
    counts: Vec<u64>,
}

/// The index of the chunk of `array` that lies at `key` of its storage; `None` where that is something else.
pub(crate) fn chunk_at(array: &Array, key: &Key) -> Option<Dims> {
    let counts = array.chunk_counts();
    let prefix = Prefix::of_node(array.path()).ok()?;
    let index = array.key_encoding().decode(prefix.strip(key)?, counts.len())?;
    index.iter().zip(&counts).all(|(i, count)| i < count).then_some(index)
}

/// An object, and what it is to the array.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) listed: Listed,
    /// The index of a chunk in the grid, or why it is none.
    pub(crate) chunk: Result<Dims, &'static str>,
}

impl<'a> Stored<'a> {
    /// The objects below `prefix`, where an array of `format` lies, in a grid of so many chunks in each dimension.
    pub(crate) fn new(
        storage: &'a Storage,
        prefix: Prefix,
        format: Format,
        keys: &'a dyn KeyEncoding,
        counts: Vec<u64>,
    ) -> Self {
        Self { listed: Keys::new(storage, prefix), format, keys, counts }
    }

    /// The objects of an array that is open.
    pub(crate) fn of(array: &'a Array) -> StoreResult<Self> {
        let prefix = Prefix::of_node(array.path())?;
        Ok(Self::new(
            array.storage(),
            prefix,
            array.metadata().format(),
            array.key_encoding(),
            array.chunk_counts(),
        ))
    }

    /// What lies at a key; `None`: a document of the array.
    fn object(&self, listed: Listed) -> Option<Object> {
        let name = self.listed.prefix.strip(&listed.key).unwrap_or_default();
        if is_document(name, Some(self.format)) {
            return None;
        }
        let is_inside = |index: &Dims| index.iter().zip(&self.counts).all(|(i, count)| i < count);
        let chunk = match self.keys.decode(name, self.counts.len()) {
            None => Err("not the key of a chunk"),
            Some(index) if is_inside(&index) => Ok(index),
            Some(_) => Err("a chunk outside of the array"),
        };
        Some(Object { listed, chunk })
    }
}

/// After an error there is nothing more.
impl Iterator for Stored<'_> {
    type Item = StoreResult<Object>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.listed.next()? {
                Ok(listed) => match self.object(listed) {
                    Some(object) => return Some(Ok(object)),
                    None => continue,
                },
                Err(e) => return Some(Err(e)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use zarr_array::{ArrayMeta, DataType};
    use zarr_store_fs::FsStore;

    use super::*;

    #[test]
    fn all_pages_are_listed_and_what_is_no_chunk_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let store = FsStore::create(folder.path()).unwrap().with_page(2);
        let meta = ArrayMeta::builder([5, 3], DataType::UInt8).chunks([1, 3]).build().unwrap();
        let array = Array::create(store, "/", meta, &crate::target::registry()).unwrap();
        array.write(.., &[1_u8; 15]).unwrap();
        for stray in ["c/5/0", "c/1/0.bak", "notes.txt"] {
            let key = Key::new(stray).unwrap();
            block_on(array.storage().put(&key, vec![0])).unwrap();
        }
        let found: Vec<(String, Result<Vec<u64>, _>)> = Stored::of(&array)
            .unwrap()
            .map(|object| object.unwrap())
            .map(|object| (object.listed.key.as_str().to_owned(), object.chunk.map(|index| index.to_vec())))
            .collect();
        let chunk = |i: u64| (format!("c/{i}/0"), Ok(vec![i, 0]));
        let stray = |key: &str, why| (key.to_owned(), Err(why));
        let wanted = [
            chunk(0),
            chunk(1),
            stray("c/1/0.bak", "not the key of a chunk"),
            chunk(2),
            chunk(3),
            chunk(4),
            stray("c/5/0", "a chunk outside of the array"),
            stray("notes.txt", "not the key of a chunk"),
        ];
        assert_eq!(found, wanted);
    }
}
