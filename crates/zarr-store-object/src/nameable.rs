//! Judges the answer to a listing before `object_store` does, and leaves out entries whose names it refuses.
//!
//! `object_store` takes any XML for a page of a listing, and a page without a token for the last one. One name with an empty
//! segment, `.`, `..` or a control character would fail the whole listing; no key can have such a name, and it must not
//! hide the other objects.

use bytes::Bytes;
use http::{Method, Response, Uri};
use object_store::path::Path;

use crate::failure::{Failure, Why};

/// The elements of an entry and of its name: objects and prefixes of S3 and Google, then those of Azure.
const ENTRIES: [(&str, &str); 4] =
    [("Contents", "Key"), ("CommonPrefixes", "Prefix"), ("Blob", "Name"), ("BlobPrefix", "Name")];

/// Whether a request asks for a listing.
pub(crate) fn is_listing(method: &Method, uri: &Uri) -> bool {
    let mut query = uri.query().unwrap_or_default().split('&');
    method == Method::GET && query.any(|parameter| matches!(parameter, "list-type=2" | "comp=list"))
}

/// Returns the answer to a listing without the entries that have no usable name.
///
/// # Errors
/// [`Why::Wrong`] if a success is no page of a listing, or says that more follows without saying where.
pub(crate) fn listing(answer: Response<Bytes>) -> Result<Response<Bytes>, Failure> {
    if !answer.status().is_success() {
        return Ok(answer);
    }
    let wrong = |text: &str| Err(Failure::new(Why::Wrong, text));
    let text = std::str::from_utf8(answer.body()).unwrap_or_default();
    if !["ListBucketResult", "EnumerationResults"].iter().any(|root| text.contains(root)) {
        return wrong("the answer is not a listing");
    }
    let token = || content(text, "NextContinuationToken").filter(|token| !token.is_empty());
    if content(text, "IsTruncated") == Some("true") && token().is_none() {
        return wrong("the listing is not complete, and the service does not say where it continues");
    }
    Ok(answer.map(nameable))
}

/// Returns a page without the entries that have no usable name.
fn nameable(body: Bytes) -> Bytes {
    let Ok(text) = std::str::from_utf8(&body) else { return body };
    let (mut kept, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(entry) = Entry::next(text, at) {
        at = entry.end;
        let name = with_references(entry.name);
        // `object_store` would take the object `/a` for `a`.
        if name.starts_with('/') || Path::parse(name).is_err() {
            kept += &text[copied..entry.start];
            copied = entry.end;
        }
    }
    if copied == 0 {
        return body;
    }
    (kept + &text[copied..]).into()
}

/// An entry of a listing: its place in the text, and its name with XML references.
struct Entry<'a> {
    start: usize,
    end: usize,
    name: &'a str,
}

impl<'a> Entry<'a> {
    /// Finds the next entry that begins at `at` or later.
    fn next(text: &'a str, at: usize) -> Option<Self> {
        let tags = text[at..].match_indices('<').map(|(offset, _)| at + offset);
        let (start, (entry, name)) = tags.into_iter().find_map(|start| {
            let inner = &text[start + 1..];
            let found = ENTRIES
                .into_iter()
                .find(|(entry, _)| inner.strip_prefix(entry).is_some_and(|rest| rest.starts_with('>')));
            Some((start, found?))
        })?;
        let closed = format!("</{entry}>");
        let end = start + text[start..].find(&closed)? + closed.len();
        Some(Self { start, end, name: content(&text[start..end], name).unwrap_or_default() })
    }
}

/// Returns the text in the first element of this name, which may have attributes.
fn content<'a>(text: &'a str, element: &str) -> Option<&'a str> {
    let open = format!("<{element}");
    let mut starts = text.match_indices(&*open).map(|(at, open)| &text[at + open.len()..]);
    let rest = starts.find(|rest| rest.starts_with(['>', ' ']))?;
    let (_, rest) = rest.split_once('>')?;
    Some(rest.split_once("</")?.0)
}

/// Replaces the numeric references of XML, such as `&#46;` and `&#x2e;`. Those with a name are of no control character
/// and of no dot.
fn with_references(name: &str) -> String {
    let mut parts = name.split("&#");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let referred = part.split_once(';').and_then(|(number, rest)| {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            Some((char::from_u32(code.ok()?)?, rest))
        });
        match referred {
            Some((character, rest)) => {
                text.push(character);
                text += rest;
            }
            None => {
                text += "&#";
                text += part;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
            for bad in ["..", "/a", "a/../b", "a//b", "./a", "a/&#46;&#x2E;/b", "a/&#7;", "a\nb"] {
                let text = format!("<L>{}{}{}</L>", form("a"), form(bad), form("b&amp;c/"));
                let expected = format!("<L>{}{}</L>", form("a"), form("b&amp;c/"));
                assert_eq!(nameable(text.into()), expected, "{bad}");
            }
        }
        for text in [
            "",
            "<Contents>",
            "<Contents><Key>a",
            "<L><Contents><Key>a..b</Key></Contents></L>",
            "&#46;",
            "é<",
        ] {
            assert_eq!(nameable(Bytes::copy_from_slice(text.as_bytes())), text);
        }
        let invalid = Bytes::from_static(b"<Contents><Key>\xff</Key></Contents>");
        assert_eq!(nameable(invalid.clone()), invalid);
    }
}
