//! The files of a tar archive in memory (read, mapped, or built into a program) as a store that can be read and listed.

use zarr_traits::store::{dir_of, page_of, reply, reply_into};
use zarr_traits::*;

/// The files of a tar archive, each a slice of it.
#[derive(Debug)]
pub struct TarStore(std::collections::BTreeMap<Key, Bytes>);

impl TarStore {
    /// An error where it is no archive, or a name in it no key, such as `../x`. Of one name the last file counts.
    pub fn open(archive: &Bytes) -> StoreResult<Storage> {
        let (mut files, mut reader) = (std::collections::BTreeMap::new(), tar::Archive::new(&archive[..]));
        for file in reader.entries()? {
            let file = file?;
            if file.header().entry_type().is_file() {
                let key = Key::new(String::from_utf8_lossy(&file.path_bytes()))?;
                let range = ByteRange::Span { offset: file.raw_file_position(), len: file.size() };
                files.extend(reply(archive, None, &[range], If::Any)?.bytes.pop().map(|bytes| (key, bytes)));
            }
        }
        Ok(Storage::listing(Self(files)))
    }
}

impl ReadStore for TarStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::inline()
    }
    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        when: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        ready(self.0.get(key).map(|value| reply(value, None, ranges, when)).transpose())
    }
    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        when: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        ready(self.0.get(key).map(|value| reply_into(value, None, ranges, when, into)).transpose())
    }
    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        ready(Ok(self.0.get(key).map(|value| Stat { size: value.len() as u64, version: None })))
    }
}

impl ListStore for TarStore {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        ready(Ok(page_of(prefix, after, self.0.keys())))
    }
    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        ready(dir_of(prefix, self.0.keys()))
    }
}
