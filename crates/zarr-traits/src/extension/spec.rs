//! Extension objects of metadata documents, and which names they may have.

use serde_json::{Map, Value};

use crate::error::{CodecError, CodecResult};

/// An extension object of a metadata document, at any of the five extension points.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Spec {
    /// The name.
    pub name: String,
    /// The members of the configuration.
    pub configuration: Map<String, Value>,
    /// `must_understand`; true if the document does not have it.
    pub must_understand: bool,
}

impl Spec {
    /// An extension without configuration.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), configuration: Map::new(), must_understand: true }
    }

    /// Adds a member to the configuration.
    ///
    /// ```
    /// let gzip = zarr_traits::extension::Spec::named("gzip").with("level", 5);
    /// ```
    #[must_use]
    pub fn with(mut self, member: impl Into<String>, value: impl Into<Value>) -> Self {
        self.configuration.insert(member.into(), value.into());
        self
    }

    /// Sets all members of the configuration.
    #[must_use]
    pub fn configuration(self, configuration: Map<String, Value>) -> Self {
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
    /// use serde_json::json;
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
        match configuration {
            Value::Object(configuration) => Ok(Self { configuration, ..Self::named(name) }),
            Value::Null => Ok(Self::named(name)),
            other => {
                let message = format!("the configuration of {name:?} must be an object, not {other}");
                Err(CodecError::configuration(message).at("/configuration"))
            }
        }
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
