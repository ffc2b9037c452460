//! Judges the head of an answer: its status and headers.
//!
//! A browser hides most headers of another origin unless that server lists them in `Access-Control-Expose-Headers`. So
//! every header may be missing, and a range without `Content-Range` is judged by its length.

use zarr_store::http::{self, HttpFailure, Why};
use zarr_traits::{ByteRange, Version};

use crate::window::{Keep, too_large};

/// The status and the headers of an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) content_length: Option<String>,
    pub(crate) content_range: Option<String>,
    pub(crate) content_encoding: Option<String>,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    pub(crate) retry_after: Option<String>,
}

/// How the body of an answer is read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) keep: Keep,
    /// The number of bytes that are likely to be kept.
    pub(crate) expected: Option<u64>,
    /// The size of the object, if the head says it.
    pub(crate) size: Option<u64>,
}

/// The signs by which two answers about different versions of an object can be told apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    tag: Option<String>,
    modified: Option<String>,
    size: Option<u64>,
}

impl Head {
    /// Returns the size of the object from the header `Content-Range`.
    pub(crate) fn total(&self) -> Option<u64> {
        http::content_range(self.content_range.as_deref()?).1
    }

    /// Returns the number of bytes of the body, unless it is encoded.
    pub(crate) fn length(&self) -> Option<u64> {
        let is_plain = self.content_encoding.as_deref().is_none_or(|coding| coding == "identity");
        self.content_length.as_deref()?.trim().parse().ok().filter(|_| is_plain)
    }

    /// Returns the signs of the version, for an object of `size` bytes if known.
    pub(crate) fn mark(&self, size: Option<u64>) -> Mark {
        Mark { tag: self.etag.clone(), modified: self.last_modified.clone(), size }
    }

    /// Returns how to read the answer to a request for `range`, of which at most `most` bytes are accepted. `None`: there
    /// is no object.
    pub(crate) fn plan(&self, range: ByteRange, most: u64) -> Result<Option<Plan>, HttpFailure> {
        match (self.status, range) {
            (404 | 410, _) => Ok(None),
            (200, ByteRange::All) => match self.length() {
                Some(size) if size > most => Err(too_large(Some(size), most)),
                size => Ok(Some(Plan { keep: Keep::AtMost(most), expected: size, size: None })),
            },
            // The server supports no ranges: the part is cut out of the whole object.
            (200, ByteRange::Span { offset, len }) => {
                Ok(Some(Plan { keep: Keep::Part { skip: offset, len }, expected: Some(len), size: None }))
            }
            (200, ByteRange::Suffix(n)) => {
                // An object above the limit has a suffix above the limit.
                let keep = if n > most { Keep::AtMost(most) } else { Keep::Last(n) };
                Ok(Some(Plan { keep, expected: None, size: None }))
            }
            (206, ByteRange::Span { .. } | ByteRange::Suffix(_)) => self.part(range, most).map(Some),
            _ => Err(self.failure()),
        }
    }

    fn part(&self, range: ByteRange, most: u64) -> Result<Plan, HttpFailure> {
        if self.content_encoding.as_deref().is_some_and(|coding| coding != "identity") {
            return Err(HttpFailure::new(Why::Unsupported, "the server sends ranges of encoded bytes"));
        }
        let most = match range {
            ByteRange::Span { len, .. } => len,
            ByteRange::Suffix(n) => n.min(most),
            ByteRange::All => most,
        };
        if let Some(told) = &self.content_range {
            let wanted = |size| range.resolve(size).map_err(|_| HttpFailure::outside(Some(size)));
            let fits = match http::content_range(told) {
                (Some(given), Some(size)) => given == wanted(size)?,
                (Some(given), None) => {
                    matches!(range, ByteRange::Span { offset, len } if given == (offset..offset.saturating_add(len)))
                }
                (None, _) => false,
            };
            if !fits {
                return Err(HttpFailure::new(Why::Wrong, format!("the server sent another range: {told:?}")));
            }
        }
        Ok(Plan { keep: Keep::AtMost(most), expected: self.length().or(Some(most)), size: self.total() })
    }

