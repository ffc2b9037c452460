//! Keys and prefixes, the only names of objects in a store. A key that leaves the root of the store cannot be built.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use crate::error::{StoreError, StoreErrorKind, StoreResult};

/// The key of one object, for example `t2m/c/0/3`.
///
/// Segments are separated by `/`. A segment is not empty, is not `.` or `..`, has at most [`SEGMENT_BYTES`](Self::SEGMENT_BYTES) bytes and
/// contains neither NUL nor a backslash. Any other Unicode text is legal and is never re-encoded.
///
/// ```
/// use zarr_traits::Key;
/// assert_eq!(Key::new("t2m/c/0/3")?.as_str(), "t2m/c/0/3");
/// assert!(Key::new("../secret").is_err());
/// let key: Key = "t2m/zarr.json".parse()?;
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// The longest segment of a key, in bytes: the limit of all common file systems.
    pub const SEGMENT_BYTES: usize = 255;

    /// Returns `key` if it keeps the rules above.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] if it breaks a rule.
    pub fn new(key: impl Into<String>) -> StoreResult<Self> {
        let key = key.into();
        match problem(&key) {
            None => Ok(Self(key)),
            Some(why) => Err(StoreError::new(StoreErrorKind::InvalidArgument, why).with_key(key)),
        }
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the prefix directly above this key: everything up to the last `/`.
    pub fn parent(&self) -> Prefix {
        Prefix(self.0.rfind('/').map_or_else(String::new, |i| self.0[..=i].to_owned()))
    }

    /// The last segment.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

/// A place in a store: the root (the empty prefix) or text that ends in `/`, for example `t2m/c/`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Prefix(String);

impl Prefix {
    /// The root of a store.
    pub fn root() -> Self {
        Self::default()
    }

    /// Returns `prefix` if it is valid. `""` and `"/"` are the root.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] if it does not end in `/` or has a segment that is not legal in a [`Key`].
    pub fn new(prefix: impl Into<String>) -> StoreResult<Self> {
        let prefix = prefix.into();
        if prefix.is_empty() || prefix == "/" {
            return Ok(Self::root());
        }
        let why = match prefix.strip_suffix('/') {
            None => Some("a prefix must end in \"/\""),
            Some(key) => problem(key),
        };
        match why {
            None => Ok(Self(prefix)),
            Some(why) => Err(StoreError::new(StoreErrorKind::InvalidArgument, why).with_key(prefix)),
        }
    }

    /// Returns the prefix of the node at a path such as `/a/b`, `a/b` or `a/b/`. `/` and `""` are the root.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] if a segment is not legal in a [`Key`].
    pub fn of_node(path: &str) -> StoreResult<Self> {
        let path = path.strip_prefix('/').unwrap_or(path);
        let path = path.strip_suffix('/').unwrap_or(path);
        if path.is_empty() { Ok(Self::root()) } else { Self::new([path, "/"].concat()) }
    }

    /// The prefix as text: empty, or ending in `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the key of `name` below this prefix. `name` may have several segments.
    ///
    /// # Errors
    /// As [`Key::new`].
    pub fn key(&self, name: &str) -> StoreResult<Key> {
        Key::new([&self.0, name].concat())
    }

    /// Returns the prefix `name/` below this one. `name` may have several segments.
    ///
    /// # Errors
    /// As [`Prefix::new`].
    pub fn child(&self, name: &str) -> StoreResult<Self> {
        Self::new([&self.0, name, "/"].concat())
    }

    /// Returns the part of `key` after this prefix, or `None` if `key` is not below it.
    pub fn strip<'a>(&self, key: &'a Key) -> Option<&'a str> {
        key.as_str().strip_prefix(self.as_str())
    }

    /// Returns the path of the node at this prefix: `/`, `/a`, `/a/b`.
    pub fn node_path(&self) -> String {
        ["/", self.0.strip_suffix('/').unwrap_or("")].concat()
    }
}

