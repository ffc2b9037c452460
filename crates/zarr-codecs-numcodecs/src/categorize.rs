//! `numcodecs:categorize`: strings as the numbers of labels, from 1. Any other string becomes 0, which decodes to the
//! empty string.
//!
//! | member | value |
//! |---|---|
//! | `labels` | a list of strings |
//! | `dtype` | type of the strings: `\|O`, or a type such as `<U8` |
//! | `astype` | type of the numbers, an integer type; `\|u1` when absent |
//!
//! Both codecs are for data of format 2. `numcodecs:categorize` is for strings of any length, the data type `string`;
//! `numcodecs:categorize_fixed` views bytes as the strings of fixed length that numpy calls `U`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use zarr_traits::codec::{
    ArrayBytesCodec, BytesBytesCodec, Codec, CodecKind, EncodedSize, PartAccess, Repr, each_element,
    too_large,
};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::heap::Slot;
use zarr_traits::strided::{Destination, Dims, Source, Swap};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, DataType, Region, Scratch};

use crate::number::{Number, NumberType, StoredType, Wide, with_number};
use crate::stream::reserve;

/// The row of this codec for strings of any length.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry::new("numcodecs:categorize", CodecKind::ArrayBytes, build_variable));

/// The row of this codec for bytes that are strings of fixed length.
pub const BYTES_ENTRY: Entry =
    Entry::Codec(CodecEntry::new("numcodecs:categorize_fixed", CodecKind::BytesBytes, build_fixed));

/// The labels as stored, and the type of their numbers.
#[derive(Debug)]
struct Categories<T> {
    labels: Vec<T>,
    numbers: StoredType,
}

fn categories(configuration: &mut Configuration<'_>) -> CodecResult<Categories<String>> {
    let wrong = |member: &str, message: &str| {
        CodecError::configuration(message).at(&format!("/configuration/{member}"))
    };
    let labels = configuration.get("labels").and_then(|labels| labels.elements());
    let labels = labels.and_then(|list| list.map(|label| label.as_text()).collect());
    let labels = labels.ok_or_else(|| wrong("labels", "labels must be a list of strings"))?;
    let numbers = StoredType::member(configuration, "astype", Some(StoredType::native(NumberType::UInt8)))?;
    if numbers.kind.is_float() || numbers.kind == NumberType::Bool {
        return Err(wrong("astype", "astype must be an integer type"));
    }
    Ok(Categories { labels, numbers })
}

impl<T: AsRef<[u8]>> Categories<T> {
    /// Returns the number of each label. Of equal labels the last counts.
    fn codes(&self) -> HashMap<&[u8], usize> {
        self.labels.iter().map(T::as_ref).zip(1..).collect()
    }

    /// Appends a number as it is stored.
    ///
    /// # Errors
    /// `Value` if the type does not have the number.
    fn put(&self, code: usize, out: &mut Vec<u8>) -> CodecResult<()> {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..self.numbers.kind.size()];
        with_number!(self.numbers.kind, T => T::put([T::of(Wide::Unsigned(code as u64))].into_iter(), bytes));
        if self.codes_in(bytes).next() != Some(code) {
            let message = format!("data type {} has no number for label {code}", self.numbers.kind.name());
            return Err(CodecError::new(CodecErrorKind::Value, message));
        }
        self.numbers.swap(bytes);
        out.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns the numbers in the byte order of this machine. Numbers that cannot be a label are 0.
    fn codes_in<'a>(&self, bytes: &'a [u8]) -> Box<dyn Iterator<Item = usize> + 'a> {
        with_number!(self.numbers.kind, T => Box::new(T::each(bytes).map(|number| match number.wide() {
            Wide::Unsigned(n) => usize::try_from(n).unwrap_or(0),
            Wide::Signed(n) => usize::try_from(n).unwrap_or(0),
            Wide::Float(_) => 0,
        })))
    }

    /// Runs `visit` with the index of each element's label, or with the number of labels if an element has no label.
    fn each(&self, src: &[u8], scratch: &mut Scratch, mut visit: impl FnMut(usize)) -> CodecResult<()> {
        let mut numbers = scratch.take(src.len())?;
        numbers.copy_from_slice(src);
        self.numbers.swap(&mut numbers);
        for code in self.codes_in(&numbers) {
            let place = code.checked_sub(1).filter(|place| *place < self.labels.len());
            visit(place.unwrap_or(self.labels.len()));
        }
        scratch.give(numbers);
        Ok(())
    }
}

