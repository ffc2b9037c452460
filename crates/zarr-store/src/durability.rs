//! The data of a directory that a power cut may lose.

use std::str::FromStr;

use zarr_traits::{StoreError, StoreErrorKind};

/// The data that is on the disk when a put to a directory returns. Readers always see the old value or the new one,
/// whole.
///
/// ```
/// # use zarr_store::{Access, Durability};
/// let access = Access::new().durability(Durability::Durable);
/// // As text, for options of programs.
/// assert_eq!("durable".parse::<Durability>()?, access.durability);
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The value survives a crash of this process. It survives a power cut only after
    /// [`Op::Sync`](zarr_traits::store::Op::Sync): the way to write many objects.
    ///
    /// A document is on the disk before it replaces another one, and so is a chunk of which only a part changes. So a power
    /// cut leaves the old one or the new one. That takes as long as the disk needs to write it.
    #[default]
    Atomic,
    /// As [`Atomic`](Self::Atomic), but a power cut may also leave a replaced document, or a chunk that was changed in part,
    /// empty, until [`Op::Sync`](zarr_traits::store::Op::Sync): for very many changes that end with one sync, of data that
    /// can be made again.
    Deferred,
    /// The value and its name are on the disk. This takes some milliseconds for each object.
    Durable,
}

/// Parses `atomic`, `deferred` or `durable`.
impl FromStr for Durability {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        match text {
            "atomic" => Ok(Self::Atomic),
            "deferred" => Ok(Self::Deferred),
            "durable" => Ok(Self::Durable),
            _ => {
                let message = format!("durability is {text:?}, it must be atomic, deferred or durable");
                Err(StoreError::new(StoreErrorKind::InvalidArgument, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_durability_is_parsed() {
        for (text, expected) in [
            ("atomic", Durability::Atomic),
            ("deferred", Durability::Deferred),
            ("durable", Durability::Durable),
        ] {
            assert_eq!(text.parse::<Durability>().unwrap(), expected);
        }
        let e = "Durable".parse::<Durability>().unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::InvalidArgument);
        assert_eq!(format!("{e:#}"), "durability is \"Durable\", it must be atomic, deferred or durable");
    }
}
