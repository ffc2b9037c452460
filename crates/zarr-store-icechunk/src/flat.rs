//! Flatbuffers, read in place.
//!
//! Every access checks its bounds. The schema fixes the depth, so nothing recurses, and a table is only looked at when a
//! field of it is wanted. Nothing is copied.

use std::fmt;

use zarr_traits::StoreError;

use crate::error::corrupt;

/// A field that is not what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wrong {
    field: &'static str,
    at: usize,
    why: &'static str,
}

impl Wrong {
    pub(crate) fn new(field: &'static str, at: usize, why: &'static str) -> Self {
        Self { field, at, why }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field {:?} at byte {} of the payload: {}", self.field, self.at, self.why)
    }
}

impl From<Wrong> for StoreError {
    fn from(wrong: Wrong) -> Self {
        corrupt(wrong.to_string())
    }
}

/// The result of a look at a field.
pub(crate) type Flat<T> = Result<T, Wrong>;

const BEYOND: &str = "it is beyond the end";

/// Returns the `N` bytes at a place.
fn fixed<'a, const N: usize>(bytes: &'a [u8], at: usize, field: &'static str) -> Flat<&'a [u8; N]> {
    let found = at.checked_add(N).and_then(|end| bytes.get(at..end)?.first_chunk());
    found.ok_or(Wrong::new(field, at, BEYOND))
}

fn u16_at(bytes: &[u8], at: usize, field: &'static str) -> Flat<usize> {
    Ok(usize::from(u16::from_le_bytes(*fixed(bytes, at, field)?)))
}

fn u32_at(bytes: &[u8], at: usize, field: &'static str) -> Flat<u32> {
    Ok(u32::from_le_bytes(*fixed(bytes, at, field)?))
}

/// Follows the offset at a place.
fn followed(bytes: &[u8], at: usize, field: &'static str) -> Flat<usize> {
    let offset = u32_at(bytes, at, field)?;
    let to = usize::try_from(offset).ok().and_then(|offset| at.checked_add(offset));
    to.ok_or(Wrong::new(field, at, BEYOND))
}

/// The elements of a vector: the place of the first, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Elements {
    at: usize,
    pub(crate) len: usize,
}

impl Elements {
    /// Returns an element that is a table.
    pub(crate) fn table<'a>(self, bytes: &'a [u8], index: usize, field: &'static str) -> Flat<Table<'a>> {
        Table::at(bytes, followed(bytes, self.at + 4 * index, field)?, field)
    }

    /// Returns an element that is text.
    pub(crate) fn text<'a>(self, bytes: &'a [u8], index: usize, field: &'static str) -> Flat<&'a str> {
        let (at, bytes) = vector(bytes, self.at + 4 * index, 1, field)?;
        text(bytes, at, field)
    }
}

/// Returns the elements of the vector whose offset is at a place, as bytes, and where they are.
fn vector<'a>(bytes: &'a [u8], at: usize, width: usize, field: &'static str) -> Flat<(usize, &'a [u8])> {
    let start = followed(bytes, at, field)?;
    let len = u32_at(bytes, start, field)?;
    let wrong = Wrong::new(field, start, "the vector is longer than the file");
    let len = usize::try_from(len).ok().and_then(|len| len.checked_mul(width)).ok_or(wrong)?;
    let start = start + 4;
    let found = start.checked_add(len).and_then(|end| bytes.get(start..end));
    found.map(|found| (start, found)).ok_or(wrong)
}

/// The longest text, which is a path or a name. Many fields may share one text, and each look at it takes its time.
const TEXT_BYTES: usize = 64 << 10;

fn text<'a>(bytes: &'a [u8], at: usize, field: &'static str) -> Flat<&'a str> {
    if bytes.len() > TEXT_BYTES {
        return Err(Wrong::new(field, at, "the text is longer than 64 KiB"));
    }
    std::str::from_utf8(bytes).map_err(|_| Wrong::new(field, at, "it is not text"))
}

/// A table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    vtable: usize,
    slots: usize,
}

impl<'a> Table<'a> {
    /// Returns the root of a file.
    pub(crate) fn root(bytes: &'a [u8]) -> Flat<Self> {
        if bytes.get(4..8) != Some(b"Ichk") {
            return Err(Wrong::new("file identifier", 4, "it is not \"Ichk\""));
        }
        Self::at(bytes, followed(bytes, 0, "root")?, "root")
    }

    fn at(bytes: &'a [u8], at: usize, field: &'static str) -> Flat<Self> {
        let back = i32::from_le_bytes(*fixed(bytes, at, field)?);
        let vtable = isize::try_from(back).ok().and_then(|back| at.checked_add_signed(back.checked_neg()?));
        let vtable = vtable.ok_or(Wrong::new(field, at, "its vtable is beyond the end"))?;
        let size = u16_at(bytes, vtable, field)?;
        if size < 4 || bytes.len() - vtable < size {
            return Err(Wrong::new(field, vtable, "its vtable has a wrong size"));
        }
        Ok(Self { bytes, at, vtable, slots: (size - 4) / 2 })
    }

    /// Where the table is, for messages.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// Returns the place of a field, or `None` if it has its default.
    fn slot(&self, slot: usize, field: &'static str) -> Flat<Option<usize>> {
        if slot >= self.slots {
            return Ok(None);
        }
        let offset = u16_at(self.bytes, self.vtable + 4 + 2 * slot, field)?;
        Ok((offset != 0).then_some(self.at + offset))
    }

    /// Returns the error of a required field that is absent.
    pub(crate) fn missing(&self, field: &'static str) -> Wrong {
        Wrong::new(field, self.at, "it is required, but missing")
    }

