//! A store of the files in a tar archive in memory (read, mapped, or built into a program). It can be read and listed.

use zarr_traits::{store::*, *};

/// The files of a tar archive, as slices of it.
#[derive(Debug)]
pub struct TarStore(std::collections::BTreeMap<Key, Bytes>);

impl TarStore {
    /// Fails if `archive` is not a tar archive, or a file name is not a key, such as `../x`. Of several files
    /// with one name the last is used.
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
