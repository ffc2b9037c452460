//! Chains of codecs: building them, and the limits of their decoders.

use std::sync::Arc;

use zarr_engine::Chain;
use zarr_strided::{Destination, Dims, Source, Swap};
use zarr_traits::codec::{
    ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec, CodecKind, Effect, EncodedSize, PartAccess,
    Repr, too_large,
};
use zarr_traits::extension::{CodecEntry, Context, Entry, Spec};
use zarr_traits::json::{Value, json};
use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, DataType, FillValue, Limits, Region, Registry, Scratch,
};

/// Stores the elements as they are; refuses chunks of odd length.
#[derive(Debug)]
struct Plain;

impl ArrayBytesCodec for Plain {
    fn access(&self) -> PartAccess<'_> {
        PartAccess::Plain(Swap::NONE)
    }
    fn check_shape(&self, shape: &[u64]) -> CodecResult<()> {
        if shape[0].is_multiple_of(2) {
            return Ok(());
        }
        Err(CodecError::new(CodecErrorKind::Unsupported, "odd"))
    }
    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        _: &mut Scratch,
    ) -> CodecResult<()> {
        let source = Source::dense(src, shape, dst.size())?.sub(part.start(), part.shape())?;
        Ok(dst.put(source, Swap::NONE)?)
    }
    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        Ok(src.append_to(out, Swap::NONE)?)
    }
    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        EncodedSize::Exact(shape.iter().product())
    }
}

/// Each byte is the number of zeros that it stands for: a bomb with a ratio of up to 255.
#[derive(Debug)]
struct Zeros;

impl BytesBytesCodec for Zeros {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        let len = src.iter().map(|b| usize::from(*b)).sum();
        dst.get_mut(..len).ok_or_else(too_large)?.fill(0);
        Ok(len)
    }
    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        out.extend(src.chunks(255).map(|c| u8::try_from(c.len()).unwrap()));
        Ok(())
    }
    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        EncodedSize::AtMost(decoded)
    }
}

/// Flattens chunks to one dimension; cannot move elements.
#[derive(Debug)]
struct Flat(Repr);

impl ArrayArrayCodec for Flat {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        Ok(Repr::new(self.0.data_type.clone(), self.0.fill.clone(), 1))
    }
    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok([shape.iter().product()].into())
    }
    fn effect(&self) -> Effect<'_> {
        Effect::Reshape
    }
    fn decode(&self, _: Source<'_>, _: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        Err(CodecError::new(CodecErrorKind::Unsupported, "moves elements"))
    }
    fn encode(&self, _: Source<'_>, _: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        Err(CodecError::new(CodecErrorKind::Unsupported, "moves elements"))
    }
}

const CODECS: &[Entry] = &[
    Entry::Codec(CodecEntry::new("flat", CodecKind::ArrayArray, |_, repr, _| {
        Ok(Codec::ArrayArray(Arc::new(Flat(repr.clone()))))
    })),
    Entry::Codec(CodecEntry::aliased("plain", &["old"], CodecKind::ArrayBytes, |configuration, repr, _| {
        repr.fixed()?;
        configuration.optional_integer("level", 0..=3)?;
        Ok(Codec::ArrayBytes(Arc::new(Plain)))
    })),
    Entry::Codec(CodecEntry::new("zeros", CodecKind::BytesBytes, |_, _, _| {
        Ok(Codec::BytesBytes(Arc::new(Zeros)))
    })),
    // Both entries state another kind than that of their codec.
    Entry::Codec(CodecEntry::new("late", CodecKind::BytesBytes, |_, repr, _| {
        Ok(Codec::ArrayArray(Arc::new(Flat(repr.clone()))))
    })),
    Entry::Codec(CodecEntry::new("early", CodecKind::ArrayArray, |_, _, _| {
        Ok(Codec::BytesBytes(Arc::new(Zeros)))
    })),
];

fn build(codecs: Value) -> Result<(Chain, Vec<String>), CodecError> {
    let specs: Vec<Spec> = codecs.elements().unwrap().map(|c| Spec::try_from(&c).unwrap()).collect();
    let registry = Registry::core().with(CODECS)?;
    let repr = Repr::new(DataType::UInt8, FillValue::of(0_u8), 1);
    let mut notes = Vec::new();
    let chain = Chain::build(&specs, repr, &Context::new(&registry, &Limits::default()), &mut notes)?;
    Ok((chain, notes.into_iter().map(|n| n.pointer).collect()))
}

#[test]
fn invalid_chains_are_refused_with_a_pointer() {
    let configuration = CodecErrorKind::Configuration;
    for (id, codecs, kind, pointer) in [
        ("rule A.t60", json!([]), configuration, ""),
        ("rule A.t61", json!([{"name": "zeros"}]), configuration, "/0"),
        ("rule A.t62", json!([{"name": "plain"}, {"name": "plain"}]), configuration, "/1"),
        ("rule A.t63", json!([{"name": "zeros"}, {"name": "plain"}]), configuration, "/0"),
        ("rule A.t53", json!([{"name": "plain"}, {"name": "foo"}]), CodecErrorKind::UnknownExtension, "/1"),
        (
            "configuration",
            json!([{"name": "plain", "configuration": {"level": "x"}}]),
            configuration,
            "/0/configuration/level",
        ),
    ] {
        let e = build(codecs).map(drop).unwrap_err();
        assert_eq!((e.kind(), e.pointer()), (kind, pointer), "{id}: {e:#}");
    }
    for (codecs, pointer) in [
        (json!([{"name": "plain"}, {"name": "late"}]), "/1"),
        (json!([{"name": "early"}, {"name": "plain"}]), "/0"),
    ] {
        let e = build(codecs).map(drop).unwrap_err();
        assert_eq!((e.kind(), e.pointer()), (configuration, pointer), "{e:#}");
        assert!(format!("{e:#}").contains("has another kind than its entry states"), "{e:#}");
    }
    let many = vec![json!({"name": "zeros"}); 40];
    assert_eq!(build(json!(many)).map(drop).unwrap_err().kind(), CodecErrorKind::LimitExceeded);
}

