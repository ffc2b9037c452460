//! The ranges of requests, and checks that answers match them.

use std::ops::Range;

use bytes::Bytes;
use http::header::CONTENT_RANGE;
use http::{HeaderMap, Response};

use zarr_store::http::{HttpFailure, Why, content_range};

/// Returns the size of the object from the answer to a range.
pub(crate) fn size_told(headers: &HeaderMap) -> Option<u64> {
    content_range(headers.get(CONTENT_RANGE)?.to_str().ok()?).1
}

/// The parsed header `Range`. Only spans and suffixes are ever sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Span { first: u64, last: Option<u64> },
    Suffix(u64),
}

impl Asked {
    /// The range of a request without a range.
    pub(crate) const WHOLE: Self = Self::Span { first: 0, last: None };

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
        Some(match (first, last) {
            ("", n) => Self::Suffix(n.parse().ok()?),
            (first, "") => Self::Span { first: first.parse().ok()?, last: None },
            (first, last) => Self::Span { first: first.parse().ok()?, last: Some(last.parse().ok()?) },
        })
    }

    /// Returns the largest number of bytes, if the range has one.
    pub(crate) fn len(self) -> Option<u64> {
        match self {
            Self::Suffix(n) => Some(n),
            Self::Span { first, last } => last?.checked_sub(first)?.checked_add(1),
        }
    }

    /// Returns the part of an object of `size` bytes, or `None` if the range is outside.
    fn of(self, size: u64) -> Option<Range<u64>> {
        match self {
            Self::Suffix(n) => (size > 0).then(|| size.saturating_sub(n)..size),
            Self::Span { first, last } => {
                let end = last.map_or(size, |last| last.saturating_add(1).min(size));
                (first < size).then_some(first..end)
            }
        }
    }

    /// Returns the part of an object of `size` bytes, or a failure if the range is outside.
    pub(crate) fn within(self, size: u64) -> Result<Range<u64>, HttpFailure> {
        self.of(size).ok_or_else(|| HttpFailure::outside(Some(size)))
    }

    /// Checks that an answer 206 has exactly these bytes: some servers send others, or a part that was not requested.
    pub(crate) fn check(self, answer: &Response<Bytes>) -> Result<(), HttpFailure> {
        let told = answer.headers().get(CONTENT_RANGE).and_then(|told| told.to_str().ok());
        let (range, size) = told.map_or((None, None), content_range);
        let asked = match (self, size) {
            (asked, Some(size)) => asked.of(size),
            (Self::Span { first, last: Some(last) }, None) => last.checked_add(1).map(|end| first..end),
            _ => None,
        };
        let len = answer.body().len() as u64;
        // Some servers send no bytes instead of an error for a range outside of the object.
        if size.is_some() && len == 0 && asked.is_none() {
            return Err(HttpFailure::outside(size));
        }
        let fits = range
            .is_some_and(|range| range.start.checked_add(len) == Some(range.end) && asked == Some(range));
        let text =
            || format!("the answer has other bytes than requested: {:?}", told.unwrap_or("unknown ones"));
        if fits { Ok(()) } else { Err(HttpFailure::new(Why::Broken, text())) }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn ranges_are_resolved_against_the_size() {
        for (asked, size, part) in [
            ("bytes=0-9", 100, Some(0..10)),
            ("bytes=90-200", 100, Some(90..100)),
            ("bytes=100-", 100, None),
            ("bytes=7-", 100, Some(7..100)),
            ("bytes=-4", 100, Some(96..100)),
            ("bytes=-400", 100, Some(0..100)),
            ("bytes=-4", 0, None),
        ] {
            assert_eq!(Asked::parse(asked).unwrap().of(size), part, "{asked} of {size}");
        }
        assert_eq!(Asked::parse("bytes=0-1,5-6"), None);
        assert_eq!(Asked::parse("lines=0-1"), None);
    }

    #[test]
    fn an_answer_with_other_bytes_is_refused() {
        let answer = |told: &str, len: usize| {
            let mut answer = Response::new(Bytes::from(vec![0; len]));
            answer.headers_mut().insert(CONTENT_RANGE, told.parse().unwrap());
            answer
        };
        for (asked, told, len, right) in [
            ("bytes=0-9", "bytes 0-9/100", 10, true),
            ("bytes=0-9", "bytes 0-9/*", 10, true),
            ("bytes=90-109", "bytes 90-99/100", 10, true),
            ("bytes=-4", "bytes 96-99/100", 4, true),
            ("bytes=0-9", "bytes 0-4/100", 5, false),
            ("bytes=0-9", "bytes 1-10/100", 10, false),
            ("bytes=0-9", "bytes 0-9/100", 9, false),
            ("bytes=0-9", "bytes 0-18446744073709551615/100", 10, false),
            ("bytes=-4", "bytes 95-98/100", 4, false),
            ("bytes=-4", "bytes 96-99/*", 4, false),
            ("bytes=0-9", "nonsense", 10, false),
        ] {
            let checked = Asked::parse(asked).unwrap().check(&answer(told, len));
            assert_eq!(checked.is_ok(), right, "{asked}: {told}, {len} bytes");
        }
    }

    #[test]
    fn an_empty_answer_is_accepted_only_outside_of_the_object() {
        let mut answer = Response::new(Bytes::new());
        answer.headers_mut().insert(CONTENT_RANGE, HeaderValue::from_static("bytes 10-9/10"));
        let check = |asked: &str| Asked::parse(asked).unwrap().check(&answer).unwrap_err().why;
        assert_eq!(check("bytes=10-10"), Why::Range(Some(10)));
        assert_eq!(check("bytes=9-9"), Why::Broken);
    }
}
