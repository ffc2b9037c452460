//! The fill value of an array: the value of every element that is not stored.

use std::fmt;
use std::sync::Arc;

use zarr_strided::{Plain, bytes_of};

/// One element as bytes in the byte order of this machine. For a type of variable length it holds the content.
///
/// Two fill values are equal if their bits are: `-0.0` differs from `0.0`, and a NaN equals a NaN with the same
/// payload.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct FillValue(Arc<[u8]>);

impl FillValue {
    /// Builds a fill value from the bytes of the element.
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// Builds a fill value from the element.
    ///
    /// ```
    /// assert_eq!(zarr_traits::FillValue::of(0x0102_u16).bytes(), 0x0102_u16.to_ne_bytes());
    /// ```
    pub fn of<T: Plain>(element: T) -> Self {
        Self(bytes_of(&[element]).into())
    }

    /// The bytes of the element.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether all bits are zero. Zeroed memory then needs no filling.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|b| *b == 0)
    }
}

impl fmt::Debug for FillValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FillValue(0x")?;
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        f.write_str(")")
    }
}
