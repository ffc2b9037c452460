//! Workers that share a copy and die, on a disk whose power is cut.

use std::sync::Arc;

use shuttle::future::{block_on, spawn};
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, Cpu, DataType, NdVec, Storage, standard};
use zarr_copy::{Copy, CopyPlan, Lengths, RunOptions, SharedCopy, blocking};
use zarr_hierarchy::blocking::Group;
use zarr_store::MemoryStore;

use crate::disk::{Disk, Objects, objects};
use crate::explore::{Exploration, any};
use crate::world::{Fate, World};

pub(crate) const JOIN: Exploration = Exploration {
    name: "join",
    about: "workers of a joined copy that die leave nothing that counts as done, and the others complete it",
    prepare: || {
        let ways = Arc::new([Way::objects(), Way::blocks(), Way::twice()]);
        Box::new(move || workers(&ways[any(3) as usize]))
    },
};

/// The steps within which a worker may die: more than one worker needs.
const STEPS: u64 = 200;

/// The number of workers at a time.
const WORKERS: usize = 3;

/// A way to copy.
struct Way {
    /// The plans of the workers, which make them for themselves.
    plans: [Arc<CopyPlan>; WORKERS],
    /// What one worker makes of it.
    wanted: Objects,
}

impl Way {
    /// All workers copy objects as they are stored.
    fn objects() -> Self {
        let copy = Copy::new(source([6, 4]), "/", &standard());
        Self::make([(); WORKERS].map(|()| copy.clone()))
    }

    /// All workers encode the elements again.
    fn blocks() -> Self {
        let copy = Copy::new(source([6, 4]), "/", &standard()).chunks(Lengths::Shape(vec![6, 2]));
        Self::make([(); WORKERS].map(|()| copy.clone()))
    }

    /// The first worker has enough memory for one pass. The others copy in two passes, through an intermediate array.
    fn twice() -> Self {
        let copy = Copy::new(source([32, 4]), "/", &standard()).chunks(Lengths::Shape(vec![32, 1]));
        let plans =
            std::array::from_fn(|number| copy.clone().max_memory(if number == 0 { 1 << 16 } else { 400 }));
        let way = Self::make(plans);
        let passes = way.plans.each_ref().map(|plan| plan.nodes()[1].estimate().unwrap().passes);
        assert_eq!(passes, [1, 2, 2]);
        way
    }

    fn make(copies: [Copy; WORKERS]) -> Self {
        let plans = copies.map(|copy| Arc::new(blocking::plan(&copy.threads(1)).unwrap()));
        let to = Storage::from(MemoryStore::new());
        Cpu::inline().use_for(&to);
        blocking::run(&plans[0], to.clone(), "/", RunOptions::new(), &|_| {}).unwrap();
        Self { plans, wanted: objects(&to) }
    }
}

/// Makes a group of an array whose last chunk is not stored.
fn source(shape: [u64; 2]) -> Storage {
    let source = Storage::from(MemoryStore::new());
    Cpu::inline().use_for(&source);
    Group::create(source.clone(), "/", &standard()).unwrap();
    let meta = ArrayMeta::builder(shape, DataType::UInt16).chunks([2, shape[1]]).build().unwrap();
    let array = Array::create(source.clone(), "/a", meta, &standard()).unwrap();
    let stored = [shape[0] - 2, shape[1]];
    let values = (1..).take(stored.iter().product::<u64>() as usize).collect::<Vec<u16>>();
    array.write(0..stored[0], &NdVec::new(stored, values).unwrap()).unwrap();
    source
}

fn job() -> SharedCopy {
    SharedCopy::new("night").unwrap().unit_bytes(16)
}

/// Lets workers share the copy. Returns whether one of them completed it.
fn shared(world: &World, way: &Way, fates: [Fate; WORKERS]) -> bool {
    block_on(async {
        let workers = fates.into_iter().enumerate().map(|(number, fate)| {
            let (plan, to) = (way.plans[number].clone(), world.process(number, &fate));
            spawn(async move {
                let share = fate.befall(async { plan.join(to, "/", &job(), &|_| {}).await }).await;
                share.map(Result::unwrap).is_some()
            })
        });
        let mut is_complete = false;
        for worker in workers.collect::<Vec<_>>() {
            is_complete |= worker.await.unwrap();
        }
        is_complete
    })
}

fn workers(way: &Way) {
    let disk = Disk::with(&Objects::new());
    let world = World::over(disk.storage());
    let is_complete = shared(&world, way, [(); WORKERS].map(|()| Fate::may_die_within(STEPS)));
    if is_complete {
        // A worker that died after that may have left something that only helped to copy.
        let mut found = objects(&world.below);
        found.retain(|key, _| !key.contains(".zarr-copy"));
        assert_eq!(found, way.wanted);
    }
    if any(2) == 0 {
        disk.cut();
    }
    // The documents of arrays come after their chunks.
    let found = objects(&world.below);
    if found.get("a/zarr.json").is_some_and(|text| !text.is_empty()) {
        let is_chunk = |key: &&String| key.starts_with("a/c/");
        for key in way.wanted.keys().filter(is_chunk) {
            assert_eq!(found.get(key), way.wanted.get(key), "the copy is a node without {key:?}");
        }
    }
    assert!(shared(&world, way, [(); WORKERS].map(|()| Fate::lives())));
    assert_eq!(objects(&world.below), way.wanted);
    assert!(disk.lost().is_empty(), "{:?} could have been lost", disk.lost());
}
