//! `zarr validate --data`: decodes all chunks and lists those that cannot be decoded.

use std::error::Error;
use std::sync::Mutex;

use zarr_array::blocking::Array;
use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::strided::Dims;
use zarr_array::traits::{Bytes, Key};
use zarr_array::{ArrayError, ArrayErrorKind, ArrayResult, DataType};

use super::dangling::{self, Targets};
use super::finding::{Finding, Place, Weight};
use crate::crew;
use crate::exit::{Exit, Failure};
use crate::out::progress::Progress;
use crate::out::table::{count, product};
use crate::stored::{Object, Stored};

/// The number of decoded chunks.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Checked {
    pub(super) chunks: u64,
    pub(super) inner_chunks: u64,
    /// The sizes of the stored objects.
    pub(super) bytes: u64,
    pub(super) missing: u128,
}

impl Checked {
    pub(super) fn add(&mut self, other: Self) {
        self.chunks += other.chunks;
        self.inner_chunks += other.inner_chunks;
        self.bytes += other.bytes;
        self.missing = self.missing.saturating_add(other.missing);
    }
}

/// Decodes all stored chunks of an array. Returns the findings in the order of chunks, and the error that ended the
/// listing of the array, if there is one.
pub(super) fn check(array: &Array, progress: &Progress) -> (Checked, Vec<Finding>) {
    progress.at(array.path());
    let state = Mutex::new((Checked::default(), Vec::new(), Targets::default()));
    let add = |checked: Checked, found: Vec<Finding>| {
        let (all, findings, targets) = &mut *unpoisoned(state.lock());
        all.add(checked);
        findings.extend(found.into_iter().filter_map(|finding| targets.add(finding)));
    };
    let size = |object: &Object| {
        let chunk = object.chunk.as_ref().ok().and_then(|index| array.chunk_shape(index)).unwrap_or_default();
        let decoded =
            chunk.iter().fold(array.data_type().memory_size() as u64, |n, len| n.saturating_mul(*len));
        object.listed.meta.size.unwrap_or(decoded).saturating_add(decoded)
    };
    let own = array.clone().into_async();
    let read = async |object: &Object| match &object.chunk {
        Ok(index) => own.read_encoded_chunk(index).await,
        Err(_) => Ok(None),
    };
    let job = |object: Object, read: ArrayResult<Option<Bytes>>| {
        let key = object.listed.key;
        match &object.chunk {
            Ok(index) => {
                let (checked, found) = chunk(array, index, &key, read);
                add(checked, found);
            }
            Err(why) => add(Checked::default(), vec![stray(&key, why)]),
        }
        progress.add(1);
        Ok(())
    };
    let listed = match objects(array) {
        Ok(objects) => crew::each_read(&[array.storage()], objects, size, read, job),
        Err(e) => Err(e),
    };
    let (mut checked, mut found, targets) = unpoisoned(state.into_inner());
    found.extend(targets.findings());
    found.sort_by(|a, b| a.order().cmp(&b.order()));
    match listed {
        Ok(()) => {
            let all = product(&array.chunk_counts()).unwrap_or(u128::MAX);
            checked.missing = all.saturating_sub(checked.chunks.into());
            found.extend(missing(checked.missing));
        }
        Err(e) => {
            let message = format!("the chunks cannot be listed, so not all are checked: {}", e.message());
            found.push(Finding::of("unreadable-chunk", String::new(), message).exits(e.exit()));
        }
    }
    (checked, found)
}

/// Returns the objects of the array; all places of chunks if the store cannot list.
fn objects(array: &Array) -> Result<Box<dyn Iterator<Item = Result<Object, Failure>> + Send + '_>, Failure> {
    if array.storage().capabilities().list {
        return Ok(Box::new(Stored::of(array)?.map(|object| object.map_err(Failure::from))));
    }
    Ok(Box::new(array.chunks(..)?.map(|chunk| Ok(Object::expected(array, chunk.index())?))))
}

/// Decodes one chunk, which was read.
fn chunk(
    array: &Array,
    index: &Dims,
    key: &Key,
    read: ArrayResult<Option<Bytes>>,
) -> (Checked, Vec<Finding>) {
    let finding = |inner_start: Option<Vec<u64>>, e: &ArrayError| {
        let place = Place { key: key.to_string(), chunk: Some(index.to_vec()), inner_start };
        broken(place, e)
    };
    let object = match read {
        Ok(None) => return Default::default(),
        Ok(Some(object)) => object,
        Err(e) => return (Checked { chunks: 1, ..Checked::default() }, vec![finding(None, &e)]),
    };
    let mut checked = Checked { chunks: 1, bytes: object.len() as u64, ..Checked::default() };
    let found = match array.check_encoded_chunk(index, &object) {
        Err(e) => vec![finding(None, &e)],
        Ok(check) => {
            checked.inner_chunks = check.inner_chunks;
            let broken = check.broken.iter().map(|(start, e)| finding(Some(start.clone()), e));
            let mut broken: Vec<Finding> = broken.collect();
            if broken.is_empty() {
                broken.extend(elements(array, index).err().map(|e| finding(None, &e)));
            }
            broken
        }
    };
    (checked, found)
}

/// Checks the elements where not every byte is one: booleans are 0 and 1.
fn elements(array: &Array, index: &Dims) -> ArrayResult<()> {
    match array.data_type() {
        DataType::Bool => array.read::<bool>(array.chunk(index)?).map(drop),
        _ => Ok(()),
    }
}

/// Returns the finding for a chunk or an inner chunk that cannot be decoded.
fn broken(place: Place, e: &ArrayError) -> Finding {
    if let Some(dangling) = dangling::finding(&place, e) {
        return dangling;
    }
    let code = match e.kind() {
        ArrayErrorKind::Checksum => "checksum",
        ArrayErrorKind::Corrupt | ArrayErrorKind::Panic | ArrayErrorKind::InvalidArgument => "corrupt-chunk",
        _ => "unreadable-chunk",
    };
    let exit = if code == "unreadable-chunk" { e.kind().into() } else { Exit::Corrupt };
    // The place is shown beside the message.
    let message = e.source().map_or_else(|| format!("{e:#}"), |cause| format!("{cause:#}"));
    Finding::of(code, String::new(), message).exits(exit).at(place)
}

pub(super) fn stray(key: &Key, why: &str) -> Finding {
    let place = Place { key: key.to_string(), ..Place::default() };
    let finding = Finding::of("stray-object", String::new(), why.to_owned()).at(place);
    Finding { weight: Weight::Warning, ..finding }
}

fn missing(chunks: u128) -> Option<Finding> {
    let message = format!("{} not stored", count(u64::try_from(chunks).unwrap_or(u64::MAX), "chunk"));
    let finding = Finding::of("missing-chunks", String::new(), message);
    (chunks > 0).then_some(Finding { weight: Weight::Info, ..finding })
}
