//! The surroundings of a codec in the suite: simple codecs before and after it, and unknown data types.

use std::sync::Arc;

use zarr_traits::codec::{
    ArrayBytesCodec, BytesBytesCodec, Codec, CodecKind, EncodedSize, PartAccess, decode_elements,
    each_element, too_large,
};
use zarr_traits::extension::{CodecEntry, Entry};
use zarr_traits::json::{Object, Value};
use zarr_traits::strided::{Destination, Source, Swap, byte_len, swap_in_place};
use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, DataType, ExtensionType, FillValue, Layout, Region, Scratch,
};

/// A codec to little-endian elements, which a chain knows how to read in parts.
pub(super) const OPEN: &str = "conformance.open";

/// A codec to the same bytes, about which a chain knows nothing. An element of variable length follows its length.
pub(super) const HIDDEN: &str = "conformance.hidden";

/// A codec to the same bytes, of unknown size.
pub(super) const UNSIZED: &str = "conformance.unsized";

pub(super) const CODECS: &[Entry] = &[
    Entry::Codec(CodecEntry::new(OPEN, CodecKind::ArrayBytes, |_, repr, _| {
        Ok(Codec::ArrayBytes(Arc::new(Elements::of(&repr.data_type, true))))
    })),
    Entry::Codec(CodecEntry::new(HIDDEN, CodecKind::ArrayBytes, |_, repr, _| {
        Ok(Codec::ArrayBytes(Arc::new(Elements::of(&repr.data_type, false))))
    })),
    Entry::Codec(CodecEntry::new(UNSIZED, CodecKind::BytesBytes, |_, _, _| {
        Ok(Codec::BytesBytes(Arc::new(Unsized)))
    })),
];

#[derive(Debug)]
struct Elements {
    data_type: DataType,
    open: bool,
}

impl Elements {
    fn of(data_type: &DataType, open: bool) -> Self {
        Self { data_type: data_type.clone(), open }
    }

    fn swap(&self) -> Swap {
        if cfg!(target_endian = "big") { self.data_type.swap() } else { Swap::NONE }
    }
}

impl ArrayBytesCodec for Elements {
    fn access(&self) -> PartAccess<'_> {
        match self.open && self.data_type.size().is_some() {
            true => PartAccess::Plain(self.swap()),
            false => PartAccess::Whole,
        }
    }

    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        if let Some(size) = self.data_type.size() {
            let expected = byte_len(shape, size)?;
            if src.len() != expected {
                return Err(CodecError::corrupt(format!("got {} bytes, expected {expected}", src.len())));
            }
            return Ok(
                dst.put(Source::dense(src, shape, size)?.sub(part.start(), part.shape())?, self.swap())?
            );
        }
        let (mut ranges, mut at) = (Vec::new(), 0_usize);
        while let Some((len, _)) = src.get(at..).and_then(|rest| rest.split_first_chunk::<4>()) {
            let start = at + 4;
            at = start.saturating_add(usize::try_from(u32::from_le_bytes(*len)).unwrap_or(usize::MAX));
            ranges.push(start..at);
        }
        if at != src.len() {
            return Err(CodecError::corrupt("an element is truncated"));
        }
        decode_elements(src, &ranges, shape, part, dst, scratch)
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        if self.data_type.size().is_some() {
            return Ok(src.append_to(out, self.swap())?);
        }
        each_element(src, scratch, |content| {
            out.extend_from_slice(&u32::try_from(content.len()).unwrap_or(u32::MAX).to_le_bytes());
            out.extend_from_slice(content);
            Ok(())
        })
    }

    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        let len = self.data_type.size().and_then(|size| byte_len(shape, size).ok());
        len.map_or(EncodedSize::Unknown, |len| EncodedSize::Exact(len as u64))
    }
}

#[derive(Debug)]
struct Unsized;

impl BytesBytesCodec for Unsized {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        let dst = dst.get_mut(..src.len()).ok_or_else(too_large)?;
        dst.iter_mut().zip(src).for_each(|(to, from)| *to = *from);
        Ok(src.len())
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        out.extend_from_slice(src);
        Ok(())
    }

    fn encoded_size(&self, _: u64) -> EncodedSize {
        EncodedSize::Unknown
    }
}

/// Returns data types that no codec knows, one of each layout.
pub(super) fn types() -> impl Iterator<Item = DataType> {
    let layouts =
        [Layout::Fixed { size: 12, unit: 4 }, Layout::Packed { size: PACKED.iter().sum() }, Layout::Variable];
    layouts.into_iter().map(|layout| DataType::Extension(Arc::new(Strange(layout))))
}

/// The sizes of the parts of a packed element in bytes.
const PACKED: [usize; 2] = [2, 4];

#[derive(Debug)]
struct Strange(Layout);

impl ExtensionType for Strange {
    fn name(&self) -> &str {
        "conformance.strange"
    }

    fn configuration(&self) -> Object {
        Object::from_iter([("layout", format!("{:?}", self.0))])
    }

    fn layout(&self) -> Layout {
        self.0
    }

    fn parts(&self) -> usize {
        if matches!(self.0, Layout::Packed { .. }) { PACKED.len() } else { 1 }
    }

    fn swap(&self, elements: &mut [u8], turn: &[bool]) {
        for element in elements.chunks_exact_mut(PACKED.iter().sum()) {
            let (first, second) = element.split_at_mut(PACKED[0]);
            for ((part, size), turn) in [first, second].into_iter().zip(PACKED).zip(turn) {
                swap_in_place(part, Swap::units(size).filter(|_| *turn).unwrap_or(Swap::NONE));
            }
        }
    }

    fn fill_from_json(&self, _: &Value) -> CodecResult<FillValue> {
        Err(no_json())
    }

    fn fill_to_json(&self, _: &FillValue) -> CodecResult<Value> {
        Err(no_json())
    }
}

fn no_json() -> CodecError {
    CodecError::new(CodecErrorKind::Unsupported, "data types of the suite have no JSON form")
}
