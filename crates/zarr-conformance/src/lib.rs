#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod codec;
#[cfg(feature = "implementation")]
pub mod implementation;
pub mod instruments;
mod report;
pub mod store;

pub use report::{Failure, Failures};

/// A test that a store keeps its contract: `store_suite!(name, store)`, in which `store` is an expression for a new, empty
/// one each time.
///
/// ```
/// # mod plain { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plain/mod.rs")); }
/// # use plain::Plain as MyStore;
/// zarr_conformance::store_suite!(my_store_keeps_the_contract, MyStore::default());
/// ```
///
/// It is [`store::check`], which is there for tests that need more than this.
#[macro_export]
macro_rules! store_suite {
    ($name:ident, $store:expr) => {
        #[test]
        fn $name() {
            $crate::store::check(|| ::std::convert::Into::into($store)).unwrap();
        }
    };
}

/// A test that codecs keep their contract: `codec_suite!(name, registry, subjects)`, in which `subjects` is an array of
/// [`codec::Subject`], one at least for each codec.
///
/// ```
/// # mod my_crate { pub const CODECS: &[zarr_traits::Entry] = &[]; }
/// use zarr_conformance::codec::Subject;
/// use zarr_traits::{Registry, serde_json::json};
///
/// zarr_conformance::codec_suite!(
///     my_codecs_keep_the_contract,
///     Registry::core().with(my_crate::CODECS).unwrap(),
///     [Subject::new("my.compressor", json!({ "level": 5 })).checksum()],
/// );
/// ```
///
/// It is [`codec::check`], which is there for tests that need more than this.
#[macro_export]
macro_rules! codec_suite {
    ($name:ident, $registry:expr, $subjects:expr $(,)?) => {
        #[test]
        fn $name() {
            $crate::codec::check(&$registry, $subjects).unwrap();
        }
    };
}
