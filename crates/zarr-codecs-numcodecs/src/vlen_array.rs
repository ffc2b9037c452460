//! `numcodecs:vlen-array`: lists of numbers of any length, in data of format 2.
//!
//! | member | value |
//! |---|---|
//! | `dtype` | type of the numbers |
//!
//! The encoded form is the number of lists as a little-endian `u32`, then for each list its length in bytes, also as
//! `u32`, and its numbers. The data type is `numcodecs:object`: a list of numbers, with non-finite floats as strings. A
//! missing value (`null`, `0`, `""`) is encoded as the empty list.

use std::ops::Range;
use std::sync::Arc;

use zarr_traits::codec::{
    ArrayBytesCodec, Codec, CodecKind, EncodedSize, PartAccess, Repr, decode_elements, each_element,
};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::json::Value;
use zarr_traits::strided::{Destination, Dims, Source};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Region, Scratch};

use crate::number::StoredType;
use crate::{json_number, object};

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs:vlen-array", CodecKind::ArrayBytes, build));

#[derive(Debug)]
struct VlenArray {
    numbers: StoredType,
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    object::check(repr)?;
    Ok(Codec::ArrayBytes(Arc::new(VlenArray { numbers: StoredType::member(configuration, "dtype", None)? })))
}

fn cut() -> CodecError {
    CodecError::corrupt("unexpected end of lists")
}

/// Splits `src` into its leading number and the rest.
fn length(src: &[u8]) -> CodecResult<(usize, &[u8])> {
    let (bytes, rest) = src.split_first_chunk().ok_or_else(cut)?;
    Ok((usize::try_from(u32::from_le_bytes(*bytes)).map_err(|_| cut())?, rest))
}

fn too_long() -> CodecError {
    CodecError::new(CodecErrorKind::LimitExceeded, "a count exceeds 32 bits")
}

impl VlenArray {
    /// Appends the JSON text of a stored list.
    fn decode_list(&self, stored: &[u8], text: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        if !stored.len().is_multiple_of(self.numbers.kind.size()) {
            let name = self.numbers.kind.name();
            return Err(CodecError::corrupt(format!("a list of {} bytes is not whole {name}", stored.len())));
        }
        let mut numbers = scratch.take(stored.len())?;
        numbers.copy_from_slice(stored);
        self.numbers.swap(&mut numbers);
        text.push(b'[');
        let start = text.len();
        json_number::each(self.numbers.kind, &numbers, |number| {
            if text.len() > start {
                text.push(b',');
            }
            text.extend_from_slice(number.as_bytes());
        });
        text.push(b']');
        scratch.give(numbers);
        Ok(())
    }

    /// Appends the numbers of a list as they are stored.
    fn encode_list(&self, content: &[u8], out: &mut Vec<u8>) -> CodecResult<()> {
        let value = object::parse(content)?;
        let list = match value.elements() {
            Some(list) => list.collect(),
            None if value.is_null() || value.as_u64() == Some(0) || value == "" => Vec::new(),
            None => return Err(no_number(&value)),
        };
        let start = out.len() + 4;
        out.extend_from_slice(&[0; 4]);
        let size = self.numbers.kind.size();
        for value in &list {
            let mut bytes = json_number::read(value, self.numbers.kind).ok_or_else(|| no_number(value))?;
            self.numbers.swap(&mut bytes[..size]);
            out.extend_from_slice(&bytes[..size]);
        }
        let len = u32::try_from(out.len() - start).map_err(|_| too_long())?;
        out[start - 4..start].copy_from_slice(&len.to_le_bytes());
        Ok(())
    }
}

fn no_number(value: &Value) -> CodecError {
    let message = format!("{value} is not a list of numbers of this type, or not one of its numbers");
    CodecError::new(CodecErrorKind::InvalidArgument, message)
}

