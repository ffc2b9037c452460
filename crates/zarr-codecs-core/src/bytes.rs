//! `bytes`: stores elements in C order and a given byte order.
//!
//! Spec: [bytes codec](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/bytes/index.html).
//! Rules: [bytes](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/codecs.md#d.1).
//!
//! | member | value |
//! |---|---|
//! | `endian` | `"little"` or `"big"`; may be absent for types without byte order |
//!
//! An absent `endian` is never guessed: for int32 it is an error. `null` is read as absent, with a note. Only the old
//! type `structured` is little endian if `endian` is absent. The codec name `endian` of early drafts is read but never
//! written. Types of variable length are refused. Booleans are not checked here; later layers check them. For types
//! with unused bits, such as int4, these bits are set when reading and writing, so that equal elements are equal in
//! memory.
//!
//! `bytes:fields` is a private name, for structs of format 2 that no registered codec can describe. Its `endian` is a
//! list with one byte order for each [part](DataType::parts) of an element.

use std::sync::Arc;

use zarr_traits::codec::{ArrayBytesCodec, Codec, CodecKind, EncodedSize, PartAccess, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::json::Value;
use zarr_traits::number::Numeric;
use zarr_traits::strided::{Destination, Source, Swap, byte_len};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, DataType, Layout, Region, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry::aliased("bytes", &["endian"], CodecKind::ArrayBytes, build));

/// The registry entry of `bytes:fields`.
pub const FIELDS: Entry = Entry::Codec(CodecEntry::new("bytes:fields", CodecKind::ArrayBytes, build_fields));

#[derive(Debug)]
struct Bytes {
    size: usize,
    swap: Swap,
    /// An operation on contiguous elements that `swap` cannot do.
    rework: Option<Rework>,
}

#[derive(Debug)]
enum Rework {
    /// Swaps the parts of elements whose item in the list is true.
    Turn(DataType, Vec<bool>),
    /// Sets unused bits.
    Extend(Numeric),
}

impl Rework {
    fn apply(&self, elements: &mut [u8]) {
        match self {
            Self::Turn(data_type, turn) => data_type.swap_parts(elements, turn),
            Self::Extend(numeric) => numeric.extend_all(elements),
        }
    }
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let (size, unit) = repr.fixed()?;
    let big = match configuration.get("endian") {
        Some(order) if order == "little" => Some(false),
        Some(order) if order == "big" => Some(true),
        Some(null) if null.is_null() => {
            configuration.note("endian", "endian is null, read as absent");
            None
        }
        Some(other) => return Err(wrong(format!("endian is {other}, it must be \"little\" or \"big\""))),
        None => None,
    };
    if let Layout::Packed { .. } = repr.data_type.layout() {
        let big = match big {
            Some(big) => big,
            None if repr.data_type.name() == "structured" => {
                configuration.note("endian", "endian is missing, read as \"little\"");
                false
            }
            None => return Err(missing(repr)),
        };
        return Ok(fields(repr, size, vec![!native(big); repr.data_type.parts()]));
    }
    let swap = match big {
        _ if unit <= 1 => Swap::NONE,
        None => return Err(missing(repr)),
        Some(big) => {
            let unit = Swap::units(unit).filter(|_| size.is_multiple_of(unit)).ok_or_else(|| {
                let message = format!(
                    "data type {} has units of {unit} bytes, which have no byte order",
                    repr.data_type
                );
                CodecError::new(CodecErrorKind::Unsupported, message)
            })?;
            if native(big) { Swap::NONE } else { unit }
        }
    };
    let rework = repr.data_type.numeric().filter(|n| n.is_padded()).map(Rework::Extend);
    Ok(Codec::ArrayBytes(Arc::new(Bytes { size, swap, rework })))
}

fn build_fields(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let (size, _) = repr.fixed()?;
    let parts = repr.data_type.parts();
    let order = |order: Value| match order {
        order if order == "little" => Some(!native(false)),
        order if order == "big" => Some(!native(true)),
        _ => None,
    };
    let orders = configuration.get("endian").and_then(|endian| endian.elements());
    let turn: Option<Vec<bool>> = orders.and_then(|orders| orders.map(order).collect());
    let turn = turn.filter(|turn| turn.len() == parts);
    Ok(fields(
        repr,
        size,
        turn.ok_or_else(|| wrong(format!("endian must be a list of {parts} byte orders")))?,
    ))
}

