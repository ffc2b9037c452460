//! The schemes of this crate in URLs of stores.

use crate::{Access, PathEncoding, Scheme};
use zarr_traits::{Storage, StoreError, StoreErrorKind, StoreResult};

use crate::MemoryStore;

/// `memory://`, a new, empty [`MemoryStore`] each time; and with the feature `zip` the adapter `|zip:path`.
pub const SCHEMES: &[Scheme] = &[
    Scheme::root("memory", PathEncoding::Plain, memory),
    #[cfg(feature = "zip")]
    crate::zip::SCHEME,
];

/// Opens a new store. A name is an error, because its user would expect to find the same store again.
fn memory(url: &str, _: &Access) -> StoreResult<Storage> {
    match url.split_once("://") {
        Some((_, "" | "/")) => Ok(Storage::from(MemoryStore::new())),
        _ => {
            let message = "memory:// takes no name: it is a new, empty store each time";
            Err(StoreError::new(StoreErrorKind::InvalidArgument, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Schemes;
    use zarr_traits::block_on;

    use super::*;

    #[test]
    fn e50_memory_is_new_each_time_and_has_no_name() {
        let schemes = Schemes::new(&[SCHEMES]);
        let open = |url| block_on(schemes.open(url, &Access::new()));
        for url in ["memory://", "memory:///", "memory://|zarr3:a/b"] {
            assert!(open(url).unwrap().storage.capabilities().write, "{url}");
        }
        assert_eq!(open("memory://a").unwrap_err().kind(), StoreErrorKind::InvalidArgument);
    }
}
