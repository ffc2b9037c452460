//! Lists the stored objects of an array in the order of their keys, page by page.

use zarr_array::blocking::Array;
use zarr_array::meta::{Documents, Format, is_document};
use zarr_array::traits::strided::Dims;
use zarr_array::traits::{Key, KeyEncoding, Prefix, StoreResult, store::Listed};
use zarr_array::{Storage, block_on, node};

/// All keys below a prefix. Ends after the first error.
#[derive(Debug)]
pub(crate) struct Keys<'a> {
    storage: &'a Storage,
    prefix: Prefix,
    page: std::vec::IntoIter<Listed>,
    last: Option<Key>,
    more: bool,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(storage: &'a Storage, prefix: Prefix) -> Self {
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

/// Whether an object of this name is a metadata document, of `format` or of another one, or consolidated metadata. The
/// names of format 1 are ordinary, so they count only for arrays of format 1.
pub(crate) fn is_document_of(name: &str, format: Option<Format>) -> bool {
    let is_own =
        |format| Documents::steps(Some(format)).iter().copied().flatten().any(|n| n.as_str() == name);
    is_document(name) || format.is_some_and(is_own)
}

/// Returns the size of a listed object. Asks the store only if the listing has no size. Returns `None` if the object
/// was deleted.
pub(crate) fn size(storage: &Storage, listed: &Listed) -> StoreResult<Option<u64>> {
    match listed.meta.size {
        None => block_on(storage.size(&listed.key)),
        size => Ok(size),
    }
}

/// A number of objects and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) bytes: u128,
    pub(crate) objects: u64,
}

impl Size {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, objects: self.objects + other.objects }
    }
}

/// Returns the index of the chunk at a key below an array, or the reason why it is not one. `counts` are the numbers of
/// chunks in each dimension.
pub(crate) fn chunk(name: &str, keys: &dyn KeyEncoding, counts: &[u64]) -> Result<Dims, &'static str> {
    match keys.decode(name, counts.len()) {
        None => Err("not the key of a chunk"),
        Some(index) if index.iter().zip(counts).all(|(i, count)| i < count) => Ok(index),
        Some(_) => Err("a chunk outside of the array"),
    }
}

/// Whether an object of this name may be a chunk of some array, by its numbers.
pub(crate) fn may_be_chunk(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    last == "c" || last.strip_prefix("c.").unwrap_or(last).split('.').all(|part| part.parse::<u64>().is_ok())
}

/// The stored objects of an array, without its documents.
#[derive(Debug)]
pub(crate) struct Stored<'a> {
    listed: Keys<'a>,
    format: Format,
    keys: &'a dyn KeyEncoding,
    /// The number of chunks in each dimension.
    counts: Vec<u64>,
}

/// A stored object of an array.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) listed: Listed,
    /// The index of a chunk in the grid, or the reason why it is not a chunk.
    pub(crate) chunk: Result<Dims, &'static str>,
}

impl<'a> Stored<'a> {
    /// Lists the objects below `prefix` of an array of `format` with `counts` chunks in each dimension.
    pub(crate) fn new(
        storage: &'a Storage,
        prefix: Prefix,
        format: Format,
        keys: &'a dyn KeyEncoding,
        counts: Vec<u64>,
    ) -> Self {
        Self { listed: Keys::new(storage, prefix), format, keys, counts }
    }

    /// Lists the objects of an open array.
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

    /// Returns the object at a key, or `None` if it is a document of the array.
    fn object(&self, listed: Listed) -> Option<Object> {
        let name = self.listed.prefix.strip(&listed.key).unwrap_or_default();
        if is_document_of(name, Some(self.format)) {
            return None;
        }
        let chunk = chunk(name, self.keys, &self.counts);
        Some(Object { listed, chunk })
    }
}

impl Object {
    /// Returns the object of a chunk, whether or not it is stored.
    pub(crate) fn expected(array: &Array, index: &[u64]) -> StoreResult<Self> {
        Ok(Self { listed: Listed::new(array.chunk_key(index)?), chunk: Ok(index.into()) })
    }
}

/// Ends after the first error.
impl Iterator for Stored<'_> {
    type Item = StoreResult<Object>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.listed.next()? {
                Ok(listed) => {
                    let Some(object) = self.object(listed) else { continue };
                    let looked = match object.chunk {
                        Ok(_) => Ok(()),
                        Err(_) => block_on(node::check_stray(self.listed.storage, &object.listed)),
                    };
                    return Some(looked.map(|()| object));
                }
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
    fn all_pages_are_listed_and_stray_objects_have_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let store = FsStore::create(folder.path()).unwrap().with_page(2);
        let meta = ArrayMeta::builder([5, 3], DataType::UInt8).chunks([1, 3]).build().unwrap();
        let array = Array::create(store, "/", meta, &crate::args::target::registry()).unwrap();
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
