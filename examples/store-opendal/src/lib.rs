//! The services of Apache OpenDAL as stores: WebDAV, HDFS, SFTP, Google Drive and many more, each behind a feature of the
//! crate `opendal`. `object_store_opendal` makes an operator a store of the crate `object_store`, which
//! `zarr-store-object` makes a store of Zarr. Keys must be of ASCII letters, digits, `.`, `-`, `_` and `/`: that adapter
//! lists other characters wrong, as the test shows.

use std::sync::Arc;

use object_store_opendal::OpendalStore;
use opendal::{Capability, Operator};
use zarr_store_object::ObjectStorage;
use zarr_traits::{
    Storage, StoreResult,
    store::{Capabilities, Drive, Store},
};

/// Returns the storage of an operator. It has the conditional puts that the service has.
pub fn storage(operator: Operator) -> StoreResult<Storage> {
    let can: Capability = operator.info().capability();
    let store = ObjectStorage::new(Arc::new(OpendalStore::new(operator)))?;
    let mut capabilities: Capabilities = store.capabilities();
    capabilities.drive = Drive::remote(16, 64 << 10);
    capabilities.put_create = can.write_with_if_not_exists;
    capabilities.put_if = can.write_with_if_match;
    Ok(Storage::from(store.with_capabilities(capabilities)))
}
