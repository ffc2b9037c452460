//! Codecs that convert single elements: parts of chunks are read and written through them.

use crate::common::{self, counted, numbers};
use zarr_array::Cpu;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::Extension;

/// Elements that are stored as uint32, by these codecs.
fn codecs(inner: &[Extension]) -> Vec<Extension> {
    let wide = Extension::new("cast_value").with("data_type", "uint32");
    [wide].into_iter().chain(inner.iter().cloned()).collect()
}

#[test]
fn a_part_of_a_shard_is_read_and_written_through_a_conversion_of_elements() {
    let (array, counting) = counted(&[128, 128], &[64, 64], &codecs(&common::sharded(&[8, 8], "end")));
    let array = array.with_cpu(Cpu::threads(2));
    let mut model = numbers(&[128, 128]);
    array.write(.., &model).unwrap();
    assert_eq!(array.smallest_chunks(..).unwrap().len(), 256);

    let before = counting.counts();
    assert_eq!(array.read::<u16>([9..11, 17..20]).unwrap().into_vec(), [1169, 1170, 1171, 1297, 1298, 1299]);
    let used = counting.counts() - before;
    // The index of 64 inner chunks and one inner chunk, not the shard of 16 KiB.
    assert!(used.requests() <= 2 && used.bytes_read < 2048, "{used:?}");

    let before = counting.counts();
    array.write([9..11, 17..20], &[7_u16; 6]).unwrap();
    assert_eq!((counting.counts() - before).puts, 1);
    for row in 9..11 {
        model[row * 128 + 17..row * 128 + 20].fill(7);
    }
    assert_eq!(array.read::<u16>(..).unwrap().into_vec(), model);
    // Fill values are not stored, and are decoded.
    array.write([0..64, 0..64], &vec![7_u16; 64 * 64]).unwrap();
    array.write([0..1, 0..1], &[8_u16]).unwrap();
    assert_eq!(array.read::<u16>([0..1, 0..10]).unwrap().into_vec(), [8, 7, 7, 7, 7, 7, 7, 7, 7, 7]);
}

#[test]
fn a_part_of_an_uncompressed_chunk_is_read_through_a_conversion_of_elements() {
    let plain = [Extension::new("bytes").with("endian", "big")];
    let order = Extension::new("transpose").with("order", [1_u64, 0].into_iter().collect::<Value>());
    for codecs in [
        codecs(&plain),
        [vec![order.clone()], codecs(&plain)].concat(),
        codecs(&[vec![order], plain.to_vec()].concat()),
    ] {
        let (array, counting) = counted(&[128, 128], &[128, 128], &codecs);
        array.write(.., &numbers(&[128, 128])).unwrap();
        let mut fetching = array.fetching();
        (fetching.whole, fetching.gap) = (0, 0);
        let array = array.with_fetching(fetching);
        let before = counting.counts();
        assert_eq!(array.read::<u16>([3..5, 6..8]).unwrap().into_vec(), [390, 391, 518, 519]);
        assert_eq!((counting.counts() - before).bytes_read, 16, "{codecs:?}");
        assert_eq!(array.read::<u16>(..).unwrap().into_vec(), numbers(&[128, 128]));
    }
}
