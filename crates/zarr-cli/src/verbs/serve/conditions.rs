//! The conditions and the range of a request (RFC 9110, sections 13 and 14).

use std::ops::Range;

use hyper::HeaderMap;
use hyper::header::{self, HeaderName};
use sha2::{Digest, Sha256};
use zarr_array::traits::Version;

/// The part of an existing object that answers a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Whole,
    Part(Range<u64>),
    /// The client has this version already.
    NotModified,
    /// The client wants another version.
    Failed,
    /// The range is outside of the object.
    Unsatisfiable,
}

/// Decides what the headers of a request ask of an object of `size` bytes.
pub(super) fn wanted(headers: &HeaderMap, etag: Option<&str>, size: u64) -> Wanted {
    if headers.contains_key(header::IF_MATCH) && !names(headers, &header::IF_MATCH, etag, false) {
        return Wanted::Failed;
    }
    if names(headers, &header::IF_NONE_MATCH, etag, true) {
        return Wanted::NotModified;
    }
    let current = |condition: &str| Some(condition) == etag;
    match (text(headers, &header::RANGE), headers.get(header::IF_RANGE)) {
        (Some(range), None) => part(range, size),
        (Some(range), Some(condition)) if condition.to_str().is_ok_and(current) => part(range, size),
        _ => Wanted::Whole,
    }
}

/// Returns the ETag of a version: a digest, because a token may hold the name of a disk. A young version has none,
/// because the next one may have the same token.
pub(super) fn etag(version: &Version) -> Option<String> {
    let digest = Sha256::digest(version.unpinned()?.token());
    let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Some(format!("\"{digits}\""))
}

/// Whether a list of ETags names this one. Every object is named by `*`.
fn names(headers: &HeaderMap, name: &HeaderName, etag: Option<&str>, weak: bool) -> bool {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim).any(|given| {
        let given = if weak { given.strip_prefix("W/").unwrap_or(given) } else { given };
        given == "*" || Some(given) == etag
    })
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Reads a `Range`. Other units, several ranges and malformed ones are ignored, as the standard allows.
fn part(range: &str, size: u64) -> Wanted {
    let Some((first, last)) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Wanted::Whole;
    };
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first > last => Wanted::Whole,
        (Some(first), _) if first >= size && (last.is_empty() || number(last).is_some()) => {
            Wanted::Unsatisfiable
        }
        (Some(first), Some(last)) => Wanted::Part(first..last.saturating_add(1).min(size)),
        (Some(first), None) if last.is_empty() => Wanted::Part(first..size),
        (None, Some(0)) if first.is_empty() => Wanted::Unsatisfiable,
        (None, Some(_)) if first.is_empty() && size == 0 => Wanted::Unsatisfiable,
        (None, Some(last)) if first.is_empty() => Wanted::Part(size.saturating_sub(last)..size),
        _ => Wanted::Whole,
    }
}

/// Reads digits. A number that is too large is larger than every object.
fn number(digits: &str) -> Option<u64> {
    let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    valid.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    const TAG: &str = "\"a\"";

    fn of(headers: &[(HeaderName, &'static str)]) -> Wanted {
        let pairs = headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
        wanted(&pairs.collect(), Some(TAG), 10)
    }

    #[test]
    fn a_range_is_cut_at_the_end_ignored_or_refused() {
        for (range, wanted) in [
            ("bytes=0-3", Wanted::Part(0..4)),
            ("bytes=9-9", Wanted::Part(9..10)),
            ("bytes=4-", Wanted::Part(4..10)),
            ("bytes=4-99", Wanted::Part(4..10)),
            ("bytes=4-18446744073709551615", Wanted::Part(4..10)),
            ("bytes=4-99999999999999999999999", Wanted::Part(4..10)),
            ("bytes=-3", Wanted::Part(7..10)),
            ("bytes=-99", Wanted::Part(0..10)),
            ("bytes=10-", Wanted::Unsatisfiable),
            ("bytes=10-12", Wanted::Unsatisfiable),
            ("bytes=99999999999999999999999-", Wanted::Unsatisfiable),
            ("bytes=-0", Wanted::Unsatisfiable),
            ("bytes=5-4", Wanted::Whole),
            ("bytes=0-1,3-4", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("bytes=a-b", Wanted::Whole),
            ("bytes=+1-2", Wanted::Whole),
            ("lines=0-1", Wanted::Whole),
        ] {
            assert_eq!(of(&[(header::RANGE, range)]), wanted, "{range}");
        }
        assert_eq!(part("bytes=-1", 0), Wanted::Unsatisfiable);
        assert_eq!(part("bytes=0-", 0), Wanted::Unsatisfiable);
    }

    #[test]
    fn conditions_compare_etags() {
        let range = (header::RANGE, "bytes=1-2");
        for (condition, value, wanted) in [
            (header::IF_RANGE, "\"a\"", Wanted::Part(1..3)),
            (header::IF_RANGE, "\"b\"", Wanted::Whole),
            (header::IF_RANGE, "W/\"a\"", Wanted::Whole),
            (header::IF_RANGE, "Wed, 21 Oct 2015 07:28:00 GMT", Wanted::Whole),
            (header::IF_NONE_MATCH, "\"b\", W/\"a\"", Wanted::NotModified),
            (header::IF_NONE_MATCH, "*", Wanted::NotModified),
            (header::IF_NONE_MATCH, "\"b\"", Wanted::Part(1..3)),
            (header::IF_MATCH, "\"a\"", Wanted::Part(1..3)),
            (header::IF_MATCH, "W/\"a\"", Wanted::Failed),
            (header::IF_MATCH, "\"b\"", Wanted::Failed),
            (header::IF_MATCH, "*", Wanted::Part(1..3)),
        ] {
            assert_eq!(of(&[range.clone(), (condition.clone(), value)]), wanted, "{condition} {value}");
        }
    }

    #[test]
    fn a_young_version_has_no_etag() {
        assert_eq!(etag(&Version::new(*b"a").young()), None);
        assert_ne!(etag(&Version::new(*b"a")), etag(&Version::new(*b"b")));
    }
}
