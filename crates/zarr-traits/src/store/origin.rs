//! Where an object is, in the terms of its store.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Where an object is, such as an open file, or a bucket and a path. Only stores that know the type of the place can use it:
/// two handles of one service understand each other's origins.
#[derive(Clone)]
pub struct Origin(Arc<dyn Any + Send + Sync>);

impl Origin {
    /// Wraps a place. [`get`](Self::get) with the same type returns it.
    pub fn new<T: Any + Send + Sync>(place: T) -> Self {
        Self(Arc::new(place))
    }

    /// Returns the place if it is a `T`, or `None` if the origin belongs to another kind of store.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin").finish_non_exhaustive()
    }
}
