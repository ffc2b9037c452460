//! The common format of `vlen-utf8` and `vlen-bytes`: the number of elements, then each element's length and content.
//!
//! All numbers are `u32` in little endian. Missing or trailing bytes are errors.

use std::ops::Range;

use zarr_traits::strided::{Destination, Source};
use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, DataType, Region, Scratch,
    codec::{ArrayBytesCodec, EncodedSize, PartAccess, Repr, decode_elements, each_element},
};

/// The bytes of a number.
const NUMBER: usize = 4;

/// One of the two codecs.
#[derive(Debug)]
pub(crate) struct Vlen {
    /// Checks the content of an element.
    pub(crate) check: fn(&[u8]) -> CodecResult<()>,
}

impl ArrayBytesCodec for Vlen {
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
        let elements = elements(src)?;
        elements.iter().try_for_each(|range| (self.check)(&src[range.clone()]))?;
        decode_elements(src, &elements, shape, part, dst, scratch)
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let count = out.len();
        let mut elements = 0_usize;
        out.extend_from_slice(&[0; NUMBER]);
        each_element(src, scratch, |content| {
            (self.check)(content)?;
            elements += 1;
            crate::reserve(out, content.len().saturating_add(NUMBER))?;
            out.extend_from_slice(&number(content.len())?);
            out.extend_from_slice(content);
            Ok(())
        })?;
        out[count..count + NUMBER].copy_from_slice(&number(elements)?);
        Ok(())
    }

    fn encoded_size(&self, _: &[u64]) -> EncodedSize {
        EncodedSize::Unknown
    }
}

/// Refuses every data type except the one of this codec.
pub(crate) fn only(data_type: &DataType, repr: &Repr) -> CodecResult<()> {
    if repr.data_type == *data_type {
        return Ok(());
    }
    let message = format!("data type {} is not {data_type}", repr.data_type);
    Err(CodecError::new(CodecErrorKind::Unsupported, message))
}

/// Returns the ranges of the elements in `src`.
fn elements(src: &[u8]) -> CodecResult<Vec<Range<usize>>> {
    let ends = || CodecError::corrupt(format!("the data end after {} bytes, inside an element", src.len()));
    let number = |at: usize| {
        let bytes = src.get(at..)?.first_chunk::<NUMBER>()?;
        usize::try_from(u32::from_le_bytes(*bytes)).ok()
    };
    let count = number(0).ok_or_else(ends)?;
    // Every element takes at least the bytes of its length, so check the count against the size before allocating for
    // it.
    if count > (src.len() - NUMBER) / NUMBER {
        return Err(ends());
    }
    let mut elements = Vec::with_capacity(count);
    let mut at = NUMBER;
    for _ in 0..count {
        let start = at + NUMBER;
        let end = number(at).and_then(|len| start.checked_add(len)).filter(|end| *end <= src.len());
        at = end.ok_or_else(ends)?;
        elements.push(start..at);
    }
    if at != src.len() {
        return Err(CodecError::corrupt(format!("{} bytes follow the last element", src.len() - at)));
    }
    Ok(elements)
}

fn number(n: usize) -> CodecResult<[u8; NUMBER]> {
    let too_large = || CodecError::new(CodecErrorKind::TooLarge, format!("{n} does not fit in 32 bits"));
    Ok(u32::try_from(n).map_err(|_| too_large())?.to_le_bytes())
}

#[cfg(test)]
#[cfg(all(
    feature = "bytes",
    feature = "gzip",
    feature = "transpose",
    feature = "vlen-bytes",
    feature = "vlen-utf8"
))]
mod tests {
    use std::sync::Arc;

    use zarr_engine::Chain;
    use zarr_traits::json;
    use zarr_traits::{
        DataType, FillValue,
        heap::{Heap, Slot},
    };

    use super::*;
    use crate::testing::{hex, open, to_hex};

    /// Returns scratch memory with a heap that holds `contents`, and their slots.
    fn held(contents: &[&[u8]]) -> (Scratch, Vec<u8>) {
        let heap = Heap::new(FillValue::from_bytes(*b""), 1 << 20);
        let (mut slots, mut end) = (Vec::new(), 0);
        let ranges = contents.iter().map(|content| {
            end += content.len();
            end - content.len()..end
        });
        heap.add(contents.concat(), ranges, |slot| slots.extend(slot.to_bytes())).unwrap();
        let mut scratch = Scratch::new();
        scratch.set_heap(Some(Arc::new(heap)));
        (scratch, slots)
    }

