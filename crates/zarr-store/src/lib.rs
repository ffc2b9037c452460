#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod access;
mod cache;
mod consolidated;
mod durability;
pub mod http;
mod location;
mod memory;
mod pause;
mod prefix;
mod redirects;
#[cfg(feature = "references")]
pub mod references;
mod scheme;
mod targets;
mod trace;
mod traced;
mod url;
#[cfg(feature = "zip")]
pub mod zip;

pub use access::Access;
pub use cache::{CacheCounts, CacheOptions, Cached};
pub use consolidated::{Consolidated, KnownDocuments};
pub use durability::Durability;
pub use location::{Below, OpenAdapter, OpenRoot, OpenRootShared, Scheme, Schemes, names_of, split_node};
pub use memory::MemoryStore;
pub use pause::pause;
pub use prefix::Prefixed;
pub use redirects::Redirects;
pub use scheme::SCHEMES;
pub use targets::{Target, Targets};
pub use trace::{Trace, TracedRequest, Underway};
pub use traced::Traced;
pub use url::{PathEncoding, has_query, percent_decoded, redacted, scheme_of, split_adapters};
pub use zarr_traits::Located;