#[test]
fn accepted_deviations_are_noted_with_a_pointer() {
    let (_, notes) = build(json!([{"name": "old", "configuration": {"level": 1.0, "colour": 1}}])).unwrap();
    assert_eq!(notes, ["/0/name", "/0/configuration/level", "/0/configuration/colour"]);
}

#[test]
fn a_chain_with_a_skipped_codec_cannot_encode() {
    let (chain, _) = build(json!([{"name": "plain"}, {"name": "foo", "must_understand": false}])).unwrap();
    assert_eq!(chain.skipped(), ["foo"]);
    let e =
        chain.encode(Source::of(&[1_u8], &[1]).unwrap(), &mut Vec::new(), &mut Scratch::new()).unwrap_err();
    assert_eq!(e.kind(), CodecErrorKind::Unsupported);
}

#[test]
fn shapes_are_checked_before_chunks_are_read() {
    let (chain, _) = build(json!([{"name": "plain"}])).unwrap();
    assert!(chain.check_shape(&[2]).is_ok());
    assert_eq!(format!("{:#}", chain.check_shape(&[3]).unwrap_err()), "codec \"plain\" failed to open: odd");
}

#[test]
fn contiguous_elements_are_reshaped_in_place() {
    let (chain, _) = build(json!([{"name": "flat"}, {"name": "plain"}])).unwrap();
    let (mut object, mut scratch) = (Vec::new(), Scratch::new());
    chain.encode(Source::of(&[1_u8, 2, 3, 4], &[2, 2]).unwrap(), &mut object, &mut scratch).unwrap();
    assert_eq!(object, [1, 2, 3, 4]);
    let mut back = [0_u8; 4];
    let whole = Region::whole(&[2, 2]);
    let dst = Destination::of(&mut back, &[2, 2]).unwrap();
    chain.decode_into(&object, &[2, 2], &whole, dst, &mut scratch).unwrap();
    assert_eq!(back, [1, 2, 3, 4]);
    // elements that are not contiguous would have to be moved
    let columns = Source::of(&[1_u8, 2, 3, 4], &[2, 2]).unwrap().permute(&[1, 0]).unwrap();
    let e = chain.encode(columns, &mut object, &mut scratch).unwrap_err();
    assert_eq!(format!("{e:#}"), "codec \"flat\" failed to encode: moves elements");
}

#[test]
fn a_chunk_of_another_size_than_declared_is_refused() {
    let (chain, _) = build(json!([{"name": "plain"}, {"name": "zeros"}, {"name": "zeros"}])).unwrap();
    let decode = |src: &[u8]| {
        let mut dst = [9_u8; 1000];
        let whole = Region::whole(&[1000]);
        chain.decode_into(
            src,
            &[1000],
            &whole,
            Destination::of(&mut dst, &[1000]).unwrap(),
            &mut Scratch::new(),
        )?;
        Ok::<_, CodecError>(dst)
    };
    // 4 decodes to four zeros, each of which decodes to nothing
    assert_eq!(decode(&[4]).unwrap_err().kind(), CodecErrorKind::Corrupt, "rule D.06: too short");
    let (chain, _) = build(json!([{"name": "plain"}, {"name": "zeros"}])).unwrap();
    let decode = |src: &[u8]| {
        let mut dst = [9_u8; 1000];
        let whole = Region::whole(&[1000]);
        chain.decode_into(
            src,
            &[1000],
            &whole,
            Destination::of(&mut dst, &[1000]).unwrap(),
            &mut Scratch::new(),
        )?;
        Ok::<_, CodecError>(dst)
    };
    assert_eq!(decode(&[250; 4]).unwrap(), [0; 1000]);
    assert_eq!(decode(&[250; 3]).unwrap_err().kind(), CodecErrorKind::Corrupt, "rule D.06: too short");
    assert_eq!(decode(&[250; 5]).unwrap_err().kind(), CodecErrorKind::TooLarge, "rule D.06: too long");
    assert_eq!(decode(&[]).unwrap_err().kind(), CodecErrorKind::Corrupt, "rule D.07");
}

#[test]
fn a_buffer_for_an_unknown_size_grows_only_to_its_bound() {
    let (chain, _) = build(json!([{"name": "plain"}, {"name": "zeros"}, {"name": "zeros"}])).unwrap();
    let mut dst = [9_u8; 10];
    // 40 MB of zeros for a chunk of 10 bytes: refused, and the scratch memory stays small
    let bomb = vec![255; 160_000];
    let mut scratch = Scratch::new();
    let whole = Region::whole(&[10]);
    let destination = Destination::of(&mut dst, &[10]).unwrap();
    let e = chain.decode_into(&bomb, &[10], &whole, destination, &mut scratch).unwrap_err();
    assert_eq!(e.kind(), CodecErrorKind::TooLarge);
    assert_eq!(format!("{e:#}"), "codec \"zeros\" failed to decode: it decodes to more bytes than declared");
}
