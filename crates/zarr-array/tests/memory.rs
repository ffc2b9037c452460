//! Allocations of reads and writes: no chunk-sized memory for each chunk, and only one copy of the result.
#![allow(clippy::unwrap_used, reason = "these are tests")]
#![allow(unsafe_code, reason = "a global allocator that counts")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use common::{chains, meta, numbers};
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize};
use zarr_array::traits::extension::{CodecEntry, Entry};
use zarr_array::traits::{CodecResult, Scratch};
use zarr_array::{Axis, Cpu, NdVec, Selection, Storage, View, ViewMut, block_on, standard};
use zarr_store::MemoryStore;
use zarr_store_fs::FsStore;

/// Allocations from this size on count as large: a quarter of a chunk.
const LARGE: usize = 4 << 10;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static LARGE_ONES: AtomicUsize = AtomicUsize::new(0);
static ALL: AtomicUsize = AtomicUsize::new(0);

struct Counting;

impl Counting {
    fn add(bytes: usize) {
        PEAK.fetch_max(LIVE.fetch_add(bytes, Relaxed) + bytes, Relaxed);
        ALL.fetch_add(1, Relaxed);
        if bytes >= LARGE {
            LARGE_ONES.fetch_add(1, Relaxed);
        }
    }
}

// SAFETY: every call goes unchanged to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The lock of the counters, which only one test may use at a time.
static TURN: Mutex<()> = Mutex::new(());

/// 100 chunks of 16 KiB in a directory.
const SHAPE: [u64; 2] = [1000, 800];
const CHUNKS: [u64; 2] = [100, 80];

fn stored(codecs: usize) -> (tempfile::TempDir, Array) {
    let folder = tempfile::tempdir().unwrap();
    let store = FsStore::open(folder.path()).unwrap();
    let array = Array::create(store, "/", meta(&SHAPE, &CHUNKS, &chains()[codecs]), &standard()).unwrap();
    array.write(.., &numbers(&SHAPE)).unwrap();
    (folder, array.with_cpu(Cpu::threads(2)))
}

#[test]
fn after_the_first_read_100_chunks_are_read_without_a_chunk_sized_allocation() {
    let _turn = TURN.lock();
    for codecs in 0..chains().len() {
        let (_folder, array) = stored(codecs);
        let mut buffer = vec![0_u16; 800_000];
        array.read_into(.., &mut buffer).unwrap();
        let before = LARGE_ONES.load(Relaxed);
        array.read_into(.., &mut buffer).unwrap();
        // a worker that was idle in the warm-up may still grow its buffers: a few allocations, not one per chunk
        let made = LARGE_ONES.load(Relaxed) - before;
        assert!(made <= 8, "chain {codecs}: {made} large allocations for 100 chunks");
        assert_eq!(buffer, numbers(&SHAPE));
    }
}

#[test]
fn a_steady_write_of_100_chunks_allocates_nothing_the_size_of_a_chunk() {
    let _turn = TURN.lock();
    for codecs in 0..chains().len() {
        let (_folder, array) = stored(codecs);
        let values = numbers(&SHAPE);
        array.write(.., &values).unwrap();
        let before = LARGE_ONES.load(Relaxed);
        array.write(.., &values).unwrap();
        let made = LARGE_ONES.load(Relaxed) - before;
        assert!(made <= 16, "chain {codecs}: {made} large allocations for 100 chunks");
    }
}

#[test]
fn memory_with_strides_is_read_into_and_written_from_without_a_copy() {
    let _turn = TURN.lock();
    let (_folder, array) = stored(0);
    let (rows, columns) = (1000, 800);
    let mut canvas = vec![0_u16; rows * (columns + 8)];
    let (shape, strides) = ([rows as u64, columns as u64], [columns as i64 + 8, 1]);
    for _ in 0..2 {
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        array.read_into(.., &mut ViewMut::strided(&mut canvas, 8, &shape, &strides).unwrap()).unwrap();
        array.write(.., &View::strided(&canvas, 8, &shape, &strides).unwrap()).unwrap();
        let more = PEAK.load(Relaxed).saturating_sub(before);
        assert!(more < 512 << 10, "{more} bytes beside {}", 2 * canvas.len());
    }
    assert_eq!(array.read::<u16>(..).unwrap().as_slice(), numbers(&SHAPE));
}

