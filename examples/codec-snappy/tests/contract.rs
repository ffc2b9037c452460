use example_codec_snappy::CODECS;
use zarr_array::meta::v3::Extension;
use zarr_array::{ArrayMeta, DataType, blocking::Array, standard, traits::json::json};
use zarr_conformance::codec::Subject;
use zarr_store::MemoryStore;

const GOLDEN: [u8; 5] = [3, 2 << 2, b'a', b'b', b'c']; // a length, and a literal of three bytes

zarr_conformance::codec_suite!(
    it_keeps_the_contract,
    standard().with(CODECS).unwrap(),
    [Subject::new("example.snappy", json!({})).encodes(DataType::UInt8, &[3], b"abc", &GOLDEN)]
);

#[test]
fn an_array_is_written_and_read() {
    let codecs = [Extension::new("bytes").with("endian", "little"), Extension::new("example.snappy")];
    let meta = ArrayMeta::builder([300, 200], DataType::Int32).chunks([100, 100]).codecs(codecs);
    let registry = standard().with(CODECS).unwrap();
    let array = Array::create(MemoryStore::new(), "/", meta.build().unwrap(), &registry).unwrap();
    let values: Vec<i32> = (0..60_000).map(|i| i / 7).collect();
    array.write(.., &values).unwrap();
    assert_eq!(array.read::<i32>((150, 50..52)).unwrap().as_slice(), [4292, 4293]);
    assert_eq!(array.read::<i32>(..).unwrap().into_vec(), values);
}
