//! `numcodecs:categorize`: strings as the numbers of labels, from 1 on; 0 is any other string, and decodes to the empty
//! one.
//!
//! | member | value |
//! |---|---|
//! | `labels` | a list of strings |
//! | `dtype` | type of the strings: `\|O`, or one such as `<U8` |
//! | `astype` | type of the numbers, one of integers; `\|u1` when absent |
//!
//! Both codecs are for data of format 2. `numcodecs:categorize` makes bytes of strings of any length, the data type
//! `string`; `numcodecs.categorize` makes numbers of strings of fixed length, the data type `fixed_length_utf32`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use zarr_traits::serde_json::Value;
use zarr_traits::{
    ArrayArrayCodec, ArrayBytesCodec, Codec, CodecEntry, CodecError, CodecErrorKind, CodecKind, CodecResult,
    Configuration, Context, DataType, Destination, Dims, EncodedSize, Entry, FillValue, Region, Repr,
    Scratch, Slot, Source, Swap, heap,
};

use crate::number::{Kind, Number, NumberType, Wide, with_number};

/// The row of this codec for strings of any length.
pub const ENTRY: Entry = Entry::Codec(CodecEntry {
    name: "numcodecs:categorize",
    aliases: &[],
    kind: CodecKind::ArrayBytes,
    build: build_variable,
});

/// The row of this codec for strings of fixed length.
pub const FIXED_ENTRY: Entry = Entry::Codec(CodecEntry {
    name: "numcodecs.categorize",
    aliases: &[],
    kind: CodecKind::ArrayArray,
    build: build_fixed,
});

/// Bytes of a code point.
const UNIT: usize = 4;

/// Labels as stored, and the type of their numbers.
#[derive(Debug)]
struct Categories<T> {
    labels: Vec<T>,
    numbers: NumberType,
}

fn categories(configuration: &mut Configuration<'_>) -> CodecResult<Categories<String>> {
    let wrong = |member: &str, message: &str| {
        CodecError::configuration(message).at(&format!("/configuration/{member}"))
    };
    let labels = configuration.get("labels").and_then(Value::as_array);
    let labels = labels.and_then(|list| list.iter().map(|label| label.as_str().map(str::to_owned)).collect());
    let labels = labels.ok_or_else(|| wrong("labels", "labels must be a list of strings"))?;
    let numbers = NumberType::member(configuration, "astype", Some(NumberType::native(Kind::U8)))?;
    if numbers.kind.is_float() || numbers.kind == Kind::Bool {
        return Err(wrong("astype", "astype must be a type of integers"));
    }
    Ok(Categories { labels, numbers })
}

impl<T: AsRef<[u8]>> Categories<T> {
    /// The number of each label; of equal ones the last counts.
    fn codes(&self) -> HashMap<&[u8], usize> {
        self.labels.iter().map(T::as_ref).zip(1..).collect()
    }

    /// Appends a number as it is stored.
    ///
    /// # Errors
    /// When its type has it not.
    fn put(&self, code: usize, out: &mut Vec<u8>) -> CodecResult<()> {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..self.numbers.kind.size()];
        with_number!(self.numbers.kind, T => T::put([T::of(Wide::Unsigned(code as u64))].into_iter(), bytes));
        if self.codes_in(bytes).next() != Some(code) {
            let message = format!("there is no {} for label {code}", self.numbers.kind.data_type());
            return Err(CodecError::new(CodecErrorKind::InvalidArgument, message));
        }
        self.numbers.swap(bytes);
        out.extend_from_slice(bytes);
        Ok(())
    }

    /// Numbers in the byte order of this machine; those that count nothing are 0.
    fn codes_in<'a>(&self, bytes: &'a [u8]) -> Box<dyn Iterator<Item = usize> + 'a> {
        with_number!(self.numbers.kind, T => Box::new(T::each(bytes).map(|number| match number.wide() {
            Wide::Unsigned(n) => usize::try_from(n).unwrap_or(0),
            Wide::Signed(n) => usize::try_from(n).unwrap_or(0),
            Wide::Float(_) => 0,
        })))
    }

    /// Runs `visit` with the place of each label in the list; behind the last for what is none.
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
        let message = format!("it works on string, what reaches it is {}", repr.data_type);
        return Err(CodecError::configuration(message));
    }
    Ok(Codec::ArrayBytes(Arc::new(Variable(categories(configuration)?))))
}

