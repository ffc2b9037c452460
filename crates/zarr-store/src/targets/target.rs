//! The places that references name, in parts that can be compared.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::url::{PathEncoding, percent_decoded, redacted, scheme_of};
use zarr_traits::{Key, StoreError, StoreErrorKind, StoreResult};

/// The longest place that a message shows, in characters.
const SHOWN: usize = 200;

/// A place that a URL or an absolute path names: a scheme, a host or bucket, and the segments of a path.
///
/// ```
/// use zarr_store::{PathEncoding, Target};
/// let folder = Target::parse("https://host:443/data/", PathEncoding::Percent)?;
/// let file = Target::parse("HTTPS://HOST/data/x/../%61.nc", PathEncoding::Percent)?;
/// assert_eq!(folder.key_of(&file).unwrap()?.as_str(), "a.nc");
/// assert!(folder.key_of(&Target::parse("https://host/data-secret/a.nc", PathEncoding::Percent)?).is_none());
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    scheme: String,
    authority: String,
    segments: Vec<String>,
}

impl Target {
    /// Reads a URL with `//` or an absolute path. Paths of web servers are always percent-encoded, those of other
    /// schemes as `paths` says. `.` and `..` are resolved in paths of files and of web servers; elsewhere they are part of
    /// a key.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] for a relative path, a user name or password, a query, or a path that is not
    /// text; [`StoreErrorKind::PermissionDenied`] for a host from which clouds serve credentials.
    pub fn parse(text: &str, paths: PathEncoding) -> StoreResult<Self> {
        Self::read(text, paths).map_err(|why| {
            let kind = match why {
                CREDENTIALS_HOST => StoreErrorKind::PermissionDenied,
                _ => StoreErrorKind::InvalidArgument,
            };
            StoreError::new(kind, format!("the place {}: {why}", shown(text)))
        })
    }

    /// Reads a URL as stores are opened by it, or an absolute path: URLs of files are percent-encoded, and keys of buckets are
    /// not.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn of_url(text: &str) -> StoreResult<Self> {
        let is_file = scheme_of(text).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file"));
        Self::parse(text, if is_file { PathEncoding::Percent } else { PathEncoding::Plain })
    }

    fn read(text: &str, paths: PathEncoding) -> Result<Self, &'static str> {
        let (scheme, authority, path) = match scheme_of(text) {
            None if text.starts_with('/') => ("file", "", text),
            None => return Err("neither a URL nor an absolute path"),
            Some(scheme) => {
                let rest = &text[scheme.len() + "://".len()..];
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                (scheme, authority, path)
            }
        };
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "gcs" => "gs".to_owned(),
            "azure" => "az".to_owned(),
            name => name.to_owned(),
        };
        let is_web = scheme == "http" || scheme == "https";
        let is_encoded = is_web || (paths == PathEncoding::Percent && scheme_of(text).is_some());
        if authority.contains('@') {
            return Err("user names and passwords are not accepted");
        }
        if is_encoded && text.contains(['?', '#']) {
            return Err("a query or a fragment is not accepted");
        }
        let mut authority = authority.to_owned();
        if is_web {
            authority = host(&scheme, &authority)?;
        } else if scheme == "file" && authority.eq_ignore_ascii_case("localhost") {
            authority.clear();
        }
        let mut segments = Vec::new();
        for segment in path.trim_start_matches('/').split('/') {
            let segment = match is_encoded {
                true => percent_decoded(segment).and_then(|bytes| String::from_utf8(bytes).ok()),
                false => Some(segment.to_owned()),
            };
            let segment =
                segment.filter(|s| !s.contains('/')).ok_or("the path is not percent-encoded text")?;
            match (segment.as_str(), is_web || scheme == "file") {
                ("" | ".", true) => {}
                ("..", true) => drop(segments.pop().ok_or("the path leads out of the root")?),
                _ => segments.push(segment),
            }
        }
        // The end of a folder.
        if segments.last().is_some_and(String::is_empty) {
            segments.pop();
        }
        Ok(Self { scheme, authority, segments })
    }

    /// Returns the key of `other` in a store at this place, or `None` if `other` is neither at this place nor below it.
    /// The key of the place itself is empty, which is an error.
    ///
    /// # Errors
    /// As [`Key::new`].
    pub fn key_of(&self, other: &Self) -> Option<StoreResult<Key>> {
        let rest = other.segments.strip_prefix(&self.segments[..])?;
        (self.scheme == other.scheme && self.authority == other.authority).then(|| Key::new(rest.join("/")))
    }

    /// Returns the place that a relative path leads to from this one. The path is not percent-encoded.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] if the path leads out of the root.
    pub fn join(mut self, path: &str) -> StoreResult<Self> {
        for segment in path.split('/').filter(|segment| !matches!(*segment, "" | ".")) {
            let is_out = segment == ".." && self.segments.pop().is_none();
            match segment {
                _ if is_out => {
                    let message = format!("the path {} leads out of the root", shown(path));
                    return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
                }
                ".." => {}
                name => self.segments.push(name.to_owned()),
            }
        }
        Ok(self)
    }

    /// Whether the place is in the file system of this machine.
    pub(super) fn is_local(&self) -> bool {
        self.scheme == "file"
    }

    /// The number of segments of the path.
    pub(super) fn depth(&self) -> usize {
        self.segments.len()
    }
}

const CREDENTIALS_HOST: &str = "clouds serve credentials from this host, so it is never read";