#[derive(Debug)]
struct Variable(Categories<String>);

fn build_variable(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    configuration.optional_string("dtype")?;
    if repr.data_type != DataType::String {
        let message = format!("expected data type string, found {}", repr.data_type);
        return Err(CodecError::configuration(message));
    }
    Ok(Codec::ArrayBytes(Arc::new(Variable(categories(configuration)?))))
}

impl ArrayBytesCodec for Variable {
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
        let size = self.0.numbers.kind.size();
        let expected = zarr_traits::strided::byte_len(shape, size)?;
        if src.len() != expected {
            return Err(CodecError::corrupt(format!("{} bytes of numbers, expected {expected}", src.len())));
        }
        // each label is in memory once, also if many elements have it
        let mut block = Vec::new();
        let mut places: Vec<Range<usize>> = Vec::with_capacity(self.0.labels.len() + 1);
        for label in &self.0.labels {
            places.push(block.len()..block.len() + label.len());
            block.extend_from_slice(label.as_bytes());
        }
        places.push(0..0);
        let mut elements = Vec::with_capacity(src.len() / size);
        self.0.each(src, scratch, |place| elements.push(places[place].clone()))?;
        let mut slots = scratch.take_vec();
        let slot = |slot: Slot| slots.extend_from_slice(&slot.to_bytes());
        scratch.heap()?.add(block, elements.into_iter(), slot)?;
        let chunk = Source::dense(&slots, shape, Slot::SIZE)?;
        dst.put(chunk.sub(part.start(), part.shape())?, Swap::NONE)?;
        scratch.give_vec(slots);
        Ok(())
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let codes = self.0.codes();
        each_element(src, scratch, |content| self.0.put(codes.get(content).copied().unwrap_or(0), out))
    }

    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        let size = self.0.numbers.kind.size() as u64;
        let bytes = Dims::from(shape).product().and_then(|n| n.checked_mul(size));
        bytes.map_or(EncodedSize::Unknown, EncodedSize::Exact)
    }
}

/// Strings of one length, stored as code points.
#[derive(Debug)]
struct Fixed {
    categories: Categories<Vec<u8>>,
    /// Bytes of a string.
    size: usize,
}

fn build_fixed(configuration: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let dtype = configuration.optional_string("dtype")?.unwrap_or_default();
    let wrong = || {
        let message = format!("dtype is {dtype:?}, expected a string type such as \"<U8\"");
        CodecError::configuration(message).at("/configuration/dtype")
    };
    let (big, characters) = match dtype.split_at_checked(2) {
        Some(("<U", digits)) => (false, digits),
        Some((">U", digits)) => (true, digits),
        _ => return Err(wrong()),
    };
    let characters: usize = characters.parse().map_err(|_| wrong())?;
    let size = characters.checked_mul(4).filter(|size| *size > 0).ok_or_else(wrong)?;
    let Categories { labels, numbers } = categories(configuration)?;
    // a label that is longer than the elements equals no element, but decodes to its beginning
    let stored = |label: String| -> Vec<u8> {
        let points = label.trim_end_matches('\0').chars().map(u32::from);
        points.flat_map(|point| if big { point.to_be_bytes() } else { point.to_le_bytes() }).collect()
    };
    let labels = labels.into_iter().map(stored).collect();
    Ok(Codec::BytesBytes(Arc::new(Fixed { categories: Categories { labels, numbers }, size })))
}

/// Returns the number of elements of `size` bytes in `len` bytes.
fn elements(len: usize, size: usize) -> CodecResult<usize> {
    if len.is_multiple_of(size) {
        return Ok(len / size);
    }
    Err(CodecError::corrupt(format!("{len} bytes are not a whole number of elements of {size} bytes")))
}

