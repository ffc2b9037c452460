//! Files that stay open between reads: the same answers as without, for fewer open files than objects.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use zarr_store_fs::FsStore;
use zarr_traits::{
    ByteRange, Key, Prefix, Storage, block_on,
    store::{Read, ReadBuffer, ReadVersion},
};

fn store() -> (TempDir, Storage) {
    let folder = TempDir::new().unwrap();
    let store = FsStore::open(folder.path()).unwrap().with_open_files(3);
    (folder, store.into())
}

/// Reads two bytes from the middle of an object.
fn part(storage: &Storage, key: &str) -> Option<String> {
    let (key, range) = (Key::new(key).unwrap(), [ByteRange::Span { offset: 1, len: 2 }]);
    let read = |version| {
        let mut buffer = ReadBuffer::new(100);
        let meta = block_on(storage.read(Read::new(&key, &range, &mut buffer).version(version))).unwrap()?;
        let bytes = buffer.into_bytes();
        Some((String::from_utf8(bytes.to_vec()).unwrap(), meta))
    };
    let (plain, (reported, meta)) = (read(ReadVersion::Any)?, read(ReadVersion::Report)?);
    assert_eq!(plain.0, reported);
    let version = meta.version.unwrap();
    assert_eq!(read(ReadVersion::Pinned(&version)).unwrap().0, reported);
    Some(reported)
}

/// The files below a folder that this process has open, also deleted ones.
fn open_below(folder: &Path) -> usize {
    let all = fs::read_dir("/proc/self/fd").unwrap();
    let targets = all.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    targets.filter(|target| target.starts_with(folder) && target != folder).count()
}

#[test]
fn every_change_of_an_object_is_seen() {
    let (folder, storage) = store();
    let path = folder.path().join("a");
    assert_eq!(part(&storage, "a"), None);
    fs::write(&path, "0123").unwrap();
    assert_eq!(part(&storage, "a").unwrap(), "12");
    // in place, with the same size
    fs::write(&path, "abcd").unwrap();
    assert_eq!(part(&storage, "a").unwrap(), "bc");
    // in place, longer
    fs::write(&path, "ABCDE").unwrap();
    assert_eq!(part(&storage, "a").unwrap(), "BC");
    // replaced by another program
    fs::write(folder.path().join("b"), "4567").unwrap();
    fs::rename(folder.path().join("b"), &path).unwrap();
    assert_eq!(part(&storage, "a").unwrap(), "56");
    // deleted, and made again
    fs::remove_file(&path).unwrap();
    assert_eq!((part(&storage, "a"), open_below(folder.path())), (None, 0));
    fs::write(&path, "89ef").unwrap();
    assert_eq!(part(&storage, "a").unwrap(), "9e");
    // a directory in its place
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(part(&storage, "a"), None);
}

#[test]
fn a_change_through_the_store_closes_the_file() {
    let (folder, storage) = store();
    let key = Key::new("a/b").unwrap();
    for change in 0..3 {
        block_on(storage.put(&key, "0123")).unwrap();
        assert_eq!((part(&storage, "a/b").unwrap().as_str(), open_below(folder.path())), ("12", 1));
        match change {
            0 => block_on(storage.put(&key, "4567")).unwrap(),
            1 => block_on(storage.delete(&key)).unwrap(),
            _ => block_on(storage.delete_prefix(&Prefix::new("a/").unwrap())).unwrap(),
        }
        assert_eq!(open_below(folder.path()), 0);
    }
}

#[test]
fn at_most_the_given_number_of_files_is_open() {
    let (folder, storage) = store();
    for round in 0..3 {
        for n in 0..10 {
            let name = format!("object{n}");
            if round == 0 {
                fs::write(folder.path().join(&name), format!("{n}{n}{n}{n}")).unwrap();
            }
            assert_eq!(part(&storage, &name).unwrap(), format!("{n}{n}"));
            assert!(open_below(folder.path()) <= 3);
        }
    }
    // whole objects are not kept open
    let (folder, storage) = store();
    fs::write(folder.path().join("whole"), "0123").unwrap();
    assert!(block_on(storage.get(&Key::new("whole").unwrap(), 100)).unwrap().is_some());
    assert_eq!(open_below(folder.path()), 0);
    drop(storage);
}
