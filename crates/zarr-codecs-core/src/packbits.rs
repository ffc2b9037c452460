//! `packbits`: stores elements without unused bits between them.
//!
//! Spec: [packbits](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/packbits).
//! Rules: [packbits](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/extensions.md#d.9a).
//!
//! | member | value |
//! |---|---|
//! | `first_bit` | the lowest bit of a component that is stored, by default 0 |
//! | `last_bit` | the highest bit that is stored, by default the last bit of the type |
//! | `padding_encoding` | `"none"`, or the place of the number of padding bits: `"first_byte"` or `"last_byte"` |
//!
//! The bits of the elements follow each other in C order, from the lowest bit of the first byte. The specification does
//! not define this order; zarrs uses it, too. Components of complex numbers are stored separately. Bits that were not
//! stored are read as zeros; above the highest stored bit of a signed integer they are copies of that bit.
//!
//! The codec `packbits` of format 2 is another codec: it stores the first element in the highest bit.

use std::sync::Arc;

use zarr_traits::codec::{ArrayBytesCodec, Codec, CodecKind, EncodedSize, PartAccess, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::number::Numeric;
use zarr_traits::strided::{Destination, Source, Swap, byte_len};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Region, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("packbits", CodecKind::ArrayBytes, build));

#[derive(Debug)]
struct PackBits {
    numeric: Numeric,
    /// The lowest bit of a component that is stored.
    first: u32,
    /// The numeric format of the stored bits of a component.
    stored: Numeric,
    padding: Padding,
}

/// The place of the number of padding bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Padding {
    Nowhere,
    FirstByte,
    LastByte,
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let padding = match configuration.optional_string("padding_encoding")?.as_deref() {
        None | Some("none") => Padding::Nowhere,
        Some("first_byte") => Padding::FirstByte,
        Some("last_byte") => Padding::LastByte,
        Some(other) => {
            let message = format!(
                "padding_encoding is {other:?}, it must be \"none\", \"first_byte\" or \"last_byte\""
            );
            return Err(CodecError::configuration(message).at("/configuration/padding_encoding"));
        }
    };
    let numeric = repr.data_type.numeric().ok_or_else(|| {
        let message = format!("it needs a numeric data type, not {}", repr.data_type);
        CodecError::new(CodecErrorKind::Unsupported, message)
    })?;
    let highest = numeric.bits() - 1;
    let first = bit(configuration, "first_bit", 0, 0..=highest)?;
    let last = bit(configuration, "last_bit", highest, first..=highest)?;
    let signed = matches!(numeric, Numeric::Integer { signed: true, .. });
    let stored = Numeric::Integer { bits: last - first + 1, signed };
    Ok(Codec::ArrayBytes(Arc::new(PackBits { numeric, first, stored, padding })))
}

/// Reads a member that is the number of a bit; `null` is treated as absent.
fn bit(
    configuration: &mut Configuration<'_>,
    name: &'static str,
    default: u32,
    range: std::ops::RangeInclusive<u32>,
) -> CodecResult<u32> {
    if configuration.get(name).is_none_or(|value| value.is_null()) {
        return Ok(default);
    }
    let range = i64::from(*range.start())..=i64::from(*range.end());
    Ok(u32::try_from(configuration.integer(name, range)?).unwrap_or(default))
}

impl PackBits {
    /// The bytes of an element in memory.
    fn size(&self) -> usize {
        self.numeric.size() * self.numeric.components()
    }

    /// Returns the bytes of a packed chunk, and the number of padding bits in the last one.
    fn packed(&self, shape: &[u64]) -> CodecResult<(usize, u8)> {
        let components = byte_len(shape, self.size())? / self.numeric.size();
        // Eight packed components have a whole number of bytes, at most as many as in memory.
        let bits = self.stored.bits() as usize;
        let last = components % 8 * bits;
        let bytes = components / 8 * bits + last.div_ceil(8);
        Ok((bytes, u8::try_from(last.next_multiple_of(8) - last).unwrap_or(0)))
    }

