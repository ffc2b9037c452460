//! The memory of decoded reads: the result, and the chunks in flight.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use peak_alloc::PeakAlloc;
use zarr_hierarchy::zarr_array::{DataType, Storage, standard};
use zarr_hierarchy::{ArrayMeta, blocking::Group};
use zarr_meta::json;
use zarr_meta::v3::Extension;
use zarr_store::MemoryStore;
use zarr_xarray::blocking::Dataset;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const SHAPE: [u64; 2] = [2048, 2048];

/// 64 chunks of 128 KiB each, which decode to 512 KiB.
const CHUNKS: [u64; 2] = [256, 256];

#[test]
fn a_decoded_read_needs_little_more_than_its_result() {
    for (codecs, packing) in [
        (vec![], json!({ "scale_factor": 0.5, "add_offset": 3, "missing_value": [7, 9] })),
        (
            vec![Extension::new("zstd").with("level", 1).with("checksum", false)],
            json!({ "scale_factor": 0.5 }),
        ),
    ] {
        let storage = Storage::from(MemoryStore::new());
        let root = Group::create(storage.clone(), "/", &standard()).unwrap();
        let bytes = Extension::new("bytes").with("endian", "little");
        let meta = ArrayMeta::builder(SHAPE, DataType::Int16).chunks(CHUNKS).attributes(packing.clone());
        let meta =
            meta.codecs([bytes].into_iter().chain(codecs)).dimension_names(["y", "x"]).build().unwrap();
        let values: Vec<i16> = (0..2048 * 2048).map(|n| i16::try_from(n % 30_011).unwrap()).collect();
        root.create_array("v", meta).unwrap().write(.., &values).unwrap();
        drop(values);
        let variable = Dataset::open(root).unwrap().variable("v").unwrap();

        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let decoded = variable.read::<f64>().unwrap();
        let (peak, result) = (ALLOCATOR.peak_usage() - before, 8 * decoded.as_slice().len());
        // A copy of the stored elements would be a quarter of the result, 8 MiB.
        assert!(peak < result + (4 << 20), "{packing}: {peak} bytes for a result of {result}");
    }
}