/// Returns a host and port in one spelling.
fn host(scheme: &str, authority: &str) -> Result<String, &'static str> {
    let lower = authority.to_ascii_lowercase();
    let port = if scheme == "http" { ":80" } else { ":443" };
    let plain = lower.strip_suffix(port).or_else(|| lower.strip_suffix(':')).unwrap_or(&lower);
    let name = match plain.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => plain,
    };
    let name = name.trim_end_matches('.');
    let of_credentials = match address(name) {
        Some(IpAddr::V4(v4)) => v4.is_link_local(),
        Some(IpAddr::V6(v6)) => {
            v6.is_unicast_link_local()
                || v6 == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)
                || v6.to_ipv4().is_some_and(|v4| v4.is_link_local())
        }
        None => name == "metadata.google.internal" || name == "metadata",
    };
    match (name.is_empty(), of_credentials) {
        (true, _) => Err("the host is missing"),
        (_, true) => Err(CREDENTIALS_HOST),
        _ => Ok(plain.to_owned()),
    }
}

/// Returns the address that a host is, in any form that the system accepts: `169.254.1`, `0xa9fe0001`, `[::1]`.
fn address(host: &str) -> Option<IpAddr> {
    if let Some(v6) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return v6.split('%').next()?.parse().ok().map(IpAddr::V6);
    }
    let number = |text: &str| match text.as_bytes() {
        [b'0', b'x', ..] => u32::from_str_radix(&text[2..], 16).ok(),
        [b'0', _, ..] => u32::from_str_radix(&text[1..], 8).ok(),
        _ => text.parse().ok(),
    };
    let parts: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, bytes) = parts.split_last().filter(|(_, bytes)| bytes.len() < 4)?;
    // The last part is all bytes that are left.
    let mut value = *last;
    for (byte, shift) in bytes.iter().zip([24, 16, 8]) {
        value = value.checked_add(u32::from(u8::try_from(*byte).ok()?) << shift)?;
    }
    Some(IpAddr::V4(Ipv4Addr::from(value)))
}

/// Returns a place for messages: without secrets and control characters, and not longer than a message may be.
pub(crate) fn shown(text: &str) -> String {
    format!("{:?}", cut(text))
}

/// As [`shown`], without quotation marks.
pub(crate) fn cut(text: &str) -> String {
    let shown = redacted(text);
    let mut short: String = shown.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
    if shown.chars().count() > SHOWN {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> StoreResult<Target> {
        Target::parse(text, PathEncoding::Percent)
    }

    #[test]
    fn a_place_is_below_another_by_whole_segments() {
        let cases = [
            ("file:///data", "file:///data/a/b", Some("a/b")),
            ("file:///data/", "/data/a", Some("a")),
            ("file:///data", "file:///data-secret/a", None),
            ("file:///data", "file:///data/../etc/passwd", None),
            ("file:///data", "file:///data/%2e%2e/etc/passwd", None),
            ("file:///data", "file://localhost/data/./x//y", Some("x/y")),
            ("/", "file:///etc/passwd", Some("etc/passwd")),
            ("https://h/d", "HTTPS://H:443/d/%61", Some("a")),
            ("https://h/d", "http://h/d/a", None),
            ("https://h:444/d", "https://h/d/a", None),
            ("https://h/d", "https://h.evil/d/a", None),
            ("s3://b/d", "s3://b/d/x%20y", Some("x y")),
            ("s3://b/d", "s3://b/d/../e", Some("../e")),
            ("gs://b", "gcs://b/a", Some("a")),
            ("s3://b", "s3://bb/a", None),
            ("s3://b", "s3://B/a", None),
        ];
        for (folder, other, key) in cases {
            let found = place(folder).unwrap().key_of(&place(other).unwrap());
            let found = found.map(|key| key.map_or_else(|e| format!("{e:#}"), String::from));
            match key {
                // A key cannot leave the store.
                Some("../e") => assert!(found.is_some_and(|e| e.contains("\"..\"")), "{other}"),
                key => assert_eq!(found.as_deref(), key, "{folder} {other}"),
            }
        }
        let plain = Target::parse("s3://b/x%20?y#z", PathEncoding::Plain).unwrap();
        assert_eq!(place("s3://b").unwrap().key_of(&plain).unwrap().unwrap().as_str(), "x%20?y#z");
    }

    #[test]
    fn places_that_name_nothing_or_credentials_are_refused() {
        for (text, why) in [
            ("a/b", "neither a URL nor"),
            ("", "neither a URL nor"),
            ("https://user:secret@h/a", "user names"),
            ("https://h/a?sig=secret", "a query"),
            ("file:///../a", "leads out"),
            ("https:///a", "the host is missing"),
            ("https://h/%", "percent-encoded"),
            ("https://h/a%2fb", "percent-encoded"),
            ("file:///%ff", "percent-encoded"),
            ("http://169.254.169.254/latest", "never read"),
            ("http://169.254.169.254./latest", "never read"),
            ("http://2852039166/latest", "never read"),
            ("http://0xa9fea9fe:80/latest", "never read"),
            ("http://0251.0376.0251.0376/", "never read"),
            ("http://169.254.43518/", "never read"),
            ("http://[fe80::1%25eth0]/", "never read"),
            ("http://[fd00:ec2::254]/", "never read"),
            ("http://[::ffff:169.254.169.254]/", "never read"),
            ("http://Metadata.Google.Internal/", "never read"),
        ] {
            let e = place(text).unwrap_err().to_string();
            assert!(e.contains(why) && !e.contains("secret"), "{text}: {e}");
        }
        for text in ["http://127.0.0.1:8000/a", "http://10.0.0.1/a", "http://[::1]/a", "http://256.1.2.3.4/a"]
        {
            assert!(place(text).is_ok(), "{text}");
        }
        assert!(shown(&format!("s3://b/\n{}", "x".repeat(300))).chars().count() < 210);
    }
}
