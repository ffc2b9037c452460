//! Reads ranges of one version of an object, within a limit.

use std::time::SystemTime;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error, Extensions, GetOptions, GetRange, GetResult, GetResultPayload, UpdateVersion};
use zarr_traits::{ByteRange, StoreError, StoreErrorKind, StoreResult, Version, store::ObjectMeta};

use crate::bucket::Bucket;
use crate::error::{is_absent, read_error};
use crate::gathered::{AtMost, Gathered, Refused};
use crate::marks::Marks;

/// The result of reading an existing object.
pub(crate) enum Found {
    /// The bytes of each range.
    Parts { parts: Vec<Bytes>, meta: ObjectMeta },
    /// The object has `size` bytes, but only `most` are allowed for it.
    Larger { size: u64, most: u64 },
}

/// The result of a request for one range.
enum Got {
    Absent,
    Larger(u64),
    Part(Part),
}

/// A range of one version of an object.
struct Part {
    bytes: Bytes,
    size: u64,
    version: Option<Version>,
}

/// The result of requests for several ranges.
enum Parts {
    Absent,
    Larger(u64),
    Alike(Vec<Part>),
    /// The object was replaced meanwhile; with the versions seen.
    Mixed(Vec<Version>),
}

impl Bucket {
    /// Returns the size and version of an object.
    pub(crate) async fn head(&self, path: &Path) -> StoreResult<Option<ObjectMeta>> {
        Ok(self.stat(path).await?.map(|(size, version)| ObjectMeta::new(size, version)))
    }

    /// Returns the size, which every service sends, and the version.
    pub(crate) async fn stat(&self, path: &Path) -> StoreResult<Option<(u64, Option<Version>)>> {
        let _slot = self.slot().await;
        match self.store.get_opts(path, GetOptions { head: true, ..GetOptions::default() }).await {
            Ok(result) => Ok(Some((result.meta.size, version_of(&result)))),
            Err(e) if is_absent(&e) => Ok(None),
            Err(e) => Err(read_error(&e)),
        }
    }

    /// Reads all `ranges` of one version, at most `most` bytes in all.
    pub(crate) async fn read(
        &self,
        path: &Path,
        ranges: &[ByteRange],
        pinned: Option<&Version>,
        most: u64,
    ) -> StoreResult<Option<Found>> {
        if ranges.is_empty() {
            // This checks whether the object exists.
            return Ok(self.head(path).await?.map(|meta| Found::Parts { parts: Vec::new(), meta }));
        }
        let whole = left_for_whole(ranges, most)?;
        let mut parts = self.parts(path, ranges, pinned, whole).await?;
        if let Parts::Mixed(seen) = parts {
            parts = self.parts_of_one(path, ranges, seen, whole).await?;
        }
        match parts {
            Parts::Absent => Ok(None),
            Parts::Larger(size) => Ok(Some(Found::Larger { size, most: whole })),
            Parts::Alike(parts) => {
                let meta = parts.first().map(|part| ObjectMeta::new(part.size, part.version.clone()));
                let parts = parts.into_iter().map(|part| part.bytes).collect();
                Ok(Some(Found::Parts { parts, meta: meta.unwrap_or_default() }))
            }
            Parts::Mixed(_) => {
                Err(StoreError::new(StoreErrorKind::Changed, "the object changes while it is read"))
            }
        }
    }

    /// Reads again, pinned to a version in `seen` that may still be current.
    async fn parts_of_one(
        &self,
        path: &Path,
        ranges: &[ByteRange],
        seen: Vec<Version>,
        whole: u64,
    ) -> StoreResult<Parts> {
        for version in &seen {
            match self.parts(path, ranges, Some(version), whole).await {
                Ok(Parts::Absent) => break,
                Err(e) if e.kind() == StoreErrorKind::Changed => continue,
                parts => return parts,
            }
        }
        Ok(Parts::Mixed(seen))
    }

