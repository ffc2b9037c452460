//! Makes mistakes, and prints what the errors say.

use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::{ArrayMeta, ArrayResult, DataType, NdVec, standard};
use zarr_store::MemoryStore;

fn main() -> ArrayResult<()> {
    let builder = || ArrayMeta::builder([4, 6], DataType::Float32);
    let create = |meta| Array::create(MemoryStore::new(), "/x", meta, &standard());
    let mut array = create(builder().chunks([2, 3]).build()?)?;
    says(array.read::<f64>(..));
    says(array.read::<f32>([0..5, 0..6]));
    says(array.read::<f32>((0..4, 0..6, 0..1)));
    says(array.read::<f32>((.., [2, 9])));
    says(array.write([0..2, 0..2], &[1.0_f32; 3]));
    says(array.write([0..2, 0..3], &NdVec::new([3, 2], vec![1.0_f32; 6])?));
    says(array.append(0, NdVec::new([1, 5], vec![1.0_f32; 5])?));
    says(array.chunk(&[2, 0]));
    says(builder().chunks([2]).build());
    says(builder().chunks([2, 2]).shards([3, 3]).build());
    says(
        builder()
            .codecs([Extension::new("zstd").with("level", "high")])
            .build()
            .map_err(Into::into)
            .and_then(create),
    );
    says(builder().codecs(["zstd2".into()]).build().map_err(Into::into).and_then(create));
    Ok(())
}

fn says<T, E: std::fmt::Display>(result: Result<T, E>) {
    println!("{}", result.map_or_else(|error| format!("{error:#}"), |_| "no error".to_owned()));
}
