//! Reads ranges of one version of an object, within a limit.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use web_sys::RequestCache;
use zarr_store::http::{HttpFailure, Why};
use zarr_traits::{ByteRange, StoreResult, Version};

use crate::answer::Mark;
use crate::send::Part;
use crate::store::Settings;

/// The number of times that an object that changes while it is read is read again.
const AGAIN: usize = 2;

/// The ranges of an existing object.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) parts: Vec<Bytes>,
    pub(crate) mark: Mark,
}

impl Settings {
    /// Reads all `ranges` of one version, at most `most` bytes in all. `None`: there is no object.
    pub(crate) async fn read(
        &self,
        url: &str,
        ranges: &[ByteRange],
        pinned: Option<&Version>,
        most: u64,
    ) -> StoreResult<Option<Found>> {
        let known = ranges.iter().filter_map(|range| len_of(*range)).fold(0, u64::saturating_add);
        let Some(whole) = most.checked_sub(known) else {
            let text = format!("the ranges have {known} bytes, at most {most} are accepted");
            return Err(HttpFailure::new(Why::TooLarge(None), text).into());
        };
        let mut cache = self.cache;
        for _ in 0..=AGAIN {
            let found = self.parts(url, ranges, whole, cache).await?;
            if found.iter().all(Option::is_none) && !found.is_empty() {
                return Ok(None);
            }
            let found: Option<Vec<Part>> = found.into_iter().collect();
            let Some(found) = found.and_then(of_one_version) else {
                // The cache of the browser may hold an older version.
                cache = RequestCache::Reload;
                continue;
            };
            if pinned.is_some() && found.mark.version().as_ref() != pinned {
                return Err(
                    HttpFailure::new(Why::Changed, "the object is no longer the requested version").into()
                );
            }
            return Ok(Some(found));
        }
        Err(HttpFailure::new(Why::Changed, "the object changes while it is read").into())
    }

    /// Reads all `ranges`, each with a request. A range of unknown length may have at most `whole` bytes.
    async fn parts(
        &self,
        url: &str,
        ranges: &[ByteRange],
        whole: u64,
        cache: RequestCache,
    ) -> Result<Vec<Option<Part>>, HttpFailure> {
        let requests: Vec<_> = ranges.iter().map(|range| self.part(url, *range, whole, cache)).collect();
        stream::iter(requests).buffered(self.in_flight.max(1)).try_collect().await
    }

    /// Reads one range.
    async fn part(
        &self,
        url: &str,
        range: ByteRange,
        whole: u64,
        cache: RequestCache,
    ) -> Result<Option<Part>, HttpFailure> {
        let no_suffix = || self.no_suffix.load(Ordering::Relaxed);
        match range {
            ByteRange::Span { len: 0, .. } | ByteRange::Suffix(0) => {
                return self.part_of_known_size(url, range, whole).await;
            }
            ByteRange::Suffix(_) if no_suffix() => {
                return self.part_of_known_size(url, range, whole).await;
            }
            _ => {}
        }
        let failure = match self.get(url, range, len_of(range).unwrap_or(whole), cache).await {
            Err(failure) => failure,
            got => return got,
        };
        // Servers report in many ways that an object is empty or that they support no suffix.
        let is_suffix = matches!(range, ByteRange::Suffix(_));
        match failure.why {
            Why::Range(None) => self.part_of_known_size(url, range, whole).await,
            Why::Range(_) if is_suffix => self.part_of_known_size(url, range, whole).await,
            Why::Unsupported | Why::Wrong if is_suffix => {
                let part = self.part_of_known_size(url, range, whole).await?;
                self.no_suffix.store(true, Ordering::Relaxed);
                Ok(part)
            }
            _ => Err(failure),
        }
    }

    /// Reads one range after requesting the size.
    async fn part_of_known_size(
        &self,
        url: &str,
        range: ByteRange,
        whole: u64,
    ) -> Result<Option<Part>, HttpFailure> {
        let Some(mark) = self.head(url).await? else { return Ok(None) };
        let size = mark.size().unwrap_or(0);
        let wanted = range.resolve(size).map_err(|_| HttpFailure::outside(Some(size)))?;
        let len = wanted.end - wanted.start;
        if len == 0 {
            return Ok(Some(Part { bytes: Vec::new(), mark }));
        }
        if len > whole && len_of(range).is_none() {
            return Err(crate::window::too_large(Some(size), whole));
        }
        let span = ByteRange::Span { offset: wanted.start, len };
        let part = self.get(url, span, len, RequestCache::NoStore).await?;
        // A replaced object shows itself by another mark, unless the server sends none.
        let stays = |part: &Part| part.mark.fits(&mark);
        match part {
            Some(part) if stays(&part) => Ok(Some(Part { mark, ..part })),
            Some(_) => Err(HttpFailure::new(Why::Changed, "the object changes while it is read")),
            None => Ok(None),
        }
    }
}

/// Returns the ranges, or `None` if they are of different versions.
fn of_one_version(parts: Vec<Part>) -> Option<Found> {
    let mut mark = Mark::default();
    for part in &parts {
        if !mark.fits(&part.mark) {
            return None;
        }
        mark = mark.or(&part.mark);
    }
    Some(Found { parts: parts.into_iter().map(|part| part.bytes.into()).collect(), mark })
}

/// Returns the length of `range`, if it has one.
fn len_of(range: ByteRange) -> Option<u64> {
    match range {
        ByteRange::All | ByteRange::Suffix(_) => None,
        ByteRange::Span { len, .. } => Some(len),
    }
}
