#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
mod addresses;
#[cfg(feature = "client")]
mod answer;
#[cfg(feature = "client")]
mod asked;
#[cfg(feature = "aws")]
mod aws;
#[cfg(feature = "azure")]
mod azure;
mod bucket;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod cloud;
mod copy;
mod delete;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
mod deletes;
mod error;
mod gathered;
#[cfg(feature = "gcp")]
mod gcp;
mod get;
mod list;
mod marks;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
mod nameable;
#[cfg(feature = "client")]
mod pace;
mod put;
#[cfg(feature = "client")]
mod redirects;
mod retries;
mod runtime;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
mod services;
mod store;
#[cfg(feature = "client")]
mod tls;
#[cfg(feature = "http")]
mod web;
#[cfg(feature = "client")]
mod window;
#[cfg(feature = "client")]
mod xml;

pub use object_store;
pub use tokio;

pub use runtime::Runtime;
pub use store::ObjectStorage;

/// The schemes of the built-in services, for [`Schemes`](zarr_store::Schemes): `s3`, `gs`, `az`, `abfs`, `abfss`,
/// `http` and `https`.
#[cfg(feature = "client")]
pub const SCHEMES: &[zarr_store::Scheme] = &[
    #[cfg(feature = "aws")]
    aws::SCHEME,
    #[cfg(feature = "gcp")]
    gcp::SCHEME,
    #[cfg(feature = "azure")]
    azure::scheme("az"),
    #[cfg(feature = "azure")]
    azure::scheme("abfs"),
    #[cfg(feature = "azure")]
    azure::scheme("abfss"),
    #[cfg(feature = "http")]
    web::scheme("http"),
    #[cfg(feature = "http")]
    web::scheme("https"),
];