    /// Returns the failure for a status.
    pub(crate) fn failure(&self) -> HttpFailure {
        let why = match Why::of_status(self.status, self.total()) {
            Why::Range(size) => return HttpFailure::outside(size),
            why => why,
        };
        let retry_after = self.retry_after.as_deref().and_then(http::retry_after);
        HttpFailure::new(why, format!("the server answered {}", self.status)).with_retry_after(retry_after)
    }
}

impl Mark {
    /// Whether two answers may be about the same version: no sign that both have differs.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        fn alike<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        alike(&self.tag, &other.tag)
            && alike(&self.modified, &other.modified)
            && alike(&self.size, &other.size)
    }

    /// Returns the signs that are known from either answer.
    pub(crate) fn or(self, other: &Self) -> Self {
        Self {
            tag: self.tag.or_else(|| other.tag.clone()),
            modified: self.modified.or_else(|| other.modified.clone()),
            size: self.size.or(other.size),
        }
    }

    /// Returns the version. A weak tag is not used as one: two values may share it.
    pub(crate) fn version(&self) -> Option<Version> {
        let tag = self.tag.as_deref().filter(|tag| !tag.starts_with("W/"))?;
        Some(Version::new(tag.as_bytes()).with_etag(tag))
    }

    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }
}

/// Checks the number of bytes that a request for `range` has brought. `seen` bytes have arrived with the status
/// `status`. Returns the size of the object, if it is known then.
pub(crate) fn check_length(
    range: ByteRange,
    status: u16,
    kept: u64,
    seen: u64,
) -> Result<Option<u64>, HttpFailure> {
    let whole = (status == 200).then_some(seen);
    match range {
        ByteRange::Span { offset, len } if kept < len => {
            Err(HttpFailure::outside(Some(whole.unwrap_or(offset.saturating_add(kept)))))
        }
        // The rest of the body was not received.
        ByteRange::Span { .. } => Ok(None),
        ByteRange::All | ByteRange::Suffix(_) => Ok(whole),
    }
}