fn problem(key: &str) -> Option<&'static str> {
    if key.is_empty() {
        return Some("the key is empty");
    }
    // Over bytes, because each read of a chunk makes a key.
    for segment in key.as_bytes().split(|byte| *byte == b'/') {
        match segment {
            b"" => return Some("a segment of the key is empty"),
            b"." | b".." => return Some("a segment of the key is \".\" or \"..\""),
            _ if segment.len() > Key::SEGMENT_BYTES => {
                return Some("a segment of the key has more than 255 bytes");
            }
            _ if segment.iter().any(|byte| matches!(byte, 0 | b'\\')) => {
                return Some("the key contains NUL or a backslash");
            }
            _ => {}
        }
    }
    None
}

macro_rules! text {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
        /// Lets maps and sets be searched by text.
        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
        impl FromStr for $name {
            type Err = StoreError;

            fn from_str(text: &str) -> StoreResult<Self> {
                Self::new(text)
            }
        }
        impl TryFrom<&str> for $name {
            type Error = StoreError;

            fn try_from(text: &str) -> StoreResult<Self> {
                Self::new(text)
            }
        }
        impl TryFrom<String> for $name {
            type Error = StoreError;

            fn try_from(text: String) -> StoreResult<Self> {
                Self::new(text)
            }
        }
        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0
            }
        }
    )*};
}
text!(Key, Prefix);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_cannot_leave_its_root() {
        for bad in ["", "/", "/a", "a/", "a//b", "..", "a/../b", "./a", "a\0b", "a\\b", &"x".repeat(256)] {
            assert!(Key::new(bad).is_err(), "{bad:?}");
        }
        for good in
            ["a", "zarr.json", "c/0/1", "a b", "a%b", "#", "?", "+", "~", "[", "é", "🦀", "a.b", "...", "..a"]
        {
            assert_eq!(Key::new(good).unwrap().as_str(), good);
        }
        assert!(Key::new("x".repeat(255)).is_ok());
    }

    #[test]
    fn prefixes_accept_all_spellings_of_a_path() {
        for root in ["", "/"] {
            assert!(Prefix::new(root).unwrap().is_root());
            assert!(Prefix::of_node(root).unwrap().is_root());
        }
        for path in ["a/b", "/a/b", "a/b/"] {
            assert_eq!(Prefix::of_node(path).unwrap().as_str(), "a/b/");
        }
        for bad in ["a", "a//", "/a/", "../"] {
            assert!(Prefix::new(bad).is_err(), "{bad:?}");
        }
        let p = Prefix::new("a/").unwrap();
        assert_eq!(p.key("zarr.json").unwrap().as_str(), "a/zarr.json");
        assert!(p.key("../b").is_err());
        assert_eq!(p.child("b").unwrap().node_path(), "/a/b");
        assert_eq!(Prefix::root().node_path(), "/");
        let key = Key::new("a/b/c").unwrap();
        assert_eq!((key.parent().as_str(), key.name()), ("a/b/", "c"));
        assert_eq!(p.strip(&key), Some("b/c"));
        assert_eq!(p.strip(&Key::new("ab/c").unwrap()), None);
    }

    #[test]
    fn every_conversion_from_text_is_checked() {
        assert_eq!("a/b".parse::<Key>().unwrap(), Key::try_from("a/b").unwrap());
        assert_eq!(Prefix::try_from("a/".to_owned()).unwrap(), "a/".parse().unwrap());
        assert!("../a".parse::<Key>().is_err() && Key::try_from(String::new()).is_err());
        assert!(Prefix::try_from("a").is_err());
        let sizes = std::collections::HashMap::from([(Key::new("a/b").unwrap(), 3)]);
        assert_eq!((sizes.get("a/b"), sizes.get("a")), (Some(&3), None));
        let keys = std::collections::BTreeSet::from([Key::new("b").unwrap(), Key::new("a").unwrap()]);
        assert!(keys.contains("b") && !keys.contains("c"));
    }
}