    /// Checks the sizes, the number of padding bits and that they are zeros. Returns the bytes of the elements.
    fn sequence<'a>(&self, src: &'a [u8], shape: &[u64]) -> CodecResult<&'a [u8]> {
        let (bytes, padding) = self.packed(shape)?;
        let split = match self.padding {
            Padding::Nowhere => Some((padding, src)),
            Padding::FirstByte => src.split_first().map(|(n, rest)| (*n, rest)),
            Padding::LastByte => src.split_last().map(|(n, rest)| (*n, rest)),
        };
        let (stated, sequence) = split.unwrap_or((padding, src));
        if sequence.len() != bytes || (self.padding != Padding::Nowhere && src.is_empty()) {
            let expected = bytes + usize::from(self.padding != Padding::Nowhere);
            return Err(CodecError::corrupt(format!("got {} bytes, expected {expected}", src.len())));
        }
        if stated != padding {
            let message = format!("the chunk states {stated} padding bits, expected {padding}");
            return Err(CodecError::corrupt(message));
        }
        // Writers fill the last byte with zeros. Other bits are damage, or the chunk of another shape or order of bits.
        if let Some(last) = sequence.last().filter(|last| u32::from(padding) > last.leading_zeros()) {
            let message = format!("the {padding} padding bits of the last byte {last:#04x} are not zeros");
            return Err(CodecError::corrupt(message));
        }
        Ok(sequence)
    }

    /// Unpacks elements from their sequence of bits.
    fn unpack(&self, sequence: &[u8], elements: &mut [u8]) {
        let (mut sequence, bits) = (sequence.iter(), self.stored.bits());
        let (mut waiting, mut available) = (0_u128, 0);
        for memory in elements.chunks_exact_mut(self.numeric.size()) {
            while available < bits {
                waiting |= u128::from(sequence.next().copied().unwrap_or(0)) << available;
                available += 8;
            }
            #[allow(clippy::cast_possible_truncation, reason = "a component has 64 bits at most")]
            let stored = self.stored.extend(waiting as u64);
            self.numeric.store(stored << self.first, memory);
            waiting >>= bits;
            available -= bits;
        }
    }

    /// Appends the sequence of bits of elements.
    fn pack(&self, elements: &[u8], out: &mut Vec<u8>) {
        let bits = self.stored.bits();
        let (mut waiting, mut held) = (0_u128, 0);
        let mask = u64::MAX >> (64 - bits);
        for memory in elements.chunks_exact(self.numeric.size()) {
            waiting |= u128::from(self.numeric.load(memory) >> self.first & mask) << held;
            held += bits;
            while held >= 8 {
                out.push(waiting.to_le_bytes()[0]);
                waiting >>= 8;
                held -= 8;
            }
        }
        if held > 0 {
            out.push(waiting.to_le_bytes()[0]);
        }
    }
}

