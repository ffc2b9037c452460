//! Judges the answer to a listing before `object_store` does, and leaves out entries whose names it refuses.
//!
//! `object_store` takes any XML for a page of a listing, and a page without a token for the last one. One name with an empty
//! segment, `.`, `..` or a control character would fail the whole listing; no key can have such a name, and it must not
//! hide the other objects.

use std::mem;
use std::ops::Range;

use bytes::Bytes;
use http::{Method, Response, Uri};
use object_store::path::Path;
use zarr_store::http::{HttpFailure, Why};

use crate::xml::{Element, elements};

/// The elements of an entry and of its name: objects and prefixes of S3 and Google, then those of Azure.
const ENTRIES: [(&str, &str); 4] =
    [("Contents", "Key"), ("CommonPrefixes", "Prefix"), ("Blob", "Name"), ("BlobPrefix", "Name")];

/// The outermost elements of pages.
const PAGES: [&str; 2] = ["ListBucketResult", "EnumerationResults"];

/// Whether a request asks for a listing.
pub(crate) fn is_listing(method: &Method, uri: &Uri) -> bool {
    let mut query = uri.query().unwrap_or_default().split('&');
    method == Method::GET && query.any(|parameter| matches!(parameter, "list-type=2" | "comp=list"))
}

/// Returns the answer to a listing without the entries that have no usable name.
///
/// # Errors
/// [`Why::Wrong`] if a success is no page of a listing, says that more follows without saying where, or has fewer names than
/// it says.
pub(crate) fn listing(answer: Response<Bytes>) -> Result<Response<Bytes>, HttpFailure> {
    if !answer.status().is_success() {
        return Ok(answer);
    }
    let wrong = |text: &str| Err(HttpFailure::new(Why::Wrong, text));
    let page = Page::of(std::str::from_utf8(answer.body()).unwrap_or_default());
    if !page.is_page {
        return wrong("the answer is not a listing");
    }
    if page.is_truncated && !page.has_token {
        return wrong("the listing is not complete, and the service does not say where it continues");
    }
    // Services that count only objects, or nothing, have a smaller number.
    if page.count > page.names {
        return wrong(&format!("the listing says that it has {} names, but has {}", page.count, page.names));
    }
    Ok(answer.map(|body| page.nameable(body)))
}

/// The members of an answer that `object_store` does not read.
#[derive(Debug, Default)]
struct Page {
    is_page: bool,
    is_truncated: bool,
    has_token: bool,
    /// The number of names that S3 says are in the page: of objects and prefixes.
    count: u64,
    /// The number of names in the page, usable or not.
    names: u64,
    /// The places of entries that have no usable name.
    nameless: Vec<Range<usize>>,
}

impl Page {
    fn of(text: &str) -> Self {
        let (mut page, mut is_usable) = (Self::default(), true);
        elements(text, |Element { name, parent, text, place }| match name {
            _ if parent.is_empty() => page.is_page |= PAGES.contains(&name),
            // `1` is true as well, and a word that is not known may be.
            "IsTruncated" => page.is_truncated |= !is_false(text.trim()),
            "KeyCount" => page.count = text.trim().parse().unwrap_or(0),
            "NextContinuationToken" => page.has_token |= !text.is_empty(),
            _ if ENTRIES.contains(&(parent, name)) => {
                is_usable = self::is_usable(text);
                page.names += 1;
            }
            _ if ENTRIES.iter().any(|(entry, _)| *entry == name) => {
                let is_nameless = !mem::replace(&mut is_usable, true);
                page.nameless.extend(is_nameless.then_some(place));
            }
            _ => {}
        });
        page
    }

    /// Returns the text of the page without the entries that have no usable name.
    fn nameable(&self, body: Bytes) -> Bytes {
        if self.nameless.is_empty() {
            return body;
        }
        let starts = [0].into_iter().chain(self.nameless.iter().map(|entry| entry.end));
        let ends = self.nameless.iter().map(|entry| entry.start).chain([body.len()]);
        starts.zip(ends).flat_map(|(start, end)| body.get(start..end)).flatten().copied().collect()
    }
}

fn is_false(text: &str) -> bool {
    text == "0" || text.eq_ignore_ascii_case("false")
}

/// Whether an object or a prefix can have this name. `object_store` would take the object `/a` for `a`.
fn is_usable(name: &str) -> bool {
    !name.starts_with('/') && Path::parse(name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nameable(text: String) -> Bytes {
        Page::of(&text).nameable(text.into())
    }

    #[test]
    fn listings_are_known() {
        for (uri, expected) in [
            ("http://h/b?list-type=2&prefix=a", true),
            ("http://h/b?restype=container&comp=list", true),
            ("http://h/b/list-type=2", false),
            ("http://h/b?uploads", false),
        ] {
            let uri = uri.parse().unwrap();
            assert_eq!(is_listing(&Method::GET, &uri), expected, "{uri}");
            assert!(!is_listing(&Method::POST, &uri));
        }
    }

    #[test]
    fn entries_without_a_usable_name_are_left_out() {
        let s3 = |name: &str| format!("<Contents><Size>1</Size><Key>{name}</Key></Contents>");
        let prefix = |name: &str| format!("<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>");
        let azure = |name: &str| format!("<Blob><Name Encoded=\"true\">{name}</Name></Blob>");
        let folder = |name: &str| format!("<BlobPrefix><Name>{name}</Name></BlobPrefix>");
        let forms: [&dyn Fn(&str) -> String; 4] = [&s3, &prefix, &azure, &folder];
        for form in forms {
            let coded = ["a/&#46;&#x2E;/b", "a/&#7;", "<![CDATA[..]]>", "<!-- a -->..", "&#47;a"];
            for bad in ["..", "/a", "a/../b", "a//b", "./a", "a\nb"].into_iter().chain(coded) {
                let text = format!("<L>{}{}\n{}</L>", form("a"), form(bad), form("b&amp;c/"));
                let expected = format!("<L>{}\n{}</L>", form("a"), form("b&amp;c/"));
                assert_eq!(nameable(text), expected, "{bad}");
            }
        }
        let marked = |name| format!("\u{feff}<L>é{}</L>", s3(name));
        assert_eq!(nameable(marked("..")), "\u{feff}<L>é</L>");
        for text in [
            "",
            "<Contents>",
            "<Contents><Key>a",
            "<L><Contents><Key>a..b</Key></Contents></L>",
            "&#46;",
            "é<",
        ] {
            assert_eq!(nameable(text.to_owned()), text);
        }
    }
}
