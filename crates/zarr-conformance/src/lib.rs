#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod codec;
#[cfg(feature = "implementation")]
pub mod implementation;
pub mod instruments;
mod report;
#[cfg(feature = "server")]
pub mod server;
pub mod store;

pub use report::{Failure, Failures};

/// Defines a test that a store keeps its contract: `store_suite!(name, store)`, where `store` is an expression for a
/// new, empty store.
///
/// ```
/// # mod plain { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plain/mod.rs")); }
/// # use plain::Plain as MyStore;
/// zarr_conformance::store_suite!(my_store_keeps_the_contract, MyStore::default());
/// ```
///
/// For tests that need more, use [`store::check`].
#[macro_export]
macro_rules! store_suite {
    ($name:ident, $store:expr) => {
        #[test]
        fn $name() {
            $crate::store::check(|| ::std::convert::Into::into($store)).unwrap();
        }
    };
}

/// Defines a test that codecs keep their contract: `codec_suite!(name, registry, subjects)`, where `subjects` is an
/// array of [`codec::Subject`] with at least one element for each codec.
///
/// ```
/// # mod my_crate { pub const CODECS: &[zarr_traits::extension::Entry] = &[]; }
/// use zarr_conformance::codec::Subject;
/// use zarr_traits::{Registry, json};
///
/// zarr_conformance::codec_suite!(
///     my_codecs_keep_the_contract,
///     Registry::core().with(my_crate::CODECS).unwrap(),
///     [Subject::new("my.compressor", json!({ "level": 5 })).checksum()],
/// );
/// ```
///
/// For tests that need more, use [`codec::check`].
#[macro_export]
macro_rules! codec_suite {
    ($name:ident, $registry:expr, $subjects:expr $(,)?) => {
        #[test]
        fn $name() {
            $crate::codec::check(&$registry, $subjects).unwrap();
        }
    };
}
