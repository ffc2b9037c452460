//! What a dropped handle gives back.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, DataType, NdVec, Storage, standard};
use zarr_store::MemoryStore;

#[derive(Debug, Default)]
struct Probe;

#[test]
fn a_dropped_array_gives_its_store_back() {
    let storage = Storage::from(MemoryStore::new());
    let probe = storage.shared::<Probe>();
    let meta = ArrayMeta::builder([64, 1 << 18], DataType::UInt8).chunks([1, 1 << 18]).build().unwrap();
    let array = Array::create(storage, "/", meta, &standard()).unwrap();
    let values = NdVec::new([64, 1 << 18], vec![1_u8; 64 << 18]).unwrap();
    array.write(.., &values).unwrap();
    for _ in 0..3 {
        assert_eq!(array.read::<u8>(..).unwrap().as_slice().len(), 64 << 18);
    }
    drop(array);
    for _ in 0..100 {
        if Arc::strong_count(&probe) == 1 {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the store is still used");
}