    /// Reads all `ranges`, each with a request. A whole object may have at most `whole` bytes.
    async fn parts(
        &self,
        path: &Path,
        ranges: &[ByteRange],
        pinned: Option<&Version>,
        whole: u64,
    ) -> StoreResult<Parts> {
        let requests: Vec<_> =
            ranges.iter().map(|range| self.part(path, *range, pinned.cloned(), whole)).collect();
        let found: Vec<Got> = stream::iter(requests).buffered(self.in_flight()).try_collect().await?;
        let (asked, mut parts) = (found.len(), Vec::with_capacity(found.len()));
        for found in found {
            match found {
                Got::Absent => {}
                Got::Larger(size) => return Ok(Parts::Larger(size)),
                Got::Part(part) => parts.push(part),
            }
        }
        let alike =
            parts.windows(2).all(|two| two[0].size == two[1].size && two[0].version == two[1].version);
        Ok(match parts.len() {
            0 => Parts::Absent,
            n if n == asked && alike => Parts::Alike(parts),
            _ => {
                let seen = [parts.last(), parts.first()];
                Parts::Mixed(seen.into_iter().flatten().filter_map(|part| part.version.clone()).collect())
            }
        })
    }

    /// Reads one range.
    async fn part(
        &self,
        path: &Path,
        range: ByteRange,
        pinned: Option<Version>,
        whole: u64,
    ) -> StoreResult<Got> {
        let Some(wanted) = self.request(range) else {
            return self.part_of_known_size(path, range, pinned, whole).await;
        };
        let options = GetOptions {
            range: wanted,
            if_match: pinned.as_ref().and_then(|version| update_of(version).e_tag),
            extensions: allowed(len_of(range).unwrap_or(whole)),
            ..GetOptions::default()
        };
        let e = {
            let _slot = self.slot().await;
            match self.store.get_opts(path, options).await {
                Ok(result) => return take(result, range, pinned.as_ref(), whole).await,
                Err(e) => e,
            }
        };
        match e {
            e if is_absent(&e) => Ok(Got::Absent),
            Error::Precondition { .. } => Err(changed()),
            e if range == ByteRange::All => Err(read_error(&e)),
            e => self.part_after(path, range, pinned, whole, read_error(&e)).await,
        }
    }

    /// Returns the request for `range`, or `None` if the size of the object must be known first.
    fn request(&self, range: ByteRange) -> Option<Option<GetRange>> {
        match range {
            ByteRange::All => Some(None),
            ByteRange::Span { len: 0, .. } | ByteRange::Suffix(0) => None,
            ByteRange::Suffix(n) => self.capabilities.suffix.then_some(Some(GetRange::Suffix(n))),
            ByteRange::Span { offset, len } => {
                offset.checked_add(len).map(|end| Some(GetRange::Bounded(offset..end)))
            }
        }
    }

    /// Reads one range after requesting the size.
    async fn part_of_known_size(
        &self,
        path: &Path,
        range: ByteRange,
        pinned: Option<Version>,
        whole: u64,
    ) -> StoreResult<Got> {
        let Some((size, version)) = self.stat(path).await? else { return Ok(Got::Absent) };
        if pinned.is_some() && version != pinned {
            return Err(changed());
        }
        let range = range.resolve(size)?;
        if range.is_empty() {
            return Ok(Got::Part(Part { bytes: Bytes::new(), size, version }));
        }
        let span = ByteRange::from(range);
        Box::pin(self.part(path, span, version, whole)).await
    }

    /// Reads one range again, after a request failed with `e`. Services report in many ways that a range is outside of
    /// the object or that the object is empty; some support no suffixes, or none longer than the object.
    async fn part_after(
        &self,
        path: &Path,
        range: ByteRange,
        pinned: Option<Version>,
        whole: u64,
        e: StoreError,
    ) -> StoreResult<Got> {
        let suffix = match e.kind() {
            StoreErrorKind::Io => false,
            StoreErrorKind::Unsupported | StoreErrorKind::RangeNotSatisfiable { .. } => {
                matches!(range, ByteRange::Suffix(_))
            }
            _ => return Err(e),
        };
        let Some((size, _)) = self.stat(path).await? else { return Ok(Got::Absent) };
        if !suffix && !range.resolve(size)?.is_empty() {
            return Err(e);
        }
        self.part_of_known_size(path, range, pinned, whole).await
    }
}

/// Tells the client how many bytes of the answer are accepted.
fn allowed(most: u64) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(AtMost(most));
    extensions
}

