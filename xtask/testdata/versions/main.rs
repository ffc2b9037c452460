//! Writes and reads an array with the codec, the data type and the store of `examples/`, which know only the traits.

use std::error::Error;
use std::sync::Arc;

use zarr_array::meta::v3::Extension;
use zarr_array::traits::{Bytes, Prefix, Registry, strided::bytes_of};
use zarr_array::{ArrayMeta, DataType, FillValue, Storage, block_on, blocking::Array};

fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::core().with(zarr_codecs_core::CODECS)?;
    let registry = registry.with(example_codec_snappy::CODECS)?.with(example_decimal::TABLE)?;
    let codecs = [
        Extension::new("example.zigzag"),
        Extension::new("bytes").with("endian", "little"),
        Extension::new("example.snappy"),
    ];
    let decimal = DataType::Extension(Arc::new(example_decimal::Decimal(2)));
    let meta = ArrayMeta::builder([300], decimal).chunks([100]).codecs(codecs).fill(FillValue::of(-5_i64));

    let memory = Storage::from(zarr_store::MemoryStore::new());
    let array = Array::create(memory.clone(), "/prices", meta.build()?, &registry)?;
    let mut prices: Vec<i64> = (0..250).map(|i| 199 * i - 1000).collect();
    array.write_bytes(0..250, bytes_of(&prices).to_vec())?;

    let mut archive = tar::Builder::new(Vec::new());
    for key in block_on(memory.list(&Prefix::root(), None))?.into_keys() {
        let value = block_on(memory.get(&key, 10_000))?.ok_or("a listed key has no object")?;
        let mut header = tar::Header::new_gnu();
        header.set_size(value.len() as u64);
        archive.append_data(&mut header, key.as_str(), &value[..])?;
    }
    let archive = Bytes::from(archive.into_inner()?);
    let array = Array::open(example_store_tar::TarStore::open(&archive)?, "/prices", &registry)?;
    prices.resize(300, -5);
    assert_eq!(array.read_bytes(..)?.1, bytes_of(&prices));
    println!("{} prices were written and read through the codec, the data type and the store", prices.len());
    Ok(())
}
