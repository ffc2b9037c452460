//! Versions of an object: what makes several reads, or a read and a write, one.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// One version of one object, as its store sees it: opaque, comparable.
///
/// The token is what the store compares (an ETag; device, inode, time and size). The pin is what the store likes to
/// keep with it, such as the open file; it is not compared, and keeping it keeps the version readable and unique.
#[derive(Clone)]
pub struct Version {
    token: Arc<[u8]>,
    pin: Option<Arc<dyn Any + Send + Sync>>,
    young: bool,
}

impl Version {
    /// A version from the bytes that tell it from every other version of the same object.
    pub fn new(token: impl Into<Arc<[u8]>>) -> Self {
        Self { token: token.into(), pin: None, young: false }
    }

    /// Adds what keeps the version alive.
    #[must_use]
    pub fn with_pin(mut self, pin: Arc<dyn Any + Send + Sync>) -> Self {
        self.pin = Some(pin);
        self
    }

    /// Says that a later version may have the same token unless the pin keeps this one alive: an object that was written
    /// within the last tick of its store's clock.
    #[must_use]
    pub fn young(mut self) -> Self {
        self.young = true;
        self
    }

    /// The same version without what keeps it alive: to be kept for long, and compared. `None` where that is not safe.
    pub fn unpinned(&self) -> Option<Self> {
        (!self.young).then(|| Self { token: self.token.clone(), pin: None, young: false })
    }

    /// The bytes that are compared.
    pub fn token(&self) -> &[u8] {
        &self.token
    }

    /// The pin, if it is a `T`: how a store finds its own again.
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