impl ArrayBytesCodec for PackBits {
    fn access(&self) -> PartAccess<'_> {
        PartAccess::Whole
    }

    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let sequence = self.sequence(src, shape)?;
        if part.is_whole(shape)
            && let Some(chunk) = dst.as_dense_mut()
        {
            self.unpack(sequence, chunk);
            return Ok(());
        }
        let mut chunk = scratch.take(byte_len(shape, self.size())?)?;
        self.unpack(sequence, &mut chunk);
        let all = Source::dense(&chunk, shape, self.size())?;
        dst.put(all.sub(part.start(), part.shape())?, Swap::NONE)?;
        scratch.give(chunk);
        Ok(())
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let (bytes, padding) = self.packed(src.shape())?;
        crate::reserve(out, bytes.saturating_add(1))?;
        if self.padding == Padding::FirstByte {
            out.push(padding);
        }
        if let Some(elements) = src.as_dense() {
            self.pack(elements, out);
        } else {
            let mut gathered = scratch.take_vec();
            src.append_to(&mut gathered, Swap::NONE)?;
            self.pack(&gathered, out);
            scratch.give_vec(gathered);
        }
        if self.padding == Padding::LastByte {
            out.push(padding);
        }
        Ok(())
    }

    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        let count = u64::from(self.padding != Padding::Nowhere);
        self.packed(shape).map_or(EncodedSize::Unknown, |(bytes, _)| EncodedSize::Exact(bytes as u64 + count))
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::json::{Value, json};
    use zarr_traits::strided::bytes_of;
    use zarr_traits::{CodecErrorKind, DataType, Region, Scratch, codec::EncodedSize};

    use crate::testing::{Few, chain, decode, decode_part, encode, golden, open, refused, to_hex};

    fn packed(configuration: Value) -> Value {
        json!([{"name": "packbits", "configuration": configuration}])
    }

    #[test]
    fn bits_are_packed_from_the_lowest_bit() {
        // rule D.9a
        // calculated by hand from the specification, with the order of bits of zarrs
        let bools = [1, 0, 0, 0, 0, 0, 0, 0, 1];
        golden(&packed(json!({})), "bool", &[9], &bools, "0101");
        golden(&packed(json!({"padding_encoding": "first_byte"})), "bool", &[9], &bools, "070101");
        golden(&packed(json!({"padding_encoding": "last_byte"})), "bool", &[3, 3], &bools, "010107");
        golden(&packed(json!({"padding_encoding": "none"})), "bool", &[0], &[], "");
        golden(&packed(json!({"padding_encoding": "first_byte"})), "bool", &[0], &[], "00");
        golden(&json!(["packbits"]), "int16", &[2], bytes_of(&[0x1234_i16, -2]), "3412feff");
        for (few, elements, encoded) in [
            (Few::integer(4, false), &[1, 2, 3][..], "2103"),
            (Few::integer(2, true), &[0xff, 1, 0, 0xfe], "87"),
        ] {
            let (chain, _) = open(&packed(json!({})), few, 1).unwrap();
            let shape = [elements.len() as u64];
            assert_eq!(to_hex(&encode(&chain, &shape, elements)), encoded);
            assert_eq!(decode(&chain, &shape, &encode(&chain, &shape, elements)).unwrap(), elements);
        }
    }

    #[test]
    fn only_some_bits_of_each_component_are_stored() {
        // rule D.9a
        let low = packed(json!({"first_bit": 0, "last_bit": 2}));
        golden(&low, "int8", &[3], &[0xff, 3, 0xfc], "1f01"); // 111 011 100: signs are copied
        golden(&low, "uint8", &[3], &[7, 3, 4], "1f01");
        golden(&packed(json!({"first_bit": 4, "last_bit": null})), "uint8", &[2], &[0xa0, 0x50], "5a");
        let high = packed(json!({"first_bit": 31}));
        golden(&high, "complex64", &[2], bytes_of(&[-0.0_f32, 0.0, 0.0, -0.0]), "09");
        golden(&packed(json!({"last_bit": 63})), "uint64", &[1], bytes_of(&[u64::MAX]), "ffffffffffffffff");
        let lossy = chain(&low, "uint8", 1);
        assert_eq!(decode(&lossy, &[1], &encode(&lossy, &[1], &[0xff])).unwrap(), [7]);
    }

    #[test]
    fn chunks_that_exceed_memory_have_no_size() {
        // rule L101
        for data_type in ["uint64", "complex128", "bool"] {
            for configuration in [json!({}), json!({"padding_encoding": "first_byte"})] {
                let chain = chain(&packed(configuration), data_type, 2);
                for shape in [[1 << 62, 1], [1 << 62, 2], [1 << 31, 1 << 32], [u64::MAX, u64::MAX]] {
                    let size = chain.encoded_size(&shape);
                    let fits = data_type == "bool" && shape == [1 << 62, 1];
                    assert_eq!(size == EncodedSize::Unknown, !fits, "{data_type} {shape:?}: {size:?}");
                    let one = Region::new([0, 0], [1, 1]).unwrap();
                    assert!(decode_part(&chain, &shape, &one, &[1], &mut Scratch::new()).is_err());
                }
            }
        }
    }

    #[test]
    fn damaged_chunks_are_errors() {
        // rule D.9a
        let stated = chain(&packed(json!({"padding_encoding": "first_byte"})), "bool", 1);
        for bad in [&[][..], &[7], &[7, 1], &[6, 1, 1], &[7, 1, 1, 1], &[7, 1, 3], &[7, 1, 0x80]] {
            assert_eq!(decode(&stated, &[9], bad).unwrap_err().kind(), CodecErrorKind::Corrupt, "{bad:?}");
        }
        let plain = chain(&packed(json!({})), "bool", 1);
        for bad in [&[][..], &[1], &[1, 1, 1], &[1, 2], &[1, 0x81]] {
            assert_eq!(decode(&plain, &[9], bad).unwrap_err().kind(), CodecErrorKind::Corrupt, "{bad:?}");
            let first = Region::new([0], [1]).unwrap();
            assert!(decode_part(&plain, &[9], &first, bad, &mut Scratch::new()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn invalid_configurations_are_refused_when_the_array_is_opened() {
        // rule D.9a
        for (configuration, member) in [
            (json!({"first_bit": 3, "last_bit": 2}), "last_bit"),
            (json!({"last_bit": 8}), "last_bit"),
            (json!({"first_bit": -1}), "first_bit"),
            (json!({"first_bit": "0"}), "first_bit"),
            (json!({"padding_encoding": "start_byte"}), "padding_encoding"), // rule B50
        ] {
            let pointer = format!("/0/configuration/{member}");
            assert_eq!(refused(&packed(configuration), "uint8", 1).pointer(), pointer);
        }
        for data_type in [DataType::Raw(2), DataType::String] {
            let e = open(&packed(json!({})), data_type, 1).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Unsupported);
        }
    }
}
