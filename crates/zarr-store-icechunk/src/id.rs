//! Ids of files, and their text in Crockford's base 32.

use std::fmt;
use std::str::FromStr;

use zarr_traits::{StoreError, StoreErrorKind, StoreResult};

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The number of bytes of an id, and of characters of its text.
pub(crate) const BYTES: usize = 12;
const CHARACTERS: usize = 20;

/// The id of a snapshot, a manifest or a chunk.
///
/// ```
/// use zarr_store_icechunk::SnapshotId;
/// let first: SnapshotId = "1CECHNKREP0F1RSTCMT0".parse()?;
/// assert_eq!(first.to_string(), "1CECHNKREP0F1RSTCMT0");
/// assert!("1cechnkrep0f1rstcmt0".parse::<SnapshotId>().is_err());
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotId([u8; BYTES]);

impl SnapshotId {
    /// Returns the id with these bytes.
    pub(crate) fn new(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes of the id.
    pub(crate) fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }
}

/// The 20 characters of the id.
impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.0.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte)) << 4;
        let mut text = String::with_capacity(CHARACTERS);
        for place in (0..CHARACTERS).rev() {
            text.push(char::from(ALPHABET[(bits >> (5 * place) & 31) as usize]));
        }
        f.pad(&text)
    }
}

impl fmt::Debug for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SnapshotId({self})")
    }
}

impl FromStr for SnapshotId {
    type Err = StoreError;

    fn from_str(text: &str) -> StoreResult<Self> {
        let digit = |byte| ALPHABET.iter().position(|known| *known == byte).map(|digit| digit as u128);
        let add = |bits: u128, byte| Some(bits << 5 | digit(byte)?);
        let bits = (text.len() == CHARACTERS).then(|| text.bytes().try_fold(0, add)).flatten();
        // Four bits are left over, and are zero.
        let bits = bits.filter(|bits| bits & 15 == 0).ok_or_else(|| {
            let message = format!(
                "{text:.40?} is not the id of a snapshot, which has {CHARACTERS} digits and capital letters without I, L, O and U"
            );
            StoreError::new(StoreErrorKind::InvalidArgument, message)
        })?;
        let mut id = [0; BYTES];
        id.copy_from_slice(&(bits >> 4).to_be_bytes()[16 - BYTES..]);
        Ok(Self(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_text() {
        let id = SnapshotId([0x0b, 0x1c, 0xc8, 0xd6, 0x78, 0x75, 0x80, 0xf0, 0xe3, 0x3a, 0x65, 0x34]);
        assert_eq!(id.to_string(), "1CECHNKREP0F1RSTCMT0");
        for id in [id, SnapshotId([0; 12]), SnapshotId([255; 12])] {
            assert_eq!(id.to_string().parse::<SnapshotId>().unwrap(), id);
        }
        for wrong in [
            "",
            "1CECHNKREP0F1RSTCMT1",
            "1CECHNKREP0F1RSTCMT",
            "1CECHNKREP0F1RSTCMT00",
            "ILOU0000000000000000",
            "ä0000000000000000000",
        ] {
            assert!(wrong.parse::<SnapshotId>().is_err(), "{wrong}");
        }
    }
}
