//! Repositories keep the contract of stores, for reading. The suite of stores cannot be run: a repository has no keys but those of
//! documents and chunks.

use zarr_store::Targets;
use zarr_store_icechunk::{Ref, Repository};
use zarr_traits::store::ReadVersion;
use zarr_traits::{ByteRange, Key, Prefix, Storage, StoreErrorKind, block_on};

use crate::cases::archive;
use crate::fixtures::{MODIFIED, data};

/// Checks reads of one key, of which this is the whole value.
fn check(storage: &Storage, key: &Key, whole: &[u8]) {
    let size = whole.len() as u64;
    assert_eq!(block_on(storage.size(key)).unwrap(), Some(size), "{key}");
    let read = |ranges: &[ByteRange], version: ReadVersion<'_>, limit| {
        block_on(storage.get_ranges(key, ranges, version, limit)).map(|reply| reply.unwrap())
    };
    let span = |offset, len| ByteRange::Span { offset, len };
    let some = [
        span(size / 2, size - size / 2),
        ByteRange::All,
        span(0, size / 3),
        ByteRange::Suffix(size / 4),
        ByteRange::Suffix(size + 1),
    ];
    let reply = read(&some, ReadVersion::Report, 4 * size).unwrap();
    let at = |part: u64| usize::try_from(part).unwrap();
    let parts = [&whole[at(size / 2)..], whole, &whole[..at(size / 3)], &whole[at(size - size / 4)..], whole];
    for (number, (found, part)) in reply.bytes.iter().zip(parts).enumerate() {
        assert_eq!(found, part, "{key}: range {number}");
    }
    assert_eq!((reply.bytes.len(), reply.size), (5, Some(size)), "{key}");
    if let Some(version) = &reply.version {
        assert_eq!(read(&some, ReadVersion::Pinned(version), 4 * size).unwrap().bytes, reply.bytes, "{key}");
    }
    for beyond in [span(size, 1), span(1, size), span(u64::MAX, 1)] {
        let e = read(&[beyond], ReadVersion::Any, size).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::RangeNotSatisfiable { size }, "{key} {beyond:?}");
    }
    let e = read(&[ByteRange::All, span(0, 1)], ReadVersion::Any, size).unwrap_err();
    assert!(matches!(e.kind(), StoreErrorKind::TooLarge { .. }), "{key}: {e:#}");
    assert_eq!(read(&[], ReadVersion::Any, 0).unwrap().size, Some(size), "{key}");
    let below = Key::new(format!("{key}/none")).unwrap();
    assert_eq!(block_on(storage.get(&below, 1)).unwrap(), None, "{below}");
    assert!(block_on(storage.put(key, "x")).is_err() && block_on(storage.delete(key)).is_err(), "{key}");
}

#[test]
fn reads_of_every_key_keep_the_contract() {
    let directory = tempfile::tempdir().unwrap();
    let data = data(directory.path(), MODIFIED);
    let targets = Targets::none().serve("file:///zarr-references/data/", data).unwrap();
    let mut checked = 0;
    for repository in ["v2-virtual", "v2-inline", "v2-split", "v1-basic", "v2-root-array"] {
        let root = Prefix::new(format!("icechunk/{repository}/")).unwrap();
        let repository = Repository::new(&archive(), root);
        let opened = block_on(repository.open(&Ref::default(), targets.clone())).unwrap();
        for listed in block_on(opened.list_all(&Prefix::root())).unwrap() {
            let whole = block_on(opened.get(&listed.key, 1 << 20)).unwrap().unwrap();
            check(&opened, &listed.key, &whole);
            checked += 1;
        }
    }
    assert!(checked > 250, "{checked}");
}
