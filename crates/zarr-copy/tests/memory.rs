//! The memory of copies, counted by an allocator.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use peak_alloc::PeakAlloc;
use zarr_copy::zarr_hierarchy::standard;
use zarr_copy::zarr_hierarchy::zarr_array::blocking::Array;
use zarr_copy::zarr_hierarchy::zarr_array::{ArrayMeta, DataType, NdVec, Storage};
use zarr_copy::{Copy, CopyErrorKind, Lengths, RunOptions, Shards, blocking};
use zarr_store_fs::FsStore;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The length of a side of the source, whose elements have 32 MiB.
const SIDE: u64 = 2048;

/// What is not counted: the contexts of compressors, one for each thread, documents, bookkeeping of the runs.
const BESIDE: usize = 2 << 20;

fn source(storage: &Storage, chunks: [u64; 2]) {
    let meta = ArrayMeta::builder([SIDE, SIDE], DataType::UInt64).chunks(chunks).build().unwrap();
    let array = Array::create(storage.clone(), "/", meta, &standard()).unwrap();
    for row in (0..SIDE).step_by(256) {
        // Random numbers do not become shorter when they are encoded.
        let numbers = (0..256 * SIDE).map(|i| (row * SIDE + i).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        array.write([row..row + 256, 0..SIDE], &NdVec::new([256, SIDE], numbers).unwrap()).unwrap();
    }
}

fn opened(folder: &std::path::Path, name: &str) -> Storage {
    FsStore::create(folder.join(name)).unwrap().into()
}

/// One test, because the allocator counts for all threads.
#[test]
fn copies_stay_within_their_memory() {
    let folder = tempfile::tempdir().unwrap();
    for (case, (from, to, shards, most)) in [
        // Rows to columns, with room for a part of the array.
        ([16, SIDE], [SIDE, 16], None, 8 << 20),
        ([16, SIDE], [SIDE, 16], None, 3 << 20),
        // Shards are joined from inner chunks.
        ([256, 256], [64, 64], Some([512_u64, 512]), 18 << 20),
        // A chunk of the source that is used in part.
        ([512, 512], [100, 100], None, 8 << 20),
        // As they are stored: 2 MiB each.
        ([512, 512], [512, 512], None, 5 << 20),
        // Many chunks in a block.
        ([32, 32], [SIDE, 64], None, 8 << 20),
    ]
    .into_iter()
    .enumerate()
    {
        let storage = opened(folder.path(), &format!("source{case}"));
        source(&storage, from);
        let copy = Copy::new(storage, "/", &standard())
            .chunks(Lengths::Shape(to.to_vec()))
            .max_memory(most)
            .threads(2);
        let copy = match shards {
            Some(shape) => copy.shards(Shards::Of(Lengths::Shape(Vec::from(shape)))),
            None => copy,
        };
        let plan = blocking::plan(&copy).unwrap();
        let to = opened(folder.path(), &format!("copy{case}"));
        let most = usize::try_from(most).unwrap();
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        blocking::run(&plan, to, "/", RunOptions::new().verify(true), &|_| {}).unwrap();
        let peak = ALLOCATOR.peak_usage() - before;
        println!("{case}: {peak} of {most}, {:?}", plan.nodes()[0].estimate());
        assert!(peak <= most + BESIDE, "{case}: {peak} of {most}");
    }

    #[cfg(feature = "pyramid")]
    levels_stay_within_their_memory(folder.path());

    let storage = opened(folder.path(), "source0");
    let copy =
        Copy::new(storage, "/", &standard()).chunks(Lengths::Shape(vec![SIDE, SIDE])).max_memory(1 << 20);
    let e = blocking::plan(&copy).unwrap_err();
    assert!(matches!(e.kind(), CopyErrorKind::Node(_)), "{e:?}");
    assert!(format!("{e:#}").contains("`max_memory`"), "{e:#}");
}

#[cfg(feature = "pyramid")]
fn levels_stay_within_their_memory(folder: &std::path::Path) {
    use zarr_copy::pyramid::{LevelCount, Pyramid};
    use zarr_copy::zarr_hierarchy::zarr_array::{Cpu, block_on};
    for (case, (chunks, shards, threads, most)) in [
        // Chunks, of which a thread makes several levels.
        ([256, 256], None, 2, 8 << 20),
        ([256, 256], None, 2, 3 << 20),
        // Rows.
        ([1, SIDE], None, 2, 1 << 20),
        // Shards, which are read by inner chunks.
        ([64, 64], Some([512, 512]), 1, 18 << 20),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("levels{case}");
        let storage = opened(folder, &name);
        zarr_copy::zarr_hierarchy::blocking::Group::create(storage.clone(), "/", &standard()).unwrap();
        let meta =
            ArrayMeta::builder([SIDE / 2, SIDE], DataType::UInt64).chunks(chunks).dimension_names(["y", "x"]);
        let meta = if let Some(shards) = shards { meta.shards(shards) } else { meta };
        let array = Array::create(storage.clone(), "/0", meta.build().unwrap(), &standard()).unwrap();
        let numbers = (0..SIDE * SIDE / 2).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        // Threads keep memory for the next write.
        let array = array.with_cpu(Cpu::inline());
        array.write(.., &NdVec::new([SIDE / 2, SIDE], numbers).unwrap()).unwrap();
        drop((array, storage));
        let pyramid = Pyramid::new(opened(folder, &name), "/", &standard())
            .levels(LevelCount::Further(4))
            .threads(threads)
            .max_memory(most);
        let plan = block_on(pyramid.plan()).unwrap();
        let stated = usize::try_from(plan.estimate().memory).unwrap();
        assert!(stated as u64 <= most, "{case}: {stated}");
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        block_on(plan.run(RunOptions::new().verify(true), &|_| {})).unwrap();
        let peak = ALLOCATOR.peak_usage() - before;
        println!("levels {case}: {peak} of {stated}, {:?}", plan.estimate());
        assert!(peak <= stated + BESIDE, "levels {case}: {peak} of {stated}");
    }
}
