//! The text of a URL: its scheme, what is percent-encoded in it, and how it is shown.

/// How paths stand in the URLs of a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathEncoding {
    /// Percent-encoded; they end at a `?`.
    Percent,
    /// As they are, without a query.
    Plain,
}

/// Splits a text into its root and the adapters after it, each with its `|`. A `|` without a `name:` after it is part
/// of a name, because names of files may contain it.
pub fn split_adapters(text: &str) -> (&str, &str) {
    let mut root = text;
    while let Some((before, adapter)) = root.rsplit_once('|')
        && adapter.split_once(':').is_some_and(|(name, _)| is_scheme(name))
    {
        root = before;
    }
    text.split_at(root.len())
}

/// Returns the scheme of a URL, or `None` for a path.
pub fn scheme_of(text: &str) -> Option<&str> {
    text.split_once("://").map(|(scheme, _)| scheme).filter(|scheme| is_scheme(scheme))
}

/// Whether a URL in which paths are not encoded has a query, such as `?token=…`. A `?` without `name=` after it is part of a
/// name, as in `x?.zarr`.
pub fn has_query(url: &str) -> bool {
    let query = url.split_once('?').and_then(|(_, query)| query.split_once('='));
    query.is_some_and(|(name, _)| !name.contains('/'))
}

/// Decodes a percent-encoded text (RFC 3986, section 2.1). The result need not be UTF-8, like names of files. Returns
/// `None` if a percent sign has no two hexadecimal digits after it.
pub fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let mut digit = || char::from(bytes.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        decoded.push(if byte == b'%' { digit()? << 4 | digit()? } else { byte });
    }
    Some(decoded)
}

/// Returns a URL for messages and logs: without user names and passwords, and without queries, which may hold a
/// signature.
///
/// A password may contain a `/`, `?`, `#` or `@` that should have been percent-encoded, as secret keys of AWS often do.
/// So if a `:` comes before the first of these, everything up to the last `@` is hidden: hiding too much is better than
/// showing part of a password. If more than a plain `user:password` is hidden, `…@` stands for it.
pub fn redacted(url: &str) -> String {
    let scheme = scheme_of(url).unwrap_or_default();
    let (start, rest) = url.split_at(if scheme.is_empty() { 0 } else { scheme.len() + "://".len() });
    let (credentials, rest) = split_credentials(scheme, rest);
    let hidden = if credentials.contains(ENDS_OF_HOST) { "…@" } else { "" };
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    // In other schemes `#` and `;` are part of a key.
    let ends: &[char] = if is_web { &['?', '#', ';'] } else { &['?'] };
    let (shown, cut) = match rest.find(ends) {
        Some(at) => (&rest[..=at], "…"),
        None => (rest, ""),
    };
    format!("{start}{hidden}{shown}{cut}")
}

/// The characters that end the host of a URL.
const ENDS_OF_HOST: [char; 3] = ['/', '?', '#'];

/// Splits `rest`, the part of a URL after `scheme`, into the credentials at its start and the text after their `@`. A
/// text without a scheme is a name of a file, which may contain an `@`, or a mistyped URL: it has credentials if a `:`
/// comes before the `@`.
fn split_credentials<'a>(scheme: &str, rest: &'a str) -> (&'a str, &'a str) {
    // Only the URL of a file has no host.
    let is_file = scheme.eq_ignore_ascii_case("file");
    let from = if is_file { 0 } else { rest.len() - rest.trim_start_matches('/').len() };
    let host = &rest[..rest[from..].find(ENDS_OF_HOST).map_or(rest.len(), |end| from + end)];
    let last = rest.rfind('@');
    let end = match scheme {
        "" => last.filter(|end| rest[..*end].contains(':')),
        _ if host.contains(':') => last,
        _ => host.rfind('@'),
    };
    end.map_or(("", rest), |end| (&rest[..end], &rest[end + 1..]))
}

fn is_scheme(name: &str) -> bool {
    let rest = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_a_name_and_a_value() {
        for url in ["s3://b/x?token=a", "s3://b?a=b", "s3://b/x?=", "gs://b/x?a&b=c/d"] {
            assert!(has_query(url), "{url}");
        }
        for url in ["s3://b/x", "s3://b/x?", "s3://b/x?.zip", "s3://b/what?/year=2020", "s3://b/a=b"] {
            assert!(!has_query(url), "{url}");
        }
    }

    #[test]
    fn urls_are_shown_without_secrets() {
        for (url, shown) in [
            ("https://user:pass@host/a?sig=secret", "https://host/a?…"),
            ("https://token@host/a@b", "https://host/a@b"),
            ("https://host/a;sig=secret", "https://host/a;…"),
            ("https://host/a#secret", "https://host/a#…"),
            ("s3://bucket/a@b", "s3://bucket/a@b"),
            ("s3://bucket/a#0;b", "s3://bucket/a#0;b"),
            ("s3://AKIA:ab/cd@bucket/a", "s3://…@bucket/a"),
            ("s3://AKIA:12/34@bucket/a", "s3://…@bucket/a"),
            ("s3://AKIA:ab?cd@bucket/a", "s3://…@bucket/a"),
            ("s3://AKIA:a@b/c@bucket/a", "s3://…@bucket/a"),
            // The text after a host with a port may be such a password, too.
            ("http://host:80/a@b?c", "http://…@b?…"),
            ("http://host:80/a", "http://host:80/a"),
            ("http:/user:pass@host/a", "…@host/a"),
            ("http//user:pass@host/a", "…@host/a"),
            ("http;//user:pass@host/a", "…@host/a"),
            ("http:user:pass@host/a", "host/a"),
            ("http:\\\\user:pass@host/a", "host/a"),
            ("http:///user:pass@host/a", "http://…@host/a"),
            ("s3:////key:se/cret@bucket/a", "s3://…@bucket/a"),
            ("user:pass@host/a", "host/a"),
            ("file:///a:b/c@d", "file:///a:b/c@d"),
            ("a@b", "a@b"),
            ("a/b@c@d", "a/b@c@d"),
            ("https://to@ken@host/a@b", "https://host/a@b"),
            ("plain", "plain"),
        ] {
            assert_eq!(redacted(url), shown, "{url}");
        }
    }
}
