//! Partial writes of shards: other inner chunks keep their bytes, and inner chunks are stored in the requested order.

use zarr_engine::Chain;
use zarr_traits::json;
use zarr_traits::strided::Source;
use zarr_traits::{
    Bytes, CodecResult, Region, Scratch,
    update::{EncodedInner, InnerChunks, InnerOrder, JoinedObject, NewInner, SelectedPart},
};

use crate::common::*;

/// Updates a shard as an engine does, with a buffer for every other inner chunk.
fn update(
    chain: &Chain,
    shape: &[u64],
    old: Option<&[u8]>,
    picks: &SelectedPart,
    values: &[u8],
    how: InnerChunks,
) -> CodecResult<JoinedObject> {
    let mut scratch = Scratch::new();
    let mut update = chain.update(shape, picks, how).unwrap();
    if let Some(old) = old {
        update.feed(Bytes::copy_from_slice(old))?;
    }
    let mut buffers = [Vec::new(), Vec::new()];
    let mut inner = vec![NewInner::Fill; update.count()];
    for number in (0..update.count()).rev() {
        let buffer = number % 2;
        let start = buffers[buffer].len();
        let src = Source::dense(values, &picks.counts(), 1).unwrap();
        let elements = update.elements(number)?;
        let src = src.sub(elements.start(), elements.shape()).unwrap();
        if update.encode(number, &src, &mut buffers[buffer], &mut scratch)? {
            let len = buffers[buffer].len() - start;
            inner[number] = NewInner::Encoded(EncodedInner::new(buffer, start, len));
        }
    }
    update.join(&buffers.map(Bytes::from), &inner, &mut scratch)
}

fn whole(shape: &[u64]) -> SelectedPart {
    SelectedPart::all(Region::whole(shape))
}

/// Builds a chain with inner chunks of one element each.
fn squares() -> Chain {
    chain(&json!([sharding(&[1, 1], &json!([{"name": "bytes"}]), &checked(), "end")]), "uint8", &[0], 2)
}

#[test]
fn a_shard_tells_the_shape_of_its_inner_chunks() {
    let codec = sharding(&[2, 3], &json!([{"name": "bytes"}]), &checked(), "end");
    assert_eq!(chain(&json!([codec]), "uint8", &[0], 2).inner_shape(2), Some([2, 3].as_slice().into()));
}

#[test]
fn inner_chunks_are_stored_in_the_requested_order() {
    // rule D7.8
    let values: Vec<u8> = (1..=16).collect();
    for (order, stored) in [
        (InnerOrder::C, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]),
        (InnerOrder::Morton, [1, 5, 2, 6, 9, 13, 10, 14, 3, 7, 4, 8, 11, 15, 12, 16]),
        (InnerOrder::F, [1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 4, 8, 12, 16]),
    ] {
        let mut how = InnerChunks::default();
        how.order = order;
        let joined = update(&squares(), &[4, 4], None, &whole(&[4, 4]), &values, how).unwrap();
        let object = joined.parts.concat();
        assert_eq!(object[..16], stored, "{order:?}");
        assert_eq!(decode(&squares(), &[4, 4], &object).unwrap(), values, "readers need not know the order");
    }
}

#[test]
fn inner_chunks_of_fill_values_are_left_out_or_stored() {
    // rule D7.15
    let values = [0, 5, 0, 0];
    let chain =
        chain(&json!([sharding(&[1], &json!([{"name": "bytes"}]), &checked(), "start")]), "uint8", &[0], 1);
    let mut how = InnerChunks::default();
    let few = update(&chain, &[4], None, &whole(&[4]), &values, how).unwrap();
    assert_eq!((few.parts.concat().len(), few.is_empty), (68 + 1, false));
    assert!(update(&chain, &[4], None, &whole(&[4]), &[0; 4], how).unwrap().is_empty);
    how.store_fill = true;
    let all = update(&chain, &[4], None, &whole(&[4]), &values, how).unwrap();
    assert_eq!((all.parts.concat().len(), all.is_empty), (68 + 4, false));
    assert_eq!(decode(&chain, &[4], &all.parts.concat()).unwrap(), values);
}

#[test]
fn inner_chunks_that_are_not_written_keep_their_bytes() {
    // zstd with two levels: an inner chunk that was encoded again would have other bytes
    let zstd = |level| json!([{"name": "bytes"}, {"name": "zstd", "configuration": {"level": level, "checksum": true}}]);
    let with = |level| chain(&json!([sharding(&[64], &zstd(level), &checked(), "end")]), "uint8", &[0], 1);
    let (theirs, ours) = (with(19), with(1));
    let mut noise = Noise(7);
    let values: Vec<u8> = (0..256).map(|_| u8::try_from(noise.below(5)).unwrap()).collect();
    let old = encode(&theirs, &[256], &values);
    let picks = SelectedPart::all(Region::new([70], [3]).unwrap());
    let new =
        update(&ours, &[256], Some(&old), &picks, &[9, 9, 9], InnerChunks::default()).unwrap().parts.concat();
    let mut expected = values.clone();
    expected[70..73].fill(9);
    assert_eq!(decode(&ours, &[256], &new).unwrap(), expected);
    let inner = |chain: &Chain, object: &[u8], number: u64| {
        let (_, asked) =
            partial(chain, &[256], &Region::new([64 * number], [1]).unwrap(), object).unwrap().unwrap();
        let (offset, len) = asked.pieces[0];
        object[usize::try_from(offset).unwrap()..usize::try_from(offset + len).unwrap()].to_vec()
    };
    for number in [0, 2, 3] {
        assert_eq!(inner(&ours, &new, number), inner(&theirs, &old, number), "inner chunk {number}");
    }
    assert_ne!(inner(&ours, &new, 1), inner(&theirs, &old, 1));
}

#[test]
fn a_strided_write_changes_only_the_inner_chunks_it_hits() {
    let old: Vec<u8> = (1..=16).collect();
    let object = encode(&squares(), &[4, 4], &old);
    let picks = SelectedPart::new(Region::new([0, 1], [4, 3]).unwrap(), [3, 2][..].into());
    assert_eq!(&picks.counts()[..], [2, 2]);
    assert_eq!(squares().update(&[4, 4], &picks, InnerChunks::default()).unwrap().count(), 4);
    let how = InnerChunks::default();
    let new =
        update(&squares(), &[4, 4], Some(&object), &picks, &[21, 22, 23, 24], how).unwrap().parts.concat();
    let expected = [1, 21, 3, 22, 5, 6, 7, 8, 9, 10, 11, 12, 13, 23, 15, 24];
    assert_eq!(decode(&squares(), &[4, 4], &new).unwrap(), expected);
}

#[test]
fn a_shard_with_codecs_after_it_is_written_whole() {
    let inner = sharding(&[1], &json!([{"name": "bytes"}]), &checked(), "end");
    let outer = chain(&json!([inner, {"name": "crc32c"}]), "uint8", &[0], 1);
    assert!(outer.update(&[4], &whole(&[4]), InnerChunks::default()).is_none(), "rule D7.14");
    assert_eq!(outer.inner_shape(1), None);
}
