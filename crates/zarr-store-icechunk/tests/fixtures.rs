//! Repositories that Icechunk wrote, and the values that it reads from them.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use zarr_array::blocking::Array;
use zarr_array::standard;
use zarr_store::{MemoryStore, Prefixed, Targets};
use zarr_store_fs::FsStore;
use zarr_store_icechunk::{Ref, Repository};
use zarr_traits::json::Value;
use zarr_traits::{Prefix, Storage, StoreErrorKind, StoreResult, block_on};

use crate::cases::{archive, cases, check_arrays, copied, text};

/// When the files that virtual chunks name were changed. Some references say that it was not after five seconds later.
pub(crate) const MODIFIED: u64 = 1_700_000_000;

/// Writes the files that virtual chunks name into a directory, changed at this time.
pub(crate) fn data(directory: &Path, modified: u64) -> Storage {
    let data = Prefixed::over(&archive(), Prefix::new("data/").unwrap());
    let storage = copied(&data, Storage::from(FsStore::create(directory).unwrap()));
    for listed in block_on(storage.list_all(&Prefix::root())).unwrap() {
        let file = File::options().write(true).open(directory.join(listed.key.as_str())).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(modified)).unwrap();
    }
    storage
}

/// Opens the state that a case names.
fn opened(case: &Value, storage: &Storage, data: &Storage) -> StoreResult<Storage> {
    let mut targets = Targets::none();
    for place in case.get("needs").unwrap().elements().unwrap() {
        targets = targets.serve(place.as_text().unwrap(), data.clone()).unwrap();
    }
    let at = match case.get("ref").unwrap().as_text() {
        Some(text) => text.strip_prefix('@').unwrap().parse()?,
        None => Ref::default(),
    };
    let root = Prefix::new(format!("{}/", text(case, "url"))).unwrap();
    block_on(Repository::new(storage, root).open(&at, targets))
}

/// Compares everything that a case names, and returns the number of arrays.
fn check(case: &Value, storage: &Storage) -> usize {
    let id = text(case, "id");
    let mut keys: Vec<String> =
        case.get("keys").unwrap().elements().unwrap().map(|key| key.as_text().unwrap()).collect();
    keys.sort();
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    for listed in &listed {
        let bytes = block_on(storage.get(&listed.key, 1 << 30)).unwrap().unwrap();
        assert_eq!(listed.meta.size, Some(bytes.len() as u64), "{id}: {}", listed.key);
    }
    let listed: Vec<String> = listed.into_iter().map(|listed| listed.key.into()).collect();
    assert_eq!(listed, keys, "{id}");
    check_dirs(storage, &Prefix::root(), &keys);
    check_arrays(case, storage)
}

/// Compares each level with the keys of all.
fn check_dirs(storage: &Storage, prefix: &Prefix, keys: &[String]) {
    let dir = block_on(storage.list_dir(prefix)).unwrap();
    let below = keys.iter().filter_map(|key| key.strip_prefix(prefix.as_str()));
    let (mut folders, mut objects) = (Vec::new(), Vec::new());
    for rest in below {
        match rest.split_once('/') {
            Some((name, _)) => folders.push(prefix.child(name).unwrap()),
            None => objects.push(prefix.key(rest).unwrap()),
        }
    }
    folders.dedup();
    assert_eq!(dir.prefixes, folders, "{prefix}");
    assert_eq!(dir.objects.iter().map(|o| &o.key).collect::<Vec<_>>(), objects.iter().collect::<Vec<_>>());
    for folder in &folders {
        check_dirs(storage, folder, keys);
    }
}

/// Checks all cases over a storage.
fn check_all(storage: &Storage) {
    let directory = tempfile::tempdir().unwrap();
    let data = data(directory.path(), MODIFIED);
    let (mut read, mut refused, mut arrays) = (0, 0, 0);
    for case in cases("icechunk") {
        let id = text(&case, "id");
        let found = opened(&case, storage, &data);
        let Some(said) = case.get("error").and_then(|error| error.as_text()) else {
            arrays += check(&case, &found.unwrap_or_else(|e| panic!("{id}: {e:#}")));
            read += 1;
            continue;
        };
        let shown = match found {
            Err(e) => format!("{e:#}"),
            Ok(opened) => {
                let array = Array::open(opened, &text(&case, "array"), &standard()).unwrap();
                format!("{:#}", array.read_bytes(..).unwrap_err())
            }
        };
        assert!(shown.contains(&said), "{id}: {shown}");
        refused += 1;
    }
    assert_eq!((read, refused, arrays), (55, 19, 298));
}

#[test]
fn values_in_a_directory_are_those_that_icechunk_reads() {
    let directory = tempfile::tempdir().unwrap();
    check_all(&copied(&archive(), Storage::from(FsStore::create(directory.path()).unwrap())));
}

#[test]
fn values_in_an_archive_are_those_that_icechunk_reads() {
    check_all(&archive());
}

#[test]
fn values_in_memory_are_those_that_icechunk_reads() {
    check_all(&copied(&archive(), Storage::from(MemoryStore::new())));
}

#[test]
fn an_object_that_was_changed_since_is_an_error() {
    let (archive, memory) = (archive(), Storage::from(MemoryStore::new()));
    let memory = copied(&Prefixed::over(&archive, Prefix::new("data/").unwrap()), memory);
    let directory = tempfile::tempdir().unwrap();
    for id in
        ["icechunk.v1-virtual.default", "icechunk.v2-virtual.default", "icechunk.v2-virtual-named.default"]
    {
        let case = cases("icechunk").into_iter().find(|case| text(case, "id") == id).unwrap();
        let read = |data: &Storage| {
            let opened = opened(&case, &archive, data).unwrap();
            let keys = block_on(opened.list_all(&Prefix::root())).unwrap();
            let read = keys.iter().map(|listed| block_on(opened.get(&listed.key, 1 << 20)));
            let kinds = read.filter_map(|read| read.err()).map(|e| e.kind()).collect::<Vec<_>>();
            (kinds.first().copied(), kinds.len())
        };
        assert_eq!(read(&data(directory.path(), MODIFIED + 5)), (None, 0), "{id}");
        let changed = read(&data(directory.path(), MODIFIED + 6));
        assert_eq!(changed.0, Some(StoreErrorKind::Changed), "{id}");
        assert_eq!(read(&memory), (Some(StoreErrorKind::Unsupported), changed.1), "{id}");
    }
}
