//! `transpose`: reorders dimensions.
//!
//! Spec: [transpose codec](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/transpose/index.html).
//! Rules: [transpose](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/codecs.md#d.2).
//!
//! | member | value |
//! |---|---|
//! | `order` | each dimension once: dimension `i` of the encoded chunk is dimension `order[i]` |
//!
//! No elements are moved: the chain changes strides ([`Effect::Reorder`]), and the copy of a chunk into its
//! array also transposes it. The strings `"C"` (no change) and `"F"` (reversed) of old drafts are read with a note.

use std::sync::Arc;

use zarr_traits::codec::{ArrayArrayCodec, Codec, CodecKind, Effect, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::strided::{Destination, Dims, Source, Swap};
use zarr_traits::{CodecError, CodecResult, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("transpose", CodecKind::ArrayArray, build));

#[derive(Debug)]
struct Transpose {
    order: Dims,
    repr: Repr,
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let same: Dims = (0..repr.rank as u64).collect();
    let order = match configuration.get("order").and_then(|order| order.as_text()).as_deref() {
        Some("C") => {
            configuration.note("order", "order is \"C\", read as the order that changes nothing");
            same
        }
        Some("F") => {
            configuration.note("order", "order is \"F\", read as the reversed order");
            (0..repr.rank as u64).rev().collect()
        }
        _ => {
            let order = configuration.lengths("order")?;
            if same.permuted(&order).is_none() {
                let message =
                    format!("order is {order:?}, it must contain each of {} dimensions once", repr.rank);
                return Err(CodecError::configuration(message).at("/configuration/order"));
            }
            order
        }
    };
    Ok(Codec::ArrayArray(Arc::new(Transpose { order, repr: repr.clone() })))
}

impl ArrayArrayCodec for Transpose {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        Ok(self.repr.clone())
    }

    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Dims::from(shape).permuted(&self.order).ok_or_else(|| {
            let message = format!(
                "shape {shape:?} does not have the {} dimensions of order {:?}",
                self.order.len(),
                self.order
            );
            CodecError::new(zarr_traits::CodecErrorKind::InvalidArgument, message)
        })
    }

    fn effect(&self) -> Effect<'_> {
        Effect::Reorder(&self.order)
    }

    fn decode(&self, src: Source<'_>, dst: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        Ok(dst.permute(&self.order)?.put(src, Swap::NONE)?)
    }

    fn encode(&self, src: Source<'_>, mut dst: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        Ok(dst.put(src.permute(&self.order)?, Swap::NONE)?)
    }
}

#[cfg(test)]
#[cfg(feature = "bytes")]
mod tests {
    use zarr_traits::codec::{Codec, Repr};
    use zarr_traits::extension::{Configuration, Context};
    use zarr_traits::json::{Value, json};
    use zarr_traits::strided::{Destination, Source};
    use zarr_traits::{DataType, FillValue, Limits, Registry, Scratch};

    use crate::testing::{bytes, chain, golden, noted, refused};

    fn codecs(order: Value) -> Value {
        json!([{"name": "transpose", "configuration": {"order": order}}, "bytes"])
    }

    #[test]
    fn two_dimensions_are_transposed() {
        // rule D2.t1
        golden(&codecs(json!([1, 0])), "uint8", &[2, 3], &[1, 2, 3, 4, 5, 6], "010402050306");
    }

    #[test]
    fn an_order_that_is_not_its_own_inverse_is_applied() {
        // rule D2.t2
        let elements: Vec<u8> = (0..24).collect();
        let encoded = "000c010d020e030f0410051106120713081409150a160b17";
        golden(&codecs(json!([1, 2, 0])), "uint8", &[2, 3, 4], &elements, encoded);
        let twice = json!([
            {"name": "transpose", "configuration": {"order": [2, 0, 1]}},
            {"name": "transpose", "configuration": {"order": [2, 0, 1]}},
            "bytes"
        ]);
        golden(&twice, "uint8", &[2, 3, 4], &elements, encoded); // rule D2.2
    }