    fn encoded(chain: &Chain, shape: &[u64], contents: &[&[u8]]) -> CodecResult<Vec<u8>> {
        let (mut scratch, slots) = held(contents);
        let mut out = Vec::new();
        chain.encode(Source::dense(&slots, shape, Slot::SIZE)?, &mut out, &mut scratch)?;
        Ok(out)
    }

    fn decoded(chain: &Chain, shape: &[u64], part: &Region, src: &[u8]) -> CodecResult<Vec<Vec<u8>>> {
        let (mut scratch, _) = held(&[]);
        let count = usize::try_from(part.len().unwrap()).unwrap();
        let mut slots = vec![0xaa; count * Slot::SIZE];
        let dst = Destination::dense(&mut slots, part.shape(), Slot::SIZE)?;
        chain.decode_into(src, shape, part, dst, &mut scratch)?;
        let mut contents = Vec::new();
        each_element(Source::dense(&slots, part.shape(), Slot::SIZE)?, &mut scratch, |content| {
            contents.push(content.to_vec());
            Ok(())
        })?;
        Ok(contents)
    }

    fn chain(name: &str, data_type: DataType, rank: usize) -> Chain {
        open(&json!([name]), data_type, rank).unwrap().0
    }

    #[test]
    fn chunks_are_encoded_to_the_golden_bytes() {
        // rule D8
        let strings: [&[u8]; 3] = [b"a", "é".as_bytes(), b""];
        let bytes: [&[u8]; 3] = [b"a", b"", b"bc"];
        let utf8 = chain("vlen-utf8", DataType::String, 1);
        let any = chain("vlen-bytes", DataType::Bytes, 1);
        for (chain, contents, golden) in [
            (utf8, strings, "03000000010000006102000000c3a900000000"),
            (any, bytes, "03000000010000006100000000020000006263"),
        ] {
            assert_eq!(to_hex(&encoded(&chain, &[3], &contents).unwrap()), golden);
            assert_eq!(decoded(&chain, &[3], &Region::whole(&[3]), &hex(golden)).unwrap(), contents);
        }
        let scalar = chain("vlen-utf8", DataType::String, 0); // rule D8.2
        assert_eq!(to_hex(&encoded(&scalar, &[], &[b"ab"]).unwrap()), "01000000020000006162");
    }

    #[test]
    fn a_part_of_a_transposed_and_compressed_chunk_is_decoded() {
        // rule D8
        let codecs = json!([
            {"name": "transpose", "configuration": {"order": [1, 0]}}, "vlen-bytes",
            {"name": "gzip", "configuration": {"level": 1}}
        ]);
        let (chain, _) = open(&codecs, DataType::Bytes, 2).unwrap();
        let contents: [&[u8]; 6] = [b"a", b"bb", b"", b"dddd", b"e", b"ff"];
        let stored = encoded(&chain, &[2, 3], &contents).unwrap();
        assert_eq!(decoded(&chain, &[2, 3], &Region::whole(&[2, 3]), &stored).unwrap(), contents);
        let column = Region::new([0, 1], [2, 1]).unwrap();
        assert_eq!(decoded(&chain, &[2, 3], &column, &stored).unwrap(), [b"bb".to_vec(), b"e".to_vec()]);
    }

    #[test]
    fn damaged_chunks_are_errors() {
        // rule D8.1
        let chain = chain("vlen-utf8", DataType::String, 1);
        let whole = Region::whole(&[2]);
        for bad in [
            "0200000000000000000000005a",         // rule L87: trailing bytes
            "01000000020000006162",               // fewer elements than the chunk has
            "0300000000000000000000000000000000", // more elements, and trailing bytes
            "ffffffff0000000000000000",           // rule L101: a count that exceeds the size
            "02000000ffffffff61000000",           // a length that exceeds the size
            "020000000100000061ff000000",
            "020000000100000061",
            "0200000001000000ff00000000", // rule D8.1: not UTF-8
        ] {
            let e = decoded(&chain, &[2], &whole, &hex(bad)).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Corrupt, "{bad}: {e}");
        }
        assert!(encoded(&chain, &[1], &[&[0xff]]).is_err(), "bytes that are not UTF-8 are not written");
    }

    #[test]
    fn each_codec_needs_its_data_type() {
        // rule B.t69
        for (name, data_type) in [
            ("vlen-utf8", DataType::Bytes),
            ("vlen-bytes", DataType::String),
            ("vlen-utf8", DataType::UInt8),
            ("bytes", DataType::String),
        ] {
            let e = open(&json!([name]), data_type.clone(), 1).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Unsupported, "{name} of {data_type}");
        }
    }
}