impl ArrayBytesCodec for Variable {
    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let size = self.0.numbers.kind.size();
        let expected = zarr_traits::chain::byte_len(shape, size)?;
        if src.len() != expected {
            return Err(CodecError::corrupt(format!("{} bytes of numbers, expected {expected}", src.len())));
        }
        // each label is there once, however many elements it is
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
        heap::each(src, scratch, |content| self.0.put(codes.get(content).copied().unwrap_or(0), out))
    }

    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        let size = self.0.numbers.kind.size() as u64;
        let bytes = Dims::from(shape).product().and_then(|n| n.checked_mul(size));
        bytes.map_or(EncodedSize::Unknown, EncodedSize::Exact)
    }
}

/// Strings of one length, padded with zeros.
#[derive(Debug)]
struct Fixed {
    /// Labels as code points in the byte order of this machine.
    categories: Categories<Vec<u8>>,
    /// Bytes of a string.
    size: usize,
    encoded_repr: Repr,
}

fn build_fixed(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let dtype = configuration.optional_string("dtype")?.unwrap_or_default();
    let size = repr.fixed().map_or(0, |(size, _)| size);
    let characters = dtype.strip_prefix(['<', '>']).and_then(|dtype| dtype.strip_prefix('U')?.parse().ok());
    let characters = characters.filter(|characters: &usize| characters.checked_mul(UNIT) == Some(size));
    if characters.is_none() || size == 0 || repr.data_type.name() != "fixed_length_utf32" {
        let message = format!("dtype is {dtype:?}, what reaches it is {} of {size} bytes", repr.data_type);
        return Err(CodecError::configuration(message).at("/configuration/dtype"));
    }
    let Categories { labels, numbers } = categories(configuration)?;
    // elements lie in the byte order of this machine
    let numbers = NumberType::native(numbers.kind);
    let points = |label: String| {
        label.trim_end_matches('\0').chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect()
    };
    let categories = Categories { labels: labels.into_iter().map(points).collect(), numbers };
    let mut fill = Vec::new();
    categories.put(code(&categories.codes(), repr.fill.bytes()), &mut fill)?;
    let encoded_repr =
        Repr { data_type: numbers.kind.data_type(), fill: FillValue::from_bytes(fill), rank: repr.rank };
    Ok(Codec::ArrayArray(Arc::new(Fixed { categories, size, encoded_repr })))
}

/// The number of a padded string.
fn code(codes: &HashMap<&[u8], usize>, string: &[u8]) -> usize {
    let last = string.as_chunks::<UNIT>().0.iter().rposition(|point| *point != [0; UNIT]);
    codes.get(&string[..last.map_or(0, |last| UNIT * (last + 1))]).copied().unwrap_or(0)
}

