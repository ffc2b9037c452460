use example_store_tar::TarStore;
use zarr_array::{ArrayMeta, DataType, Storage, block_on, blocking::Array, standard, traits::*};

fn tar(objects: &[(Key, Bytes)]) -> Storage {
    let mut archive = tar::Builder::new(Vec::new());
    for (key, value) in objects {
        let mut header = tar::Header::new_gnu();
        header.set_size(value.len() as u64);
        archive.append_data(&mut header, key.as_str(), &value[..]).unwrap();
    }
    TarStore::open(&archive.into_inner().unwrap().into()).unwrap()
}

#[test]
fn it_keeps_the_contract_and_holds_an_array() {
    zarr_conformance::store::check_reading(tar).unwrap();
    let memory = Storage::from(zarr_store::MemoryStore::new());
    let meta = ArrayMeta::builder([30, 20], DataType::Int32).chunks([10, 10]).build().unwrap();
    let array = Array::create(memory.clone(), "/a", meta, &standard()).unwrap();
    array.write(.., &(0..600).collect::<Vec<i32>>()).unwrap();
    let keys = block_on(memory.list(&Prefix::root(), None)).unwrap().into_keys();
    let objects = keys.map(|key| (key.clone(), block_on(memory.get(&key, 1000)).unwrap().unwrap()));
    let array = Array::open(tar(&objects.collect::<Vec<_>>()), "/a", &standard()).unwrap();
    assert_eq!(array.read::<i32>((15, 9..11)).unwrap().as_slice(), [309, 310]);
}