#[cfg(feature = "columns")]
#[test]
fn numbers_of_a_column_are_written_without_a_copy() {
    use zarr_array::{Column, ColumnType};

    let _turn = TURN.lock();
    let (_folder, array) = stored(0);
    let whole = Column::from(numbers(&SHAPE));
    let part = whole.buffers()[0].slice(2 * 800..2 * 80_800);
    let part = Column::new(ColumnType::UInt16, 80_000, None, [part], []).unwrap();
    for (rows, values) in [(0..1000, &whole), (100..200, &part)] {
        for act in [true, false] {
            let before = LIVE.load(Relaxed);
            PEAK.store(before, Relaxed);
            if act {
                array.write_column(rows.clone(), values).unwrap();
            } else {
                block_on(array.clone().into_async().write_column(rows.clone(), values)).unwrap();
            }
            let more = PEAK.load(Relaxed).saturating_sub(before);
            assert!(more < values.len(), "{more} bytes beside {:?}", values.len());
        }
    }
    let read = Column::from(array.read::<u16>(100..200).unwrap().into_vec());
    assert_eq!(read, part);
}

#[test]
fn a_steady_update_of_100_shards_allocates_nothing_the_size_of_a_shard() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let meta = meta(&SHAPE, &CHUNKS, &common::sharded(&[20, 16], "end"));
    let array = Array::create(FsStore::open(folder.path()).unwrap(), "/", meta, &standard()).unwrap();
    let array = array.with_cpu(Cpu::threads(2));
    array.write(.., &numbers(&SHAPE)).unwrap();
    // a row of each shard
    let rows = || Selection::new(vec![Axis::step(5..SHAPE[0], CHUNKS[0]), Axis::from(..)]);
    let values = numbers(&[SHAPE[0] / CHUNKS[0], SHAPE[1]]);
    for _ in 0..3 {
        array.write(rows(), &values).unwrap();
    }
    let before = LARGE_ONES.load(Relaxed);
    array.write(rows(), &values).unwrap();
    let made = LARGE_ONES.load(Relaxed) - before;
    assert!(made <= 16, "{made} large allocations for 100 shards");
}

/// A bytes → bytes codec that changes nothing and counts the bytes that pass.
#[derive(Debug)]
struct Tally;

static DECODED: AtomicUsize = AtomicUsize::new(0);
static ENCODED: AtomicUsize = AtomicUsize::new(0);

impl BytesBytesCodec for Tally {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        DECODED.fetch_add(src.len(), Relaxed);
        dst.get_mut(..src.len()).ok_or_else(zarr_array::traits::codec::too_large)?.copy_from_slice(src);
        Ok(src.len())
    }
    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        ENCODED.fetch_add(src.len(), Relaxed);
        out.extend_from_slice(src);
        Ok(())
    }
    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        EncodedSize::Exact(decoded)
    }
}

const TALLY: Entry = Entry::Codec(CodecEntry::new("tally", CodecKind::BytesBytes, |_, _, _| {
    Ok(Codec::BytesBytes(Arc::new(Tally)))
}));

#[test]
fn part_of_an_inner_chunk_is_written_at_the_cost_of_that_inner_chunk() {
    let _turn = TURN.lock();
    // 512 inner chunks of 64 KiB in one shard of 32 MiB
    const SHARD: usize = 32 << 20;
    let inner = [Extension::new("bytes").with("endian", "little"), Extension::new("tally")];
    let codecs = common::sharded_with(&[32, 32, 32], "end", &inner);
    let meta = meta(&[256, 256, 256], &[256, 256, 256], &codecs);
    let folder = tempfile::tempdir().unwrap();
    let store = FsStore::open(folder.path()).unwrap();
    let array = Array::create(store, "/", meta, &standard().with(&[TALLY]).unwrap()).unwrap();
    array.write(.., &numbers(&[256, 256, 256])).unwrap();
    let values: Vec<u16> = (0..8 * 8 * 8).collect();
    for at in [[0, 0, 0], [40, 100, 200], [248, 248, 248]] {
        let (decoded, encoded, before) = (DECODED.load(Relaxed), ENCODED.load(Relaxed), LIVE.load(Relaxed));
        PEAK.store(before, Relaxed);
        let part = at.map(|start| start..start + 8);
        array.write(part.clone(), &values).unwrap();
        let peak = PEAK.load(Relaxed) - before;
        assert_eq!(DECODED.load(Relaxed) - decoded, 64 << 10, "{at:?}: only that inner chunk is decoded");
        assert_eq!(ENCODED.load(Relaxed) - encoded, 64 << 10, "{at:?}: only that inner chunk is encoded");
        assert!(peak < SHARD * 3 / 2 + (16 << 20), "{at:?}: {peak} bytes at once");
        assert_eq!(array.read::<u16>(part).unwrap().into_vec(), values);
    }
    // a write that covers an inner chunk does not decode it
    let decoded = DECODED.load(Relaxed);
    array.write([32..64, 0..32, 0..32], &vec![1_u16; 32 << 10]).unwrap();
    assert_eq!(DECODED.load(Relaxed), decoded);
}

