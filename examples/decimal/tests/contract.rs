use example_decimal::{Decimal, TABLE};
use zarr_array::traits::{json, strided::bytes_of};
use zarr_array::{ArrayMeta, DataType, FillValue, blocking::Array, meta::v3::Extension, standard};
use zarr_conformance::codec::{Subject, check};
use zarr_store::MemoryStore;

#[test]
fn the_codec_keeps_the_contract() {
    let decimal = DataType::Extension(std::sync::Arc::new(Decimal(2)));
    let zigzag = Subject::new("example.zigzag", json!({})).types([DataType::Int64, decimal]);
    check(&standard().with(TABLE).unwrap(), [zigzag.refuses([DataType::Int32])]).unwrap();
}

#[test]
fn prices_are_written_and_read() {
    let decimal = DataType::Extension(std::sync::Arc::new(Decimal(2)));
    let codecs = [Extension::new("example.zigzag"), Extension::new("bytes").with("endian", "little")];
    let meta = ArrayMeta::builder([4], decimal).chunks([2]).codecs(codecs).fill(FillValue::of(-5_i64));
    let registry = standard().with(TABLE).unwrap();
    let array = Array::create(MemoryStore::new(), "/", meta.build().unwrap(), &registry).unwrap();
    array.write_bytes(1..3, bytes_of(&[1999_i64, -250]).to_vec()).unwrap();
    assert_eq!(array.read_bytes(..).unwrap().1, bytes_of(&[-5_i64, 1999, -250, -5]));
    assert!(array.metadata().to_text().contains(r#""fill_value": "-0.05""#));
}
