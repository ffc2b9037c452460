//! `zarr checksum --stored`: the SHA-256 of each object.

use std::sync::Mutex;

use sha2::{Digest, Sha256};
use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::store::Listed;
use zarr_array::traits::{Bytes, StoreResult};

use super::data::hexadecimal;
use crate::args::target::Target;
use crate::crew;
use crate::exit::Failure;
use crate::out::progress::Progress;
use crate::stored::Keys;

/// The number of objects whose digests are printed together.
const BATCH: usize = 1024;

/// The largest size in bytes of an object whose size is not listed.
const UNKNOWN: u64 = 1 << 30;

/// Calls `add` with the key of each object below the node, relative to it, and its digest, in the order of keys.
pub(super) fn each(
    target: &Target,
    progress: &Progress,
    add: &mut impl FnMut(String, String) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if !target.lists() {
        return Err(target.fail(Failure::unsupported("the store cannot list its objects")));
    }
    progress.at(&target.path);
    let prefix = target.prefix()?;
    let mut keys = Keys::new(&target.storage, prefix.clone());
    let size = |(_, listed): &(usize, Listed)| listed.meta.size.unwrap_or(0);
    loop {
        let batch = keys.by_ref().take(BATCH).collect::<Result<Vec<_>, _>>().map_err(|e| target.fail(e))?;
        if batch.is_empty() {
            return Ok(());
        }
        let digests: Mutex<Vec<Option<(String, String)>>> = Mutex::new(vec![None; batch.len()]);
        // An object that was deleted meanwhile has no line. One that grew is refused.
        let read = async |(_, listed): &(usize, Listed)| {
            target.storage.get(&listed.key, listed.meta.size.unwrap_or(UNKNOWN)).await
        };
        let job = |(number, listed): (usize, Listed), object: StoreResult<Option<Bytes>>| {
            let name = prefix.strip(&listed.key).unwrap_or_default().to_owned();
            let object = object.map_err(|e| target.fail(e))?;
            let line = object.map(|object| (name, hexadecimal(&Sha256::digest(&object))));
            if let Some(place) = unpoisoned(digests.lock()).get_mut(number) {
                *place = line;
            }
            progress.add(1);
            Ok(())
        };
        let items = batch.into_iter().enumerate().map(Ok);
        crew::each_read(&[&target.storage], items, size, read, job)?;
        for (name, digest) in unpoisoned(digests.into_inner()).into_iter().flatten() {
            add(name, digest)?;
        }
    }
}