#[test]
fn shards_that_are_written_whole_take_no_more_memory_than_the_setting_allows() {
    let _turn = TURN.lock();
    const SHARD: usize = 8 << 20;
    let inner = [Extension::new("bytes").with("endian", "little")];
    let codecs = common::sharded_with(&[64, 64], "end", &inner);
    let folder = tempfile::tempdir().unwrap();
    let store = FsStore::open(folder.path()).unwrap();
    let array =
        Array::create(store, "/", meta(&[2048, 16_384], &[2048, 2048], &codecs), &standard()).unwrap();
    let array = array.with_cpu(Cpu::threads(4)).with_in_flight(usize::MAX, SHARD as u64);
    let values = numbers(&[2048, 16_384]);
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    array.write(.., &values).unwrap();
    let peak = PEAK.load(Relaxed) - before;
    // One shard at a time, not eight: in buffers of four threads, which are doubled and copied as they grow, and kept for
    // the next shard. On a busy machine each thread may once have encoded most of a shard.
    assert!(peak < SHARD * 10, "{peak} bytes for shards of {SHARD}");
    let mut read = vec![0_u16; values.len()];
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    array.read_into(.., &mut read).unwrap();
    assert_eq!(read, values);
    let peak = PEAK.load(Relaxed) - before;
    assert!(peak < SHARD * 5 / 4, "{peak} bytes to read shards of {SHARD}");
}

/// The memory of a read is proportional to the selected elements, not to the number of inner chunks.
#[test]
fn many_tiny_inner_chunks_cost_no_multiple_of_the_result() {
    let _turn = TURN.lock();
    const MANY: u64 = 1 << 18;
    let inner = [Extension::new("bytes").with("endian", "little")];
    let codecs = common::sharded_with(&[1], "end", &inner);
    let memory = MemoryStore::new();
    let array = Array::create(memory.clone(), "/", meta(&[MANY], &[MANY], &codecs), &standard()).unwrap();
    let peak_of = |work: &mut dyn FnMut()| {
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        work();
        PEAK.load(Relaxed) - before
    };
    // the result takes 512 KiB, the index 4 MiB
    let absent = peak_of(&mut || assert_eq!(array.read::<u16>(..).unwrap().as_slice()[9], 7));
    assert!(absent < 8 << 20, "{absent} bytes for an array without chunks");
    let index = vec![0xff; 16 * usize::try_from(MANY).unwrap()];
    let checksum = crc32c(&index).to_le_bytes();
    block_on(array.storage().put(&array.chunk_key(&[0]).unwrap(), [&index[..], &checksum].concat())).unwrap();
    let empty = peak_of(&mut || assert_eq!(array.read::<u16>(..).unwrap().as_slice()[9], 7));
    assert!(empty < 16 << 20, "{empty} bytes for an index of 4 MiB and a result of 512 KiB");
    let update = peak_of(&mut || array.write(5..6, &[1_u16]).unwrap());
    assert!(update < 28 << 20, "{update} bytes to change one element, with an index of 4 MiB");
    assert_eq!(array.read::<u16>(4..7).unwrap().into_vec(), [7, 1, 7]);
    // a column of an uncompressed chunk that is missing
    let plain = meta(&[1 << 16, 4096], &[1 << 16, 4096], &inner);
    let array = Array::create(MemoryStore::new(), "/", plain, &standard()).unwrap();
    let column = peak_of(&mut || assert_eq!(array.read::<u16>((.., 4)).unwrap().as_slice()[9], 7));
    assert!(column < 32 << 20, "{column} bytes for a column of 128 KiB");
}

/// A plan has no list of chunks or of their places in the result.
#[test]
fn a_plan_takes_no_memory_per_chunk() {
    let _turn = TURN.lock();
    const CHUNKS: u64 = 1 << 16;
    let array = Array::create(MemoryStore::new(), "/", meta(&[CHUNKS], &[1], &chains()[0]), &standard());
    let array = array.unwrap().with_cpu(Cpu::inline());
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let all = array.read::<u16>(..).unwrap();
    let (peak, result) = (PEAK.load(Relaxed) - before, all.as_slice().len() * 2);
    assert!(peak < 2 * result, "{peak} bytes for {CHUNKS} chunks and a result of {result}");
}

/// Computes CRC-32C bit by bit: slow, but fast enough for one index.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & 0_u32.wrapping_sub(crc & 1)))
    })
}

#[test]
fn updates_of_remote_shards_hold_only_as_many_as_are_allowed() {
    let _turn = TURN.lock();
    const SHARD: usize = 2 << 20;
    let codecs = common::sharded(&[64, 64], "end");
    let memory = Storage::from(MemoryStore::new());
    let made =
        Array::create(memory.clone(), "/", meta(&[16 * 1024, 1024], &[1024, 1024], &codecs), &standard());
    made.unwrap().write(.., &numbers(&[16 * 1024, 1024])).unwrap();
    let slow = common::Odd::slow(&memory, std::time::Duration::from_millis(5), 16);
    let array = Array::open(slow, "/", &standard()).unwrap().with_in_flight(16, 3 * SHARD as u64);
    let values = vec![1_u16; 16 * 1024];
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    array.write((.., 3..4), &values).unwrap();
    let peak = PEAK.load(Relaxed) - before;
    assert!(peak < 8 * SHARD, "{peak} bytes for 16 shards of {SHARD}, with room for three");
}

