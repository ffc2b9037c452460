//! The elements of `json2` and `msgpack2`: objects, or numbers and strings of fixed length.

use std::ops::Range;

use zarr_traits::json::Value;
use zarr_traits::strided::{Destination, Source, Swap};
use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, Region, Scratch,
    codec::{Repr, decode_elements},
};

use crate::number::{self, NumberType};
use crate::{json_number, object};

/// The type of the elements.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Elements {
    /// Objects of any length: `numcodecs:object`.
    Objects,
    Numbers(NumberType),
    /// Strings of this many bytes: `fixed_length_utf32`.
    Strings(usize),
}

impl Elements {
    /// Returns the type of the elements that reach a codec.
    ///
    /// # Errors
    /// If the codec does not support them.
    pub(crate) fn of(repr: &Repr) -> CodecResult<Self> {
        if let Some(kind) = number::of(&repr.data_type) {
            return Ok(Self::Numbers(kind));
        }
        if repr.data_type.name() == "fixed_length_utf32" {
            return Ok(Self::Strings(repr.fixed()?.0));
        }
        object::check(repr).map(|()| Self::Objects)
    }

    /// Checks that elements can be written: only objects can. For other elements numcodecs writes the byte order of the
    /// array, which is not known here.
    ///
    /// # Errors
    /// `Unsupported` for other elements.
    pub(crate) fn check_encode(self) -> CodecResult<()> {
        match self {
            Self::Objects => Ok(()),
            _ => Err(CodecError::new(CodecErrorKind::Unsupported, "the codec can only write objects")),
        }
    }

    /// Decodes the elements whose JSON texts are at `places` of `text`, and puts the wanted `part` of the chunk into
    /// `dst`.
    ///
    /// # Errors
    /// `Corrupt` if a text is not an element of the type.
    pub(crate) fn put(
        self,
        (text, places): (Vec<u8>, Vec<Range<usize>>),
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let size = match self {
            Self::Objects => return decode_elements(&text, &places, shape, part, dst, scratch),
            Self::Numbers(kind) => kind.size(),
            Self::Strings(size) => size,
        };
        let mut memory = scratch.take(zarr_traits::strided::byte_len(shape, size)?)?;
        if places.len().checked_mul(size) != Some(memory.len()) {
            return Err(CodecError::corrupt(format!(
                "{} elements do not have shape {shape:?}",
                places.len()
            )));
        }
        for (element, place) in memory.chunks_exact_mut(size.max(1)).zip(places) {
            let text = &text[place];
            let wrong =
                || CodecError::corrupt(format!("{} is not such an element", String::from_utf8_lossy(text)));
            let value = object::parse(text).map_err(|_| wrong())?;
            self.write(&value, element).ok_or_else(wrong)?;
        }
        dst.put(Source::dense(&memory, shape, size)?.sub(part.start(), part.shape())?, Swap::NONE)?;
        scratch.give(memory);
        Ok(())
    }

    /// Writes an element of fixed size. Returns `None` if `value` is not such an element.
    fn write(self, value: &Value, element: &mut [u8]) -> Option<()> {
        match self {
            Self::Objects => None,
            Self::Numbers(kind) => {
                element.copy_from_slice(&json_number::read(value, kind)?[..element.len()]);
                Some(())
            }
            Self::Strings(_) => {
                let text = value.as_text()?;
                let mut characters = text.trim_end_matches('\0').chars();
                for point in element.as_chunks_mut().0 {
                    *point = characters.next().map_or(0, u32::from).to_ne_bytes();
                }
                characters.next().is_none().then_some(())
            }
        }
    }
}
