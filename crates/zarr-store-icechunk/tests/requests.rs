//! How many requests are sent.

use std::time::Duration;

use futures_util::future::join_all;
use zarr_conformance::instruments::{Counting, Network, Simulated};
use zarr_store::{Prefixed, Targets};
use zarr_store_icechunk::{IcechunkLimits, Ref, Repository};
use zarr_traits::{Key, Prefix, Storage, block_on};

use zarr_store_fs::FsStore;

use crate::cases::{archive, copied};
use crate::fixtures::{MODIFIED, data};

fn root(name: &str) -> Prefix {
    Prefix::new(format!("icechunk/{name}/")).unwrap()
}

#[test]
fn opening_and_one_chunk_are_the_fewest_requests() {
    let directory = tempfile::tempdir().unwrap();
    data(&directory.path().join("data"), MODIFIED);
    let both = Storage::from(FsStore::open(directory.path()).unwrap());
    let part = |storage: &Storage| Prefixed::over(storage, Prefix::new("icechunk/").unwrap());
    copied(&part(&archive()), part(&both));
    for (name, at, chunk, requests) in [
        ("v2-split", None, "a/c/0/0", 4),
        ("v2-inline", None, "big/c/0/0", 3),
        ("v2-virtual", None, "raw/c/0/0", 4),
        ("v2-virtual-named", None, "raw/c/0/0", 4),
        ("v2-virtual-compressed", None, "raw/c/0/0", 4),
        // `repo` is not there.
        ("v1-split", None, "a/c/0/0", 5),
        ("v2-split", Some("XYA306513TNSKSPFXQAG"), "a/c/0/0", 3),
        ("v1-split", Some("RGJ2EK4REZB7R55EHG9G"), "a/c/0/0", 3),
    ] {
        let (storage, counting) = Counting::over(&both);
        let data = Prefixed::over(&storage, Prefix::new("data/").unwrap());
        let targets = Targets::none().serve("file:///zarr-references/data/", data).unwrap();
        let at = at.map_or_else(Ref::default, |at| at.parse().unwrap());
        let repository = Repository::new(&storage, root(name));
        let opened = block_on(repository.open(&at, targets)).unwrap();
        let array = chunk.split('/').next().unwrap();
        for document in ["zarr.json", ".zarray", ".zgroup", ".zattrs"] {
            let key = Key::new(format!("{array}/{document}")).unwrap();
            assert_eq!(block_on(opened.get(&key, 1 << 20)).unwrap().is_some(), document == "zarr.json");
        }
        let opening = counting.counts().requests();
        let found = block_on(opened.get(&Key::new(chunk).unwrap(), 1 << 20)).unwrap();
        assert!(found.is_some(), "{name}");
        assert_eq!(counting.counts().requests(), requests, "{name}, of which {opening} to open");
        // Sizes and absent chunks cost nothing.
        assert!(block_on(opened.size(&Key::new(chunk).unwrap())).unwrap().is_some());
        assert_eq!(counting.counts().requests(), requests, "{name}");
    }
}

#[test]
fn a_listing_above_the_arrays_reads_no_manifest_and_one_of_an_array_only_its_own() {
    let (storage, counting) = Counting::over(&archive());
    let opened = block_on(Repository::new(&storage, root("v2-split")).open(&Ref::default(), Targets::none()));
    let opened = opened.unwrap();
    let before = counting.counts().requests();
    assert_eq!(block_on(opened.list_dir(&Prefix::root())).unwrap().prefixes.len(), 2);
    assert_eq!(counting.counts().requests(), before);
    let listed = block_on(opened.list_all(&Prefix::new("b/").unwrap())).unwrap();
    let of_b = counting.counts().requests() - before;
    assert!(listed.len() > 1 && (1..10).contains(&of_b), "{of_b}");
    assert_eq!(block_on(opened.list_all(&Prefix::new("b/").unwrap())).unwrap(), listed);
    assert_eq!(counting.counts().requests() - before, of_b);
}

#[test]
fn many_reads_share_a_manifest_and_a_small_cache_reads_it_again() {
    let (far, simulated) =
        Simulated::virtually(&archive(), Network::default().round_trip(Duration::from_millis(20)));
    let (storage, counting) = Counting::over(&far);
    let opened =
        simulated.run(Repository::new(&storage, root("v2-inline")).open(&Ref::default(), Targets::none()));
    let opened = opened.unwrap();
    let before = counting.counts().requests();
    let keys: Vec<_> =
        ["big/c/0/0", "big/c/0/1", "big/c/1/0"].iter().map(|k| Key::new(*k).unwrap()).collect();
    let read = || simulated.run(join_all(keys.iter().cycle().take(30).map(|key| opened.get(key, 1 << 20))));
    assert!(read().into_iter().all(|bytes| bytes.unwrap().is_some()));
    assert_eq!(counting.counts().requests() - before, 1);
    read();
    assert_eq!(counting.counts().requests() - before, 1);

    let mut limits = IcechunkLimits::default();
    limits.cache_bytes = 1;
    let (storage, counting) = Counting::over(&archive());
    let repository = Repository::new(&storage, root("v2-inline")).limits(limits);
    let opened = block_on(repository.open(&Ref::default(), Targets::none())).unwrap();
    for (key, requests) in [("big/c/0/0", 3), ("big/c/0/1", 3), ("names/c/0", 4), ("big/c/0/0", 5)] {
        assert!(block_on(opened.get(&Key::new(key).unwrap(), 1 << 20)).unwrap().is_some(), "{key}");
        assert_eq!(counting.counts().requests(), requests, "{key}");
    }
}
