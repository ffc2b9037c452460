//! Mirrors that die, beside each other, on a disk whose power is cut.

use std::sync::Arc;

use shuttle::future::{block_on, spawn};
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, Cpu, DataType, NdVec, Storage, standard};
use zarr_copy::Mirror;
use zarr_hierarchy::blocking::Group;
use zarr_store::MemoryStore;

use crate::disk::{Disk, Objects, objects};
use crate::explore::{Exploration, any};
use crate::world::{Fate, World};

pub(crate) const MIRROR: Exploration = Exploration {
    name: "mirror",
    about: "a mirror that died announces nothing that is not there, and the next one completes it",
    prepare: || {
        let versions = Arc::new(Versions::make());
        Box::new(move || mirrors(&versions))
    },
};

/// The steps within which a mirror may die: about as many as it takes.
const STEPS: u64 = 160;

/// A hierarchy before and after changes.
struct Versions {
    old: Objects,
    new: Objects,
    /// The storage with the new version.
    source: Storage,
}

fn make(storage: &Storage, path: &str, rows: u64, value: u16) {
    let meta = ArrayMeta::builder([rows, 2], DataType::UInt16).chunks([2, 2]).build().unwrap();
    let array = Array::create(storage.clone(), path, meta, &standard()).unwrap();
    array.write(.., &NdVec::new([rows, 2], vec![value; rows as usize * 2]).unwrap()).unwrap();
}

impl Versions {
    fn make() -> Self {
        let source = Storage::from(MemoryStore::new());
        Cpu::inline().use_for(&source);
        let mut group = Group::create(source.clone(), "/", &standard()).unwrap();
        make(&source, "/a", 4, 1);
        make(&source, "/g/b", 2, 1);
        group.consolidate().unwrap();
        let old = objects(&source);
        // A chunk changes, another one is empty, the array is longer. An array is erased, another one is made.
        let mut a = Array::open(source.clone(), "/a", &standard()).unwrap();
        a.write(0..1, &NdVec::new([1, 2], vec![5_u16; 2]).unwrap()).unwrap();
        a.write(2..4, &NdVec::new([2, 2], vec![0_u16; 4]).unwrap()).unwrap();
        a.append(0, NdVec::new([2, 2], vec![6_u16; 4]).unwrap()).unwrap();
        group.erase("g").unwrap();
        make(&source, "/c", 2, 7);
        Self { old, new: objects(&source), source }
    }
}

fn mirrors(versions: &Versions) {
    let before = if any(3) == 0 { Objects::new() } else { versions.old.clone() };
    let disk = Disk::with(&before);
    let world = World::over(disk.storage());
    block_on(async {
        let mirrors = [0, 1].map(|number| {
            let fate = Fate::may_die_within(STEPS);
            let to = world.process(number, &fate);
            let mirror = Mirror::new(versions.source.clone(), "/", to, "/").unwrap().delete(true);
            spawn(async move {
                if let Some(done) = fate.befall(mirror.run(&|_, _| {})).await {
                    done.unwrap();
                }
            })
        });
        for mirror in mirrors {
            mirror.await.unwrap();
        }
    });
    assert!(disk.lost().is_empty(), "{:?} could have been lost", disk.lost());
    let is_cut = any(2) == 0;
    if is_cut {
        disk.cut();
    }
    is_consistent(&objects(&world.below), versions, |key| is_cut && !before.contains_key(key));
    let mirror = Mirror::new(versions.source.clone(), "/", world.below.clone(), "/").unwrap().delete(true);
    zarr_traits::block_on(mirror.run(&|_, _| {})).unwrap();
    assert_eq!(objects(&world.below), versions.new);
}

/// Asserts that a document is an old one or the new one, and that the new chunks of a new one are there. A document that
/// `may_be_empty` was new when the power was cut.
fn is_consistent(found: &Objects, Versions { old, new, .. }: &Versions, may_be_empty: impl Fn(&str) -> bool) {
    for (key, text) in found.iter().filter(|(key, _)| key.ends_with("/zarr.json")) {
        if text.is_empty() && may_be_empty(key) {
            continue;
        }
        assert!(
            [old.get(key), new.get(key)].contains(&Some(text)),
            "{key:?} is neither the old nor the new document"
        );
        if old.get(key) == Some(text) {
            continue;
        }
        let folder = format!("{}c/", key.trim_end_matches("zarr.json"));
        for (chunk, bytes) in new.iter().filter(|(key, _)| key.starts_with(&folder)) {
            assert_eq!(found.get(chunk), Some(bytes), "{key:?} announces the chunk {chunk:?}");
        }
    }
}
