//! The files of a tar archive in memory (read, mapped, or built into a program) as a store that can be read and listed.

use zarr_traits::{store::*, *};

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
                files.insert(key, range.of(archive)?);
            }
        }
        Ok(Storage::from(Self(files)))
    }
}

impl Store for TarStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::inline().read_only()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        ready(match op {
            Op::Read(read) => match self.0.get(read.key) {
                Some(value) => read.answer(value, None),
                None => Ok(Answer::Read(None)),
            },
            Op::Head(head) => {
                let size = |value: &Bytes| ObjectMeta::new(value.len() as u64, None);
                Ok(Answer::Head(self.0.get(head.key).map(size)))
            }
            Op::List(list) => Ok(list.answer(self.0.keys())),
            Op::ListDir(list) => list.answer(self.0.keys()),
            op => op.unsupported(),
        })
    }
}