impl ArrayArrayCodec for Fixed {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        Ok(self.encoded_repr.clone())
    }

    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok(shape.into())
    }

    fn map_part(&self, _: &[u64], part: &Region) -> Option<Region> {
        Some(part.clone())
    }

    fn decode(&self, src: Source<'_>, mut dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        let mut numbers = scratch.take_vec();
        src.append_to(&mut numbers, Swap::NONE)?;
        let shape = Dims::from(src.shape());
        let mut strings = scratch.take(zarr_traits::chain::byte_len(&shape, self.size)?)?;
        for (string, code) in strings.chunks_exact_mut(self.size).zip(self.categories.codes_in(&numbers)) {
            let label = self.categories.labels.get(code.wrapping_sub(1)).map_or(&[][..], Vec::as_slice);
            // numpy cuts labels that are too long
            let len = label.len().min(string.len());
            string[..len].copy_from_slice(&label[..len]);
            string[len..].fill(0);
        }
        dst.put(Source::dense(&strings, &shape, self.size)?, Swap::NONE)?;
        scratch.give(strings);
        scratch.give_vec(numbers);
        Ok(())
    }

    fn encode(&self, src: Source<'_>, mut dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        let (mut strings, mut numbers) = (scratch.take_vec(), scratch.take_vec());
        src.append_to(&mut strings, Swap::NONE)?;
        let codes = self.categories.codes();
        for string in strings.chunks_exact(self.size) {
            self.categories.put(code(&codes, string), &mut numbers)?;
        }
        dst.put(Source::dense(&numbers, src.shape(), dst.size())?, Swap::NONE)?;
        scratch.give_vec(strings);
        scratch.give_vec(numbers);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::serde_json::json;

    use super::*;
    use crate::testing::{Variable, build, hex, repr, texts};

    const NAME: &str = "numcodecs:categorize";

    #[test]
    fn h7_golden() {
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
    fn numbers_of_no_label_are_empty_and_labels_without_a_number_are_not_encoded() {
        let labels: Vec<String> = (0..300).map(|i| format!("label {i}")).collect();
        let configuration = json!({"labels": labels, "dtype": "|O", "astype": "|i1"});
        let mut codec = Variable::new(NAME, &configuration, &repr(DataType::String));
        assert_eq!(codec.decode(&hex("017fff80"), &[4]).unwrap(), ["label 0", "label 126", "", ""]);
        assert_eq!(codec.encode(&["label 126"], &[1]).unwrap(), [127]);
        assert_eq!(codec.encode(&["label 127"], &[1]).unwrap_err().kind(), CodecErrorKind::InvalidArgument);
    }

    #[test]
    fn configurations() {
        let fixed = "numcodecs.categorize";
        for (name, configuration, repr) in [
            (NAME, json!({"labels": ["a"], "dtype": "|O"}), repr(DataType::UInt8)),
            (NAME, json!({"dtype": "|O"}), repr(DataType::String)),
            (NAME, json!({"labels": [1], "dtype": "|O"}), repr(DataType::String)),
            (NAME, json!({"labels": [], "dtype": "|O", "astype": "<f4"}), repr(DataType::String)),
            (fixed, json!({"labels": [], "dtype": "|O"}), repr(DataType::String)),
            (fixed, json!({"labels": [], "dtype": "|O"}), texts(16)),
            (fixed, json!({"labels": [], "dtype": "<U5"}), texts(16)),
            (fixed, json!({"labels": [], "dtype": "<S16"}), texts(16)),
            (fixed, json!({"labels": [], "dtype": "<U99999999999999999999"}), texts(16)),
            (fixed, json!({"labels": [], "dtype": "<U4"}), repr(DataType::Complex128)),
        ] {
            let e = build(name, &configuration, &repr).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Configuration, "{configuration}: {e}");
        }
    }

    #[test]
    fn h7_strings_of_fixed_length() {
        let strings = |texts: &[&str]| -> Vec<u8> {
            let padded =
                |text: &&str| [text.chars().collect(), vec!['\0'; 4 - text.chars().count()]].concat();
            texts.iter().flat_map(padded).flat_map(|c| u32::from(c).to_ne_bytes()).collect()
        };
        let labels = ["ƒöõ", "a", "b", "longer than 4", "b"];
        let configuration = json!({"labels": labels, "dtype": ">U4", "astype": ">i2"});
        let Codec::ArrayArray(codec) = build("numcodecs.categorize", &configuration, &texts(16)).unwrap()
        else {
            unreachable!()
        };
        assert_eq!(
            codec.encoded_repr().unwrap(),
            Repr { data_type: DataType::Int16, ..repr(DataType::Int16) }
        );
        let (decoded, mut encoded) = (strings(&["a", "b", "x", "", "ƒöõ", "long"]), [0_i16; 6]);
        let mut scratch = Scratch::new();
        let dst = Destination::of(&mut encoded, &[2, 3]).unwrap();
        codec.encode(Source::dense(&decoded, &[2, 3], 16).unwrap(), dst, &mut scratch).unwrap();
        assert_eq!(encoded, [2, 5, 0, 0, 1, 0]);
        let mut back = vec![0xaa; 8 * 16];
        let dst = Destination::dense(&mut back, &[8], 16).unwrap();
        let encoded = [2, 5, 3, 0, 1, 4, 6, -1_i16];
        codec.decode(Source::of(&encoded, &[8]).unwrap(), dst, &mut scratch).unwrap();
        assert_eq!(back, strings(&["a", "b", "b", "", "ƒöõ", "long", "", ""]));
    }

    #[test]
    fn l100_a_long_label_is_in_memory_once() {
        let label = "x".repeat(1 << 19);
        let configuration = json!({"labels": [label], "dtype": "|O"});
        let mut codec = Variable::new(NAME, &configuration, &repr(DataType::String));
        assert_eq!(codec.decode(&[1; 50], &[50]).unwrap()[49].len(), 1 << 19);
    }
}