/// Builds the codec for a type with parts; `turn` marks the parts to swap.
fn fields(repr: &Repr, size: usize, turn: Vec<bool>) -> Codec {
    let rework = turn.contains(&true).then(|| Rework::Turn(repr.data_type.clone(), turn));
    Codec::ArrayBytes(Arc::new(Bytes { size, swap: Swap::NONE, rework }))
}

/// Whether this is the byte order of this machine.
fn native(big: bool) -> bool {
    big == cfg!(target_endian = "big")
}

fn missing(repr: &Repr) -> CodecError {
    wrong(format!("endian is missing, data type {} needs it", repr.data_type))
}

fn wrong(message: String) -> CodecError {
    CodecError::configuration(message).at("/configuration/endian")
}

impl ArrayBytesCodec for Bytes {
    fn access(&self) -> PartAccess<'_> {
        if self.rework.is_none() { PartAccess::Plain(self.swap) } else { PartAccess::Whole }
    }

    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let expected = byte_len(shape, self.size)?;
        if src.len() != expected {
            return Err(CodecError::corrupt(format!("got {} bytes, expected {expected}", src.len())));
        }
        let part = Source::dense(src, shape, self.size)?.sub(part.start(), part.shape())?;
        let Some(rework) = &self.rework else { return Ok(dst.put(part, self.swap)?) };
        let mut dense = scratch.take_vec();
        part.append_to(&mut dense, Swap::NONE)?;
        rework.apply(&mut dense);
        dst.put(Source::dense(&dense, part.shape(), self.size)?, Swap::NONE)?;
        scratch.give_vec(dense);
        Ok(())
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        let start = out.len();
        src.append_to(out, self.swap)?;
        if let Some(rework) = &self.rework {
            rework.apply(&mut out[start..]);
        }
        Ok(())
    }

    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        match byte_len(shape, self.size) {
            Ok(bytes) => EncodedSize::Exact(bytes as u64),
            Err(_) => EncodedSize::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::json;
    use zarr_traits::strided::bytes_of;
    use zarr_traits::{DataType, ExtensionType, FillValue, Layout, Region, Scratch};

    use crate::testing::{Few, bytes, chain, decode, decode_part, encode, golden, noted, open, refused};

    #[test]
    fn both_byte_orders_are_written_and_read() {
        // rule D1.t1
        let elements = bytes_of(&[1_i32, 2]);
        golden(&json!([bytes("little")]), "int32", &[2], elements, "0100000002000000");
        golden(&json!([bytes("big")]), "int32", &[2], elements, "0000000100000002");
    }

    #[test]
    fn each_component_of_a_complex_number_is_swapped() {
        // rule D1.t8
        let elements = bytes_of(&[1_f32, 2.]);
        golden(&json!([bytes("little")]), "complex64", &[], elements, "0000803f00000040");
        golden(&json!([bytes("big")]), "complex64", &[], elements, "3f80000040000000");
    }

    #[test]
    fn raw_bytes_have_no_byte_order() {
        // rule D1.t9
        golden(&json!([bytes("big")]), "r24", &[1], &[1, 2, 3], "010203");
        golden(&json!(["bytes"]), "r24", &[2], &[1, 2, 3, 4, 5, 6], "010203040506");
    }

    #[test]
    fn one_byte_needs_no_byte_order() {
        // rule D1.4
        for codecs in
            [json!(["bytes"]), json!([{"name": "bytes", "configuration": {}}]), json!([bytes("big")])]
        {
            golden(&codecs, "uint8", &[3], &[1, 2, 3], "010203"); // rule D1.t2
            golden(&codecs, "bool", &[2], &[0, 2], "0002"); // rule D1.t7: the array layer checks it
        }
    }

    #[test]
    fn spellings_of_endian_are_noted_or_refused() {
        // rules D1.t3 to D1.t6
        let null = json!([{"name": "bytes", "configuration": {"endian": null}}]);
        assert_eq!(noted(&null, "uint8", 1), ["/0/configuration/endian"]); // rule D1.t3
        for codecs in [json!(["bytes"]), null] {
            let e = refused(&codecs, "int32", 1); // rule D1.t4
            assert_eq!(e.pointer(), "/0/configuration/endian");
            assert_eq!(
                format!("{e:#}"),
                "codec \"bytes\" failed to open: endian is missing, data type int32 needs it"
            );
        }
        for endian in [json!("native"), json!("LITTLE"), json!(""), json!(1), json!(["little"])] {
            let codecs = json!([{"name": "bytes", "configuration": {"endian": endian}}]);
            for data_type in ["int32", "uint8"] {
                assert_eq!(refused(&codecs, data_type, 1).pointer(), "/0/configuration/endian"); // rule D1.t5
            }
        }
        let old = json!([{"name": "endian", "configuration": {"endian": "little"}}]);
        assert_eq!(noted(&old, "int32", 1), ["/0/name"]); // rule D1.t6
        let more = json!([{"name": "bytes", "configuration": {"endian": "big", "x": 1}}]);
        assert_eq!(noted(&more, "int32", 1), ["/0/configuration/x"]); // rule D.08
    }

    #[test]
    fn the_length_must_be_exact() {
        // rule D.06
        let chain = chain(&json!([bytes("little")]), "int32", 1);
        assert_eq!(chain.encoded_size(&[2]).bound(), Some(8));
        for len in [0, 7, 9, 16] {
            let e = decode(&chain, &[2], &vec![0; len]).unwrap_err();
            assert_eq!(
                format!("{e:#}"),
                format!("codec \"bytes\" failed to decode: got {len} bytes, expected 8")
            );
        }
        assert_eq!(encode(&chain, &[0], &[]), [0_u8; 0]); // rule D.07
        assert_eq!(decode(&chain, &[0], &[]).unwrap(), [0_u8; 0]);
    }

    #[derive(Debug)]
    struct Strange(Layout);

    impl ExtensionType for Strange {
        fn name(&self) -> &str {
            "strange"
        }
        fn configuration(&self) -> json::Object {
            json::Object::new()
        }
        fn layout(&self) -> Layout {
            self.0
        }
        fn fill_from_json(&self, _: &super::Value) -> super::CodecResult<FillValue> {
            unreachable!()
        }
        fn fill_to_json(&self, _: &FillValue) -> super::CodecResult<super::Value> {
            unreachable!()
        }
    }

    #[test]
    fn types_without_a_fixed_size_or_byte_order_are_refused() {
        // rule D.10
        let strange = |layout| DataType::Extension(std::sync::Arc::new(Strange(layout)));
        for layout in
            [Layout::Variable, Layout::Fixed { size: 6, unit: 3 }, Layout::Fixed { size: 6, unit: 4 }]
        {
            let e = open(&json!([bytes("little")]), strange(layout), 1).unwrap_err();
            assert_eq!(e.kind(), super::CodecErrorKind::Unsupported, "{e:#}");
            assert_eq!(e.pointer(), "/0");
        }
        assert!(open(&json!([bytes("little")]), strange(Layout::Fixed { size: 6, unit: 2 }), 1).is_ok());
    }

    #[test]
    fn unused_bits_are_set_when_reading_and_writing() {
        // rule B.t74
        let (chain, _) = open(&json!(["bytes"]), Few::integer(4, true), 1).unwrap();
        assert_eq!(decode(&chain, &[4], &[0xf7, 0x08, 0x07, 0xff]).unwrap(), [7, 0xf8, 7, 0xff]);
        let part = Region::new([1], [2]).unwrap();
        let scratch = &mut Scratch::new();
        assert_eq!(decode_part(&chain, &[4], &part, &[0xf7, 0x08, 0x07, 0xff], scratch).unwrap(), [0xf8, 7]);
        assert_eq!(encode(&chain, &[2], &[0xf7, 0x08]), [0x07, 0xf8]);
    }
}
