//! What the services with buckets have in common.

use object_store::RetryConfig;
use zarr_traits::location::{redacted, scheme_of};
use zarr_traits::{StoreError, StoreErrorKind, StoreResult};

use crate::cloud::Place;

impl<'a> Place<'a> {
    /// Of `scheme://container/prefix`. Keys are not encoded in such URLs: a `%` is a `%`.
    pub(crate) fn parse(url: &'a str) -> StoreResult<Self> {
        let rest = scheme_of(url).map_or(url, |scheme| &url[scheme.len() + 3..]);
        let (container, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if container.is_empty() {
            let message = format!("{:?} names no bucket", redacted(url));
            return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
        }
        Ok(Self { container, prefix })
    }
}

/// `object_store` tries nothing again: the client does.
pub(crate) fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

/// An error of a configuration, without what it may quote of it.
pub(crate) fn misconfigured(e: &object_store::Error) -> StoreError {
    let e = crate::error::read_error(e);
    StoreError::new(StoreErrorKind::InvalidArgument, e.to_string())
}
