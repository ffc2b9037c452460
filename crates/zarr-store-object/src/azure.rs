//! Azure Blob Storage: `az://container/prefix` with the account in the environment, or
//! `abfs://container@account.dfs.core.windows.net/prefix`.

use std::sync::Arc;

use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use zarr_store::{Access, PathEncoding, Scheme};
use zarr_traits::{Storage, StoreError, StoreErrorKind, StoreResult, store::Store as _};

use crate::client::Client;
use crate::cloud::{Place, retries};
use crate::services::{misconfigured, no_retries};

/// The scheme `name`: `az`, `abfs` or `abfss`.
pub(crate) const fn scheme(name: &'static str) -> Scheme {
    Scheme::root(name, PathEncoding::Plain, open)
}

/// The number of objects in one delete request.
const BATCH: usize = 256;

fn open(url: &str, access: &Access) -> StoreResult<Storage> {
    let mut place = Place::parse(url)?;
    let mut builder = MicrosoftAzureBuilder::new().with_retry(no_retries()).with_http_connector(Client::new(
        retries(access),
        None,
        access,
    )?);
    let mut account = None;
    for (name, value) in
        access.environment.iter().filter(|(name, value)| name.starts_with("AZURE_") && !value.is_empty())
    {
        match name.to_ascii_lowercase().parse() {
            Ok(AzureConfigKey::ContainerName | AzureConfigKey::Client(_)) | Err(_) => {}
            Ok(key) => {
                if key == AzureConfigKey::AccountName {
                    account = Some(value.clone());
                }
                builder = builder.with_config(key, value);
            }
        }
    }
    for (name, value) in
        access.variable("AZURE_STORAGE_CONNECTION_STRING").map(connection).unwrap_or_default()
    {
        match name {
            "AccountName" => {
                account = Some(value.to_owned());
                builder = builder.with_account(value);
            }
            "AccountKey" => builder = builder.with_access_key(value),
            "BlobEndpoint" => builder = builder.with_endpoint(value.to_owned()),
            "SharedAccessSignature" => builder = builder.with_config(AzureConfigKey::SasKey, value),
            _ => {}
        }
    }
    if let Some((container, host)) = place.container.split_once('@') {
        place.container = container;
        let name = host.split('.').next().unwrap_or(host);
        account = Some(name.to_owned());
        builder = builder.with_account(name);
    }
    if account.is_none() {
        let message = "no Azure account: name it in the URL (abfs://container@account.dfs.core.windows.net/…), \
                       AZURE_STORAGE_ACCOUNT_NAME or AZURE_STORAGE_CONNECTION_STRING";
        return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
    }
    if let Some(endpoint) = &access.endpoint {
        builder = builder.with_endpoint(endpoint.clone());
    }
    if access.anonymous {
        builder = builder.with_skip_signature(true);
    }
    let store = builder.with_container_name(place.container).build().map_err(|e| misconfigured(&e))?;
    let store = Arc::new(store);
    let storage = place.storage(store.clone(), access)?.with_service(|service| {
        // Only some services of Azure can list from a key on, and those with a hierarchical namespace have another
        // order.
        service.ordered = false;
        service.pages = Some(store);
        service.batch = BATCH;
    });
    let mut capabilities = storage.capabilities();
    capabilities.suffix = false;
    Ok(Storage::from(storage.with_capabilities(capabilities)))
}

/// Splits a connection string: `Name=value;…`.
fn connection(text: &str) -> Vec<(&str, &str)> {
    text.split(';').filter_map(|setting| setting.split_once('=')).map(|(k, v)| (k.trim(), v.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_account_is_an_error() {
        let e = open("az://container/a", &Access::new()).unwrap_err();
        assert!(format!("{e:#}").contains("AZURE_STORAGE_ACCOUNT_NAME"), "{e:#}");
        assert!(open("az://", &Access::new()).is_err());
    }

    #[test]
    fn connection_strings_are_read() {
        let text = "AccountName=a;AccountKey=k==;BlobEndpoint=http://127.0.0.1:1/a;";
        assert_eq!(
            connection(text),
            [("AccountName", "a"), ("AccountKey", "k=="), ("BlobEndpoint", "http://127.0.0.1:1/a")]
        );
    }
}