/// Returns the length of `range`, if it has one.
fn len_of(range: ByteRange) -> Option<u64> {
    match range {
        ByteRange::All | ByteRange::Suffix(_) => None,
        ByteRange::Span { len, .. } => Some(len),
    }
}

/// Returns the limit for a range of unknown length, so that all `ranges` together have at most `most` bytes.
fn left_for_whole(ranges: &[ByteRange], most: u64) -> StoreResult<u64> {
    let known = ranges.iter().filter_map(|range| len_of(*range)).fold(0, u64::saturating_add);
    most.checked_sub(known).ok_or_else(|| {
        let message = format!("the ranges have {known} bytes, at most {most} are accepted");
        StoreError::new(StoreErrorKind::TooLarge { size: None }, message)
    })
}

/// Takes `range` from an answer. Checks the head before receiving the body.
async fn take(result: GetResult, range: ByteRange, pinned: Option<&Version>, whole: u64) -> StoreResult<Got> {
    let (size, version) = (result.meta.size, version_of(&result));
    if pinned.is_some() && version.as_ref() != pinned {
        return Err(changed());
    }
    let given = result.range.clone();
    if range != ByteRange::All && range.resolve(size)? != given {
        return Err(StoreError::new(StoreErrorKind::Io, "the service sent another range than requested"));
    }
    if len_of(range).is_none() && given.end - given.start > whole {
        return Ok(Got::Larger(size));
    }
    let bytes = receive(result, given.end - given.start).await?;
    Ok(Got::Part(Part { bytes, size, version }))
}

/// Receives the body of an answer, which has `len` bytes.
async fn receive(result: GetResult, len: u64) -> StoreResult<Bytes> {
    let other = |words: &str| {
        StoreError::new(StoreErrorKind::Io, format!("the service sent {words} bytes than declared"))
    };
    if !matches!(result.payload, GetResultPayload::Stream(_)) {
        // A file; only this range is read.
        return result.bytes().await.map_err(|e| read_error(&e));
    }
    let mut gathered = Gathered::new(len, Some(len));
    let mut body = result.into_stream();
    while let Some(part) = body.next().await {
        gathered.push(part.map_err(|e| read_error(&e))?).map_err(|refused| match refused {
            Refused::TooMuch => other("more"),
            Refused::NoMemory => {
                StoreError::new(StoreErrorKind::LimitExceeded, format!("there is no memory for {len} bytes"))
            }
        })?;
    }
    if gathered.len() as u64 == len { Ok(gathered.into_bytes()) } else { Err(other("fewer")) }
}

fn changed() -> StoreError {
    StoreError::new(StoreErrorKind::Changed, "the object is no longer the version asked for")
}

/// The time of the last change of an object whose server does not say it.
pub(crate) const UNKNOWN: SystemTime = SystemTime::UNIX_EPOCH;

/// Returns the version of an object, with its marks for a put that replaces it.
pub(crate) fn version_of(result: &GetResult) -> Option<Version> {
    let version = version(result.meta.e_tag.as_deref(), result.meta.version.as_deref());
    let modified = SystemTime::from(result.meta.last_modified);
    let version = version.map(|version| Marks::of(&result.attributes).on(version));
    if modified == UNKNOWN { version } else { version.map(|version| version.with_modified(modified)) }
}

/// Returns the version of an object with this tag and number. Weak tags are ignored: two values may share one.
pub(crate) fn version(tag: Option<&str>, number: Option<&str>) -> Option<Version> {
    let tag = tag.filter(|tag| !tag.starts_with("W/"));
    if tag.is_none() && number.is_none() {
        return None;
    }
    let version =
        Version::new(format!("{}\n{}", tag.unwrap_or_default(), number.unwrap_or_default()).into_bytes());
    Some(match tag {
        Some(tag) => version.with_etag(tag),
        None => version,
    })
}

/// Returns the tag and number of a version.
pub(crate) fn update_of(version: &Version) -> UpdateVersion {
    let text = String::from_utf8_lossy(version.token());
    let (tag, number) = text.split_once('\n').unwrap_or((&text, ""));
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    UpdateVersion { e_tag: some(tag), version: some(number) }
}