impl ArrayBytesCodec for VlenArray {
    fn access(&self) -> PartAccess<'_> {
        PartAccess::Whole
    }

    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let (count, mut rest) = length(src)?;
        // the chunk contains at least one length per element
        if count > rest.len() / 4 {
            return Err(cut());
        }
        let (mut text, mut elements) = (Vec::new(), Vec::<Range<usize>>::with_capacity(count));
        for _ in 0..count {
            let (len, behind) = length(rest)?;
            let (list, behind) = behind.split_at_checked(len).ok_or_else(cut)?;
            let start = text.len();
            self.decode_list(list, &mut text, scratch)?;
            elements.push(start..text.len());
            rest = behind;
        }
        if !rest.is_empty() {
            return Err(CodecError::corrupt(format!("{} bytes after the last list", rest.len())));
        }
        decode_elements(&text, &elements, shape, part, dst, scratch)
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let count =
            Dims::from(src.shape()).product().and_then(|n| u32::try_from(n).ok()).ok_or_else(too_long)?;
        out.extend_from_slice(&count.to_le_bytes());
        each_element(src, scratch, |content| self.encode_list(content, out))
    }

    fn encoded_size(&self, _: &[u64]) -> EncodedSize {
        EncodedSize::Unknown
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::json;

    use super::*;
    use crate::testing::{Variable, build, hex, objects};

    #[test]
    fn lists_of_numcodecs_are_decoded() {
        // rule H6
        for (dtype, lists, encoded) in [
            ("<i2", &["[1,-2]", "[]", "[300]"][..], "03000000040000000100feff00000000020000002c01"),
            (">i2", &["[1,-2]", "[]", "[300]"], "03000000040000000001fffe0000000002000000012c"),
            ("|u1", &["[1,2,255]"], "01000000030000000102ff"),
            ("<f4", &[r#"[0.1,"NaN","-Infinity",1e16]"#], "0100000010000000cdcccc3d0000c07f000080ffca1b0e5a"),
            ("<f8", &["[0.1,1e300]"], "01000000100000009a9999999999b93f9c7500883ce4377e"),
            ("<f2", &["[0.099975586,65504.0]"], "0100000004000000662eff7b"),
            ("|b1", &["[true,false]"], "01000000020000000100"),
            ("uint64", &["[18446744073709551615]"], "0100000008000000ffffffffffffffff"),
        ] {
            let (configuration, shape) = (json!({ "dtype": dtype }), [lists.len() as u64]);
            Variable::new("numcodecs:vlen-array", &configuration, &objects()).golden(
                lists,
                &shape,
                &hex(encoded),
            );
            Variable::survives("numcodecs:vlen-array", &configuration, &objects(), &hex(encoded), &shape);
        }
    }

    #[test]
    fn values_other_than_lists_of_such_numbers_are_refused() {
        let mut codec = Variable::new("numcodecs:vlen-array", &json!({"dtype": "<i2"}), &objects());
        let empty = hex("0300000000000000 00000000 00000000");
        assert_eq!(codec.encode(&["null", "0", r#""""#], &[3]).unwrap(), empty);
        for bad in ["1", "{}", "[[1]]", "[1.5]", "[40000]", "[-40000]", r#"["NaN"]"#, "[null]", "["] {
            assert_eq!(
                codec.encode(&[bad], &[1]).unwrap_err().kind(),
                CodecErrorKind::InvalidArgument,
                "{bad}"
            );
        }
        assert_eq!(codec.encode(&["[1.0]"], &[1]).unwrap(), hex("01000000020000000100"));
        for bad in ["ffffffff00000000", "0100000001000000aa", "02000000 00000000 00000000"] {
            assert_eq!(codec.decode(&hex(bad), &[1]).unwrap_err().kind(), CodecErrorKind::Corrupt, "{bad}");
        }
        assert!(build("numcodecs:vlen-array", &json!({"dtype": "|O"}), &objects()).is_err());
        assert!(build("numcodecs:vlen-array", &json!({}), &objects()).is_err());
    }
}
