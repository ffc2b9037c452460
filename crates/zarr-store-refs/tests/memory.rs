//! The memory of references in Parquet, counted by an allocator.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[allow(dead_code, unreachable_pub, reason = "this program uses a part of it")]
mod written;

use peak_alloc::PeakAlloc;
use zarr_store::Targets;
use zarr_store_fs::FsStore;
use zarr_store_refs::Refs;
use zarr_traits::{Key, Prefix, Storage, block_on};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// One test, because the allocator counts for all threads.
#[test]
fn chunks_of_a_million_references_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::from(FsStore::create(folder.path()).unwrap());
    let put = |name: String, bytes: Vec<u8>| block_on(storage.put(&Key::new(name).unwrap(), bytes)).unwrap();
    put("x.bin".to_owned(), vec![7; 4000]);
    // One file of a million records has 25 MB itself.
    for (files, most, after) in [(100, 8, 8), (10, 24, 18), (1, 40, 16)] {
        let rows = 1_000_000 / files;
        let metadata = r#"{"metadata": {"a/.zarray": {"zarr_format": 2, "shape": [1000000], "chunks": [1], "dtype": "|u1",
            "compressor": null, "filters": null, "fill_value": 0, "order": "C"}}, "record_size": "#;
        put(format!("{files}.parq/.zmetadata"), format!("{metadata}{rows}}}").into_bytes());
        for number in 0..files {
            // Offsets that do not fit into 32 bits, but in the rows that are read.
            let offset = |row: i64| if row % (1_000_000 / files) == 7 { 99 } else { row << 20 };
            let size = |row: i64| if row % (1_000_000 / files) == 7 { 3 } else { row % 9 };
            let records: Vec<_> = (number * rows..(number + 1) * rows)
                .map(|row| (Some("x.bin"), offset(row), size(row), None))
                .collect();
            put(format!("{files}.parq/a/refs.{number}.parq"), written::references(&records));
        }
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage();
        let directory = Prefix::new(format!("{files}.parq/")).unwrap();
        let opened = block_on(Refs::open_parquet(&storage, directory, Targets::none())).unwrap();
        for read in 0..10 {
            let chunk = read * files / 10 * rows + 7;
            let key = Key::new(format!("a/{chunk}")).unwrap();
            let bytes = block_on(opened.get(&key, 100)).unwrap().unwrap();
            assert_eq!(bytes[..], [7; 3], "{chunk}");
        }
        let peak = ALLOCATOR.peak_usage() - before;
        assert!(peak < most << 20, "{files} files: {peak} bytes");
        // The bytes of the file are not kept beside the records.
        let kept = ALLOCATOR.current_usage() - before;
        assert!(kept < after << 20, "{files} files: {kept} bytes are kept");
    }
}