#[test]
fn a_typed_read_needs_little_more_than_its_result() {
    let _turn = TURN.lock();
    for codecs in 0..chains().len() {
        let (_folder, array) = stored(codecs);
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        let all: NdVec<u16> = array.read(..).unwrap();
        let (peak, result) = (PEAK.load(Relaxed) - before, all.as_slice().len() * 2);
        assert!(peak < result * 2, "chain {codecs}: {peak} bytes for a result of {result}");
    }
}

/// The bytes of a run go from the file to the result.
#[test]
fn a_run_of_an_uncompressed_chunk_takes_the_memory_of_its_result() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let store = FsStore::open(folder.path()).unwrap();
    let raw = meta(&[1024, 1024], &[1024, 1024], &chains()[0]);
    let array = Array::create(store, "/", raw, &standard()).unwrap();
    let all = numbers(&[1024, 1024]);
    for is_stored in [true, false] {
        if is_stored {
            array.write(.., &all).unwrap();
        } else {
            array.erase_chunk(&[0, 0]).unwrap();
        }
        // The whole chunk, rows of it, and a part of a row; and columns, which are no run.
        for (part, is_run) in [
            ((0..1024, 0..1024), true),
            ((100..900, 0..1024), true),
            ((7..8, 20..1000), true),
            ((0..1024, 1..1000), false),
        ] {
            let rows = part.0.end - part.0.start;
            let before = LIVE.load(Relaxed);
            PEAK.store(before, Relaxed);
            let read: NdVec<u16> = array.read(part.clone()).unwrap();
            let (peak, result) = (PEAK.load(Relaxed) - before, read.as_slice().len() * 2);
            let wanted = |at: usize| {
                let columns = part.1.end - part.1.start;
                let (row, column) = (at as u64 / columns + part.0.start, at as u64 % columns + part.1.start);
                if is_stored { all.as_slice()[usize::try_from(row * 1024 + column).unwrap()] } else { 7 }
            };
            assert!(read.as_slice().iter().enumerate().all(|(at, n)| *n == wanted(at)), "{part:?}");
            assert_eq!(
                peak < result + (64 << 10),
                is_run || !is_stored || rows == 1,
                "{part:?}: {peak} for {result}"
            );
        }
    }
}

#[test]
fn an_element_is_read_with_few_allocations() {
    let _turn = TURN.lock();
    let (_folder, array) = stored(0);
    let read = |at: u64| array.read::<u16>([at, at]).unwrap();
    read(0);
    let before = ALL.load(Relaxed);
    (0..100).for_each(|at| drop(read(at * 7)));
    let made = ALL.load(Relaxed) - before;
    // Selection, plan, result, ranges and requests: one or a few each, none for each dimension.
    assert!(made <= 100 * 13, "{made} allocations for 100 elements");
}

#[cfg(feature = "columns")]
#[test]
fn strings_of_a_column_are_not_as_many_allocations() {
    use zarr_array::{ArrayMeta, Column, DataType};

    let _turn = TURN.lock();
    let words: Vec<String> = (0..200_000).map(|i| format!("number {i}")).collect();
    let words = Column::texts(words);
    let meta = ArrayMeta::builder([200_000], DataType::String).chunks([20_000]).build().unwrap();
    let array = Array::create(MemoryStore::new(), "/", meta, &standard()).unwrap();
    let before = ALL.load(Relaxed);
    array.write_column(.., &words).unwrap();
    let written = ALL.load(Relaxed) - before;
    let (_, read) = array.read_column(..).unwrap();
    let both = ALL.load(Relaxed) - before;
    assert!(both < 1000, "{written} allocations of a write, {} of a read", both - written);
    assert_eq!(read, words);
}

#[cfg(feature = "columns")]
#[test]
fn numbers_are_handed_to_a_column_without_a_copy() {
    let _turn = TURN.lock();
    let (_folder, array) = stored(0);
    for _ in 0..3 {
        drop(array.read_column(..).unwrap());
    }
    PEAK.store(LIVE.load(Relaxed), Relaxed);
    let before = LIVE.load(Relaxed);
    let (_, values) = array.read_column(..).unwrap();
    let (peak, result) = (PEAK.load(Relaxed) - before, numbers(&SHAPE).len() * 2);
    assert!(peak < result + (512 << 10), "{peak} bytes for a result of {result}");
    drop(values);
}
