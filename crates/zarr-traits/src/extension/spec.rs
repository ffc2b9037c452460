//! Extension objects of metadata documents, and which names they may have.

use zarr_json::pointer::join;
use zarr_json::{Object, Value};

use crate::error::{CodecError, CodecResult};

use super::note::{Note, NoteKind};

/// An extension object of a metadata document, at any of the five extension points.
///
/// Two are equal if their configurations have the same members in any order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Spec {
    /// The name.
    pub name: String,
    /// The members of the configuration.
    pub configuration: Object,
    /// `must_understand`; true if the document does not have it.
    pub must_understand: bool,
}

impl Spec {
    /// An extension without configuration.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), configuration: Object::new(), must_understand: true }
    }

    /// Adds a member to the configuration.
    ///
    /// ```
    /// let gzip = zarr_traits::extension::Spec::named("gzip").with("level", 5);
    /// ```
    #[must_use]
    pub fn with(mut self, member: impl AsRef<str>, value: impl Into<Value>) -> Self {
        self.configuration.set(member.as_ref(), value);
        self
    }

    /// Sets all members of the configuration.
    #[must_use]
    pub fn configuration(self, configuration: Object) -> Self {
        Self { configuration, ..self }
    }

    /// Sets `must_understand`. Without it a reader that does not know the extension may skip it.
    #[must_use]
    pub fn must_understand(self, must_understand: bool) -> Self {
        Self { must_understand, ..self }
    }

    /// Builds an extension with the members of the object `configuration`.
    ///
    /// ```
    /// # use zarr_traits::{CodecError, extension::Spec};
    /// use zarr_traits::json;
    /// let gzip = Spec::new("gzip", json!({ "level": 5 }))?;
    /// assert!(Spec::new("gzip", json!(5)).is_err());
    /// # Ok::<(), CodecError>(())
    /// ```
    ///
    /// # Errors
    /// [`CodecErrorKind::Configuration`](crate::CodecErrorKind::Configuration) if `configuration` is neither an object
    /// nor `null`, which means no configuration.
    pub fn new(name: impl Into<String>, configuration: Value) -> CodecResult<Self> {
        let name = name.into();
        match configuration.as_object() {
            Some(configuration) => Ok(Self { configuration, ..Self::named(name) }),
            None if configuration.is_null() => Ok(Self::named(name)),
            None => {
                let message = format!("the configuration of {name:?} must be an object, not {configuration}");
                Err(CodecError::configuration(message).at("/configuration"))
            }
        }
    }

    /// Reads an extension object, or the name that stands for one. `what` is its kind in messages, `here` the pointer to
    /// it in the notes.
    pub(super) fn read(item: &Value, what: &str, here: &str, notes: &mut Vec<Note>) -> CodecResult<Self> {
        if let Some(name) = item.as_text() {
            return Ok(Spec::named(name));
        }
        let Some(members) = item.as_object() else {
            return Err(CodecError::configuration(format!("a {what} must be an object with a name")));
        };
        let Some(name) = members.get("name").and_then(|name| name.as_text()) else {
            let message = format!("the name of a {what} must be a string");
            return Err(CodecError::configuration(message).at("/name"));
        };
        let configuration =
            members.get("configuration").map_or(Some(Object::new()), |value| value.as_object());
        let configuration = configuration.ok_or_else(|| {
            let message = format!("the configuration of {what} {name:?} must be an object");
            CodecError::configuration(message).at("/configuration")
        })?;
        let must_understand = members.get("must_understand").map_or(Some(true), |value| value.as_bool());
        let must_understand = must_understand.ok_or_else(|| {
            CodecError::configuration("must_understand must be true or false").at("/must_understand")
        })?;
        for member in members.members() {
            let key = member.name_lossy();
            if !matches!(&*key, "name" | "configuration" | "must_understand") {
                let pointer = join(here, &key);
                let message = format!("unknown member {key:?}, ignored");
                notes.push(Note::new(NoteKind::UnknownMember, pointer, message));
            }
        }
        Ok(Self { name, configuration, must_understand })
    }
}

impl PartialEq for Spec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.must_understand == other.must_understand
            && self.configuration.is_same(&other.configuration)
    }
}

/// Reads an extension object of a document, or the name that stands for one. Unknown members are ignored.
///
/// ```
/// # use zarr_traits::{CodecError, extension::Spec};
/// use zarr_traits::json;
/// assert_eq!(Spec::try_from(&json!("crc32c"))?, Spec::named("crc32c"));
/// let gzip = Spec::try_from(&json!({ "name": "gzip", "configuration": { "level": 5 } }))?;
/// assert_eq!(gzip, Spec::named("gzip").with("level", 5));
/// # Ok::<(), CodecError>(())
/// ```
impl TryFrom<&Value> for Spec {
    type Error = CodecError;

    fn try_from(extension: &Value) -> CodecResult<Self> {
        Self::read(extension, "extension", "", &mut Vec::new())
    }
}

/// Returns the codec names that a URL may stand for, in the order to try them: early versions of zarrs wrote such URLs,
/// and some of them name a codec of numcodecs.
pub fn url_names(url: &str) -> Option<[String; 3]> {
    let numcodecs = |name: &str| format!("numcodecs.{name}");
    if let Some(name) = url.strip_prefix("https://numcodecs.dev/") {
        return Some([numcodecs(name), name.to_owned(), name.replace('_', "-")]);
    }
    let (_kind, name) = url.strip_prefix("https://codec.zarrs.dev/")?.split_once('/')?;
    Some([name.to_owned(), name.replace('_', "-"), numcodecs(name)])
}

/// Whether a name is private: it has a `:` and is not a URL, so documents of format 3 cannot use it.
pub fn is_private(name: &str) -> bool {
    name.contains(':') && !name.contains("://") && !name.starts_with("urn:")
}

#[cfg(test)]
mod tests {
    use zarr_json::json;

    use super::*;

    #[test]
    fn equality_does_not_depend_on_the_order_of_members() -> CodecResult<()> {
        let shard = |inner: Value| Spec::new("sharding_indexed", inner);
        let a = shard(
            json!({ "chunk_shape": [4], "index_location": "end", "codecs": [{ "name": "gzip", "configuration": { "level": 5 } }] }),
        )?;
        let b = shard(
            json!({ "codecs": [{ "configuration": { "level": 5 }, "name": "gzip" }], "index_location": "end", "chunk_shape": [4] }),
        )?;
        assert_eq!(a, b);
        assert_ne!(a, shard(json!({ "chunk_shape": [4], "index_location": "end" }))?);
        assert_ne!(a, b.must_understand(false));
        Ok(())
    }
}
