//! Code shared by the services with buckets.

use object_store::RetryConfig;
use zarr_store::{has_query, redacted, scheme_of};
use zarr_traits::{StoreError, StoreErrorKind, StoreResult};

use crate::cloud::Place;

impl<'a> Place<'a> {
    /// Parses `scheme://container/prefix`. Keys in such URLs are not percent-encoded.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] if there is no container, or if the URL has credentials or a query: they would be
    /// sent as a part of the path.
    pub(crate) fn parse(url: &'a str) -> StoreResult<Self> {
        let wrong = |message| Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
        if has_query(url) {
            return wrong(format!(
                "{:?} has a query, and a URL of a bucket takes none; pass credentials in the environment",
                redacted(url)
            ));
        }
        let rest = scheme_of(url).map_or(url, |scheme| &url[scheme.len() + 3..]);
        let (container, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if container.is_empty() {
            return wrong(format!("{:?} names no bucket", redacted(url)));
        }
        if container.contains(':') {
            return wrong(format!(
                "{:?} holds credentials, or a port: a URL of a bucket has neither; pass credentials in the environment",
                redacted(url)
            ));
        }
        Ok(Self { container, prefix })
    }
}

/// Returns a configuration of `object_store` without retries, because [`Client`](crate::client::Client) retries.
pub(crate) fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

/// Converts the error of `object_store` about a wrong configuration. The message contains no secrets.
pub(crate) fn misconfigured(e: &object_store::Error) -> StoreError {
    let e = crate::error::read_error(e);
    StoreError::new(StoreErrorKind::InvalidArgument, format!("{e:#}"))
}
