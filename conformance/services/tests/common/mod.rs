//! How tests reach the services.
#![allow(dead_code, reason = "each test uses what it needs")]

use zarr_services::{Azurite, Moto};
use zarr_traits::{Access, Schemes, Storage, block_on};

/// The storage at a URL.
pub(crate) fn opened(url: &str, access: &Access) -> Storage {
    block_on(Schemes::new(&[zarr_store_object::SCHEMES]).open(url, access)).unwrap().storage
}

fn variables<const N: usize>(variables: [(&str, String); N]) -> Access {
    Access::new().environment(variables.map(|(name, value)| (name.to_owned(), value)))
}

/// Who may do everything in what speaks S3 at `endpoint`.
pub(crate) fn s3(endpoint: &str) -> Access {
    let keys = [
        ("AWS_ACCESS_KEY_ID", Moto::ACCESS_KEY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", Moto::SECRET_KEY.to_owned()),
    ];
    variables(keys).endpoint(endpoint).region(Moto::REGION)
}

/// Who may do everything in Azurite.
pub(crate) fn azure(azurite: &Azurite) -> Access {
    let account = [
        ("AZURE_STORAGE_ACCOUNT_NAME", Azurite::ACCOUNT.to_owned()),
        ("AZURE_STORAGE_ACCOUNT_KEY", Azurite::KEY.to_owned()),
    ];
    variables(account).endpoint(azurite.url())
}