    #[test]
    fn the_letters_of_drafts_are_read() {
        // rule D2.t3
        let pointer = "/0/configuration/order";
        assert_eq!(noted(&codecs(json!("C")), "uint8", 2), [pointer]);
        assert_eq!(noted(&codecs(json!("F")), "uint8", 3), [pointer]);
        for (letter, order) in [("C", json!([0, 1, 2])), ("F", json!([2, 1, 0]))] {
            let build = |order: Value| {
                let members = json!({ "order": order }).as_object().unwrap();
                let mut configuration = Configuration::new(&members);
                let registry = Registry::core();
                let limits = Limits::default();
                let context = Context::new(&registry, &limits);
                let repr = Repr::new(DataType::UInt8, FillValue::of(0_u8), 3);
                match super::build(&mut configuration, &repr, &context).unwrap() {
                    Codec::ArrayArray(codec) => codec,
                    _ => unreachable!(),
                }
            };
            let (old, new) = (build(json!(letter)), build(order));
            assert_eq!(old.effect(), new.effect());
            // The chain does not call `encode` and `decode`.
            let elements: Vec<u8> = (0..24).collect();
            let shape = new.encoded_shape(&[2, 3, 4]).unwrap();
            let (mut encoded, mut decoded) = ([0; 24], [0; 24]);
            let scratch = &mut Scratch::new();
            let source = Source::dense(&elements, &[2, 3, 4], 1).unwrap();
            new.encode(source, Destination::dense(&mut encoded, &shape, 1).unwrap(), scratch).unwrap();
            let source = Source::dense(&encoded, &shape, 1).unwrap();
            new.decode(source, Destination::dense(&mut decoded, &[2, 3, 4], 1).unwrap(), scratch).unwrap();
            assert_eq!(decoded[..], elements);
            assert_eq!(encoded == decoded, letter == "C");
            assert!(new.encoded_shape(&[2, 3]).is_err());
        }
    }

    #[test]
    fn a_chunk_may_have_no_dimensions() {
        // rule D2.t4
        golden(&codecs(json!([])), "uint8", &[], &[7], "07");
        assert_eq!(noted(&codecs(json!("F")), "uint8", 0).len(), 1);
    }

    #[test]
    fn invalid_orders_are_refused() {
        // rule D2.t5
        for (order, element) in [
            (json!([0, 0]), ""),
            (json!([1, 2]), ""),
            (json!([-1, 0]), "/0"),
            (json!([0]), ""),
            (json!([0, 1, 2]), ""),
            (json!([]), ""),
            (json!(null), ""),
            (json!("A"), ""),
            (json!([0, 1.5]), "/1"),
            (json!(["1", "0"]), "/0"),
            (json!({}), ""),
        ] {
            let e = refused(&codecs(order), "uint8", 2);
            assert_eq!(e.pointer(), format!("/0/configuration/order{element}"));
        }
        assert_eq!(refused(&json!(["transpose", "bytes"]), "uint8", 2).pointer(), "/0/configuration/order");
        assert_eq!(noted(&codecs(json!([1.0, 0])), "uint8", 2), ["/0/configuration/order"]); // rule D.09
        assert_eq!(refused(&json!(["bytes", {"name": "transpose"}]), "uint8", 2).pointer(), "/1"); // rule A21
    }

    #[test]
    fn transpose_and_byte_swap_are_combined() {
        // rule D2.1
        let both = json!([{"name": "transpose", "configuration": {"order": [1, 0]}}, bytes("big")]);
        let elements: Vec<u8> = (1..=6).flat_map(u16::to_ne_bytes).collect();
        golden(&both, "uint16", &[2, 3], &elements, "000100040002000500030006");
        assert!(chain(&both, "uint16", 2).is_plain());
    }
}
