//! Google Cloud Storage: `gs://bucket/prefix`.

use std::sync::Arc;

use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use zarr_store::{Access, PathEncoding, Scheme};
use zarr_traits::{Storage, StoreResult};

use crate::client::Client;
use crate::cloud::{Place, retries};
use crate::services::{misconfigured, no_retries};

pub(crate) const SCHEME: Scheme = Scheme::root("gs", PathEncoding::Plain, open);

fn open(url: &str, access: &Access) -> StoreResult<Storage> {
    let place = Place::parse(url)?;
    let mut builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(place.container)
        .with_retry(no_retries())
        .with_http_connector(Client::new(retries(access), None, access)?);
    for (name, value) in
        access.environment.iter().filter(|(name, value)| name.starts_with("GOOGLE_") && !value.is_empty())
    {
        match name.to_ascii_lowercase().parse() {
            Ok(GoogleConfigKey::Bucket | GoogleConfigKey::Client(_)) | Err(_) => {}
            Ok(key) => builder = builder.with_config(key, value),
        }
    }
    if let Some(endpoint) = &access.endpoint {
        builder = builder.with_base_url(endpoint.trim_end_matches('/'));
    }
    if access.anonymous {
        builder = builder.with_skip_signature(true);
    }
    let store = Arc::new(builder.build().map_err(|e| misconfigured(&e))?);
    let storage = place.storage(store.clone(), access)?.with_service(|service| {
        service.pages = Some(store);
        service.ordered = true;
    });
    let container = format!("gs {} {}", access.endpoint.as_deref().unwrap_or_default(), place.container);
    Ok(Storage::from(storage.with_copies(container)))
}