impl BytesBytesCodec for Fixed {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<usize> {
        let elements = elements(src.len(), self.categories.numbers.kind.size())?;
        let len = elements.checked_mul(self.size).ok_or_else(too_large)?;
        let dst = dst.get_mut(..len).ok_or_else(too_large)?;
        let mut strings = dst.chunks_exact_mut(self.size);
        self.categories.each(src, scratch, |place| {
            let Some(string) = strings.next() else { return };
            let label = self
                .categories
                .labels
                .get(place)
                .map_or(&[][..], |label| &label[..label.len().min(self.size)]);
            string[..label.len()].copy_from_slice(label);
            string[label.len()..].fill(0);
        })?;
        Ok(len)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        let elements = elements(src.len(), self.size)?;
        reserve(out, elements.saturating_mul(self.categories.numbers.kind.size()))?;
        let codes = self.categories.codes();
        for string in src.chunks_exact(self.size) {
            let characters = string.as_chunks::<4>().0.iter().rposition(|point| *point != [0; 4]);
            let string = &string[..characters.map_or(0, |last| 4 * (last + 1))];
            self.categories.put(codes.get(string).copied().unwrap_or(0), out)?;
        }
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        let (from, to) = (self.size as u64, self.categories.numbers.kind.size() as u64);
        let size = decoded.is_multiple_of(from).then(|| (decoded / from).checked_mul(to)).flatten();
        size.map_or(EncodedSize::Unknown, EncodedSize::Exact)
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::json;

    use super::*;
    use crate::testing::{Variable, build, bytes_codec, decode, hex, repr};

    const NAME: &str = "numcodecs:categorize";

    #[test]
    fn bytes_of_numcodecs_are_reproduced() {
        // rule H7
        let strings = ["a", "b", "x", "", "é"];
        for (astype, encoded) in
            [("|u1", "0102000003"), (">i2", "00010002000000000003"), ("<u2", "01000200000000000300")]
        {
            let configuration = json!({"labels": ["a", "b", "é"], "dtype": "|O", "astype": astype});
            let repr = repr(DataType::String);
            let mut codec = Variable::new(NAME, &configuration, &repr);
            assert_eq!(codec.encode(&strings, &[5]).unwrap(), hex(encoded));
            assert_eq!(codec.decode(&hex(encoded), &[5]).unwrap(), ["a", "b", "", "", "é"]);
            Variable::survives(NAME, &configuration, &repr, &hex(encoded), &[5]);
        }
    }

    #[test]
    fn unknown_numbers_decode_to_empty_strings_and_too_many_labels_are_refused() {
        let labels: Vec<String> = (0..300).map(|i| format!("label {i}")).collect();
        let configuration = json!({"labels": labels, "dtype": "|O", "astype": "|i1"});
        let mut codec = Variable::new(NAME, &configuration, &repr(DataType::String));
        assert_eq!(codec.decode(&hex("017fff80"), &[4]).unwrap(), ["label 0", "label 126", "", ""]);
        assert_eq!(codec.encode(&["label 126"], &[1]).unwrap(), [127]);
        assert_eq!(codec.encode(&["label 127"], &[1]).unwrap_err().kind(), CodecErrorKind::Value);
    }

    #[test]
    fn configurations() {
        let fixed = "numcodecs:categorize_fixed";
        for (name, configuration, data_type) in [
            (NAME, json!({"labels": ["a"], "dtype": "|O"}), DataType::UInt8),
            (NAME, json!({"dtype": "|O"}), DataType::String),
            (NAME, json!({"labels": [1], "dtype": "|O"}), DataType::String),
            (NAME, json!({"labels": [], "dtype": "|O", "astype": "<f4"}), DataType::String),
            (fixed, json!({"labels": [], "dtype": "|O"}), DataType::UInt8),
            (fixed, json!({"labels": [], "dtype": "<U0"}), DataType::UInt8),
            (fixed, json!({"labels": [], "dtype": "<S4"}), DataType::UInt8),
            (fixed, json!({"labels": [], "dtype": "<U99999999999999999999"}), DataType::UInt8),
        ] {
            let e = build(name, &configuration, &repr(data_type)).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Configuration, "{configuration}: {e:#}");
        }
        let huge = json!({"labels": ["a"], "dtype": "<U4611686018427387903"});
        let codec = bytes_codec(fixed, &huge);
        assert_eq!(decode(&*codec, &[1], 16).unwrap_err().kind(), CodecErrorKind::TooLarge);
    }

    #[test]
    fn a_long_label_is_in_memory_once() {
        // rule L100
        let label = "x".repeat(1 << 19);
        let configuration = json!({"labels": [label], "dtype": "|O"});
        let mut codec = Variable::new(NAME, &configuration, &repr(DataType::String));
        assert_eq!(codec.decode(&[1; 50], &[50]).unwrap()[49].len(), 1 << 19);
    }
}
