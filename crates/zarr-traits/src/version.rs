//! Versions of objects, which tie several reads, or a read and a write, to the same content.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

/// One version of one object. Its content is opaque; versions can be compared.
///
/// The token is what the store compares (an ETag; device, inode, time and size). The pin is an optional value of the store
/// such as the open file, which keeps the version readable and its token unique while it exists, or what a put needs that
/// replaces the version. The pin is not compared, and neither is what the store says of the version to others: its entity tag
/// and the time of the last change, which references to the object may have noted.
#[derive(Clone)]
pub struct Version {
    token: Arc<[u8]>,
    pin: Option<Arc<dyn Any + Send + Sync>>,
    etag: Option<Arc<str>>,
    modified: Option<SystemTime>,
    young: bool,
}

impl Version {
    /// Builds a version from a token, which differs for every content of the same key, also after a delete.
    pub fn new(token: impl Into<Arc<[u8]>>) -> Self {
        Self { token: token.into(), pin: None, etag: None, modified: None, young: false }
    }

    /// Adds a value of the store, such as the resource that keeps the version readable.
    #[must_use]
    pub fn with_pin(mut self, pin: Arc<dyn Any + Send + Sync>) -> Self {
        self.pin = Some(pin);
        self
    }

    /// Adds the entity tag of the object, with its quotation marks or without.
    #[must_use]
    pub fn with_etag(mut self, etag: &str) -> Self {
        self.etag = Some(etag.trim_matches('"').into());
        self
    }

    /// Adds the time at which the object was last changed.
    #[must_use]
    pub fn with_modified(mut self, modified: SystemTime) -> Self {
        self.modified = Some(modified);
        self
    }

    /// Marks the version as young: unless the pin exists, a later version may have the same token. This holds for an
    /// object written within the last tick of the store's clock.
    #[must_use]
    pub fn young(mut self) -> Self {
        self.young = true;
        self
    }

    /// Returns the version without its pin, to keep and compare for a long time. Returns `None` for a young version.
    pub fn unpinned(&self) -> Option<Self> {
        (!self.young).then(|| Self { pin: None, ..self.clone() })
    }

    /// The bytes that are compared.
    pub fn token(&self) -> &[u8] {
        &self.token
    }

    /// The entity tag without quotation marks, if the store has them.
    pub fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    /// The time at which the object was last changed, if the store knows it.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// Returns the pin if it is a `T`.
    pub fn pin<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.pin.clone().and_then(|pin| pin.downcast().ok())
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.token == other.token
    }
}

impl Eq for Version {}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Version").field("token", &self.token).field("pinned", &self.pin.is_some()).finish()
    }
}