    /// Returns a struct of `N` bytes, or the little-endian bytes of a number.
    pub(crate) fn fixed<const N: usize>(
        &self,
        slot: usize,
        field: &'static str,
    ) -> Flat<Option<&'a [u8; N]>> {
        self.slot(slot, field)?.map(|at| fixed(self.bytes, at, field)).transpose()
    }

    pub(crate) fn u8(&self, slot: usize, default: u8, field: &'static str) -> Flat<u8> {
        Ok(self.fixed(slot, field)?.map_or(default, |[byte]| *byte))
    }

    pub(crate) fn u32(&self, slot: usize, field: &'static str) -> Flat<u32> {
        Ok(self.fixed(slot, field)?.map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    pub(crate) fn i32(&self, slot: usize, field: &'static str) -> Flat<i32> {
        Ok(self.fixed(slot, field)?.map_or(0, |bytes| i32::from_le_bytes(*bytes)))
    }

    pub(crate) fn u64(&self, slot: usize, field: &'static str) -> Flat<u64> {
        Ok(self.fixed(slot, field)?.map_or(0, |bytes| u64::from_le_bytes(*bytes)))
    }

    /// Returns a table or a value of a union.
    pub(crate) fn table(&self, slot: usize, field: &'static str) -> Flat<Option<Self>> {
        let Some(at) = self.slot(slot, field)? else { return Ok(None) };
        Self::at(self.bytes, followed(self.bytes, at, field)?, field).map(Some)
    }

    /// Returns a vector of bytes, or of structs of `width` bytes each.
    pub(crate) fn structs(&self, slot: usize, width: usize, field: &'static str) -> Flat<Option<&'a [u8]>> {
        let Some(at) = self.slot(slot, field)? else { return Ok(None) };
        vector(self.bytes, at, width, field).map(|(_, bytes)| Some(bytes))
    }

    pub(crate) fn bytes(&self, slot: usize, field: &'static str) -> Flat<Option<&'a [u8]>> {
        self.structs(slot, 1, field)
    }

    pub(crate) fn text(&self, slot: usize, field: &'static str) -> Flat<Option<&'a str>> {
        let Some(bytes) = self.bytes(slot, field)? else { return Ok(None) };
        text(bytes, self.at, field).map(Some)
    }

    /// Returns a vector of tables or texts.
    pub(crate) fn elements(&self, slot: usize, field: &'static str) -> Flat<Option<Elements>> {
        let Some(at) = self.slot(slot, field)? else { return Ok(None) };
        vector(self.bytes, at, 4, field).map(|(at, bytes)| Some(Elements { at, len: bytes.len() / 4 }))
    }

    /// Returns the elements of a vector that may be absent.
    pub(crate) fn tables(
        &self,
        slot: usize,
        field: &'static str,
    ) -> Flat<impl Iterator<Item = Flat<Self>> + use<'a>> {
        let (bytes, elements) = (self.bytes, self.elements(slot, field)?);
        let len = elements.map_or(0, |elements| elements.len);
        Ok((0..len).filter_map(move |index| Some(elements?.table(bytes, index, field))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with an `u32` in slot 0, a text in slot 1, a vector of itself in slot 3; slot 2 is absent.
    fn sample() -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(20_u32.to_le_bytes()); // 0: root
        bytes.extend(b"Ichk"); // 4
        bytes.extend([12, 0, 16, 0, 4, 0, 8, 0, 0, 0, 12, 0]); // 8: vtable
        bytes.extend(12_i32.to_le_bytes()); // 20: table
        bytes.extend(7_u32.to_le_bytes()); // 24
        bytes.extend(8_u32.to_le_bytes()); // 28: to 36
        bytes.extend(12_u32.to_le_bytes()); // 32: to 44
        bytes.extend(3_u32.to_le_bytes()); // 36
        bytes.extend(b"abc\0"); // 40
        bytes.extend(1_u32.to_le_bytes()); // 44
        bytes.extend((20_u32.wrapping_sub(48)).to_le_bytes()); // 48: to 20, which no offset can reach
        bytes
    }

    #[test]
    fn fields_are_found_and_absent_ones_have_their_default() {
        let bytes = sample();
        let table = Table::root(&bytes).unwrap();
        assert_eq!(table.u32(0, "a"), Ok(7));
        assert_eq!(table.text(1, "b"), Ok(Some("abc")));
        assert_eq!((table.u64(2, "c"), table.u8(9, 5, "d")), (Ok(0), Ok(5)));
        let elements = table.elements(3, "e").unwrap().unwrap();
        assert_eq!(elements.len, 1);
        // Offsets lead forwards only, so there are no circles.
        assert_eq!(elements.table(&bytes, 0, "e").unwrap_err().why, BEYOND);
    }

    #[test]
    fn every_wrong_byte_is_an_error_and_no_panic() {
        let whole = sample();
        let look = |bytes: &[u8]| -> Flat<()> {
            let table = Table::root(bytes)?;
            table.u32(0, "a")?;
            table.text(1, "b")?;
            table.bytes(1, "b")?;
            let _ = table.structs(1, usize::MAX, "b");
            let _ = table.table(1, "b");
            let fields = table.tables(3, "e")?.map(|table| table.and_then(|table| table.u64(0, "f")));
            assert!(fields.count() <= bytes.len());
            Ok(())
        };
        assert_eq!(look(&whole), Ok(()));
        for end in 0..whole.len() {
            assert!(look(&whole[..end]).is_err(), "{end}");
        }
        for at in 0..whole.len() {
            for value in [0, 1, 2, 3, 5, 127, 128, 254, 255] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                let _ = look(&bytes);
            }
        }
    }
}