/// Returns the value of the header `Range`, or `None` for the whole object.
pub(crate) fn header_of(range: ByteRange) -> Option<String> {
    match range {
        ByteRange::All => None,
        ByteRange::Span { offset, len } => {
            let last = offset.saturating_add(len).saturating_sub(1);
            Some(format!("bytes={offset}-{last}"))
        }
        ByteRange::Suffix(n) => Some(format!("bytes=-{n}")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SPAN: ByteRange = ByteRange::Span { offset: 10, len: 5 };

    fn head(status: u16, content_range: &str) -> Head {
        let content_range = (!content_range.is_empty()).then(|| content_range.to_owned());
        Head { status, content_range, ..Head::default() }
    }

    #[test]
    fn an_answer_with_another_range_is_refused() {
        for (range, told, expected) in [
            (SPAN, "bytes 10-14/100", Ok(Some(100))),
            (SPAN, "bytes 10-14/*", Ok(None)),
            (SPAN, "", Ok(None)),
            (SPAN, "bytes 10-13/14", Err(Why::Range(Some(14)))),
            (SPAN, "bytes 11-15/100", Err(Why::Wrong)),
            (SPAN, "bytes 0-18446744073709551615/100", Err(Why::Wrong)),
            (SPAN, "nonsense", Err(Why::Wrong)),
            (ByteRange::Suffix(4), "bytes 96-99/100", Ok(Some(100))),
            (ByteRange::Suffix(400), "bytes 0-99/100", Ok(Some(100))),
            (ByteRange::Suffix(4), "bytes 95-98/100", Err(Why::Wrong)),
            (ByteRange::Suffix(4), "bytes 96-99/*", Err(Why::Wrong)),
            (ByteRange::All, "bytes 0-99/100", Err(Why::Wrong)),
        ] {
            let planned = head(206, told).plan(range, 1000);
            let found = planned.map(|plan| plan.and_then(|plan| plan.size)).map_err(|e| e.why);
            assert_eq!(found, expected, "{range:?}: {told}");
        }
    }

    #[test]
    fn a_server_without_ranges_sends_the_whole_object() {
        let keep = |range| head(200, "").plan(range, 1000).unwrap().unwrap().keep;
        assert_eq!(keep(SPAN), Keep::Part { skip: 10, len: 5 });
        assert_eq!(keep(ByteRange::Suffix(7)), Keep::Last(7));
        assert_eq!(keep(ByteRange::Suffix(2000)), Keep::AtMost(1000));
        assert_eq!(keep(ByteRange::All), Keep::AtMost(1000));
    }

    #[test]
    fn a_body_above_the_limit_is_refused_by_its_head() {
        let of_length = |coding: Option<&str>| Head {
            content_length: Some("2000".to_owned()),
            content_encoding: coding.map(str::to_owned),
            ..head(200, "")
        };
        let why = of_length(None).plan(ByteRange::All, 1000).unwrap_err().why;
        assert_eq!(why, Why::TooLarge(Some(2000)));
        assert!(of_length(Some("gzip")).plan(ByteRange::All, 1000).is_ok(), "the length is another one");
        assert!(of_length(None).plan(ByteRange::All, 2000).is_ok());
    }

    #[test]
    fn statuses_mean_what_the_caller_can_do() {
        for status in [404, 410] {
            assert_eq!(head(status, "").plan(ByteRange::All, 9), Ok(None));
        }
        for (status, why) in [
            (403, Why::Refused),
            (416, Why::Range(None)),
            (405, Why::Unsupported),
            (429, Why::NotTaken),
            (503, Why::Broken),
            (400, Why::Wrong),
            (301, Why::Wrong),
            (204, Why::Wrong),
        ] {
            assert_eq!(head(status, "").plan(ByteRange::All, 9).unwrap_err().why, why, "{status}");
        }
        assert_eq!(head(416, "bytes */7").failure().why, Why::Range(Some(7)));
        let busy = Head { retry_after: Some("3".to_owned()), ..head(503, "") };
        assert_eq!(busy.failure().retry_after, Some(Duration::from_secs(3)));
    }

    #[test]
    fn an_answer_shorter_than_the_range_says_that_the_object_ends_there() {
        let short = |status, kept, seen| check_length(SPAN, status, kept, seen).map_err(|e| e.why);
        assert_eq!(short(206, 5, 5), Ok(None));
        assert_eq!(short(206, 3, 3), Err(Why::Range(Some(13))));
        assert_eq!(short(200, 3, 13), Err(Why::Range(Some(13))));
        assert_eq!(short(200, 0, 4), Err(Why::Range(Some(4))));
        assert_eq!(check_length(ByteRange::Suffix(4), 200, 4, 100), Ok(Some(100)));
        assert_eq!(check_length(ByteRange::Suffix(4), 206, 4, 4), Ok(None));
    }

    #[test]
    fn versions_are_strong_tags_and_other_signs_tell_versions_apart() {
        let mark = |tag: &str, modified: &str, size| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Mark { tag: some(tag), modified: some(modified), size }
        };
        assert_eq!(mark("\"a\"", "", None).version().unwrap().token(), b"\"a\"");
        assert_eq!(mark("W/\"a\"", "", None).version(), None);
        for (a, b, fits) in [
            (mark("\"a\"", "", Some(1)), mark("\"a\"", "x", None), true),
            (mark("\"a\"", "", None), mark("\"b\"", "", None), false),
            (mark("W/\"a\"", "", None), mark("W/\"b\"", "", None), false),
            (mark("", "x", None), mark("", "y", None), false),
            (mark("", "x", Some(1)), mark("", "x", Some(2)), false),
            (mark("", "", None), mark("\"b\"", "y", Some(2)), true),
        ] {
            assert_eq!(a.fits(&b), fits, "{a:?} {b:?}");
        }
    }

    #[test]
    fn ranges_are_spelled_for_http() {
        assert_eq!(header_of(SPAN).unwrap(), "bytes=10-14");
        assert_eq!(header_of(ByteRange::Suffix(3)).unwrap(), "bytes=-3");
        assert_eq!(header_of(ByteRange::All), None);
    }
}
