//! The state of a store on the runtime: the abilities of the service, the slots for requests, keys and paths.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::list::PaginatedListStore;
use object_store::path::Path;
use tokio::sync::{Semaphore, SemaphorePermit};
use zarr_traits::{
    Key, StoreError, StoreErrorKind, StoreResult,
    store::{Capabilities, Drive},
};

use crate::retries::Retries;

/// The largest number of bytes in a key with its prefix, which all services support.
const LONGEST_KEY: usize = 1024;

#[derive(Clone)]
pub(crate) struct Bucket {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The prefix of every key: empty, or `a/b/`.
    pub(crate) prefix: Arc<str>,
    pub(crate) capabilities: Capabilities,
    pub(crate) service: Service,
    /// One slot for each request in flight.
    slots: Arc<Semaphore>,
}

/// The properties of a service beyond its [`Capabilities`].
#[derive(Clone)]
pub(crate) struct Service {
    /// Whether a put is sent once, so that the answer to a conditional put is about this request.
    pub(crate) definite: bool,
    /// An identity of the bucket: two handles with the same text are of one bucket. `None` if it is not known.
    pub(crate) container: Option<Arc<str>>,
    /// The pages of listings, if the client returns them one by one.
    pub(crate) pages: Option<Arc<dyn PaginatedListStore>>,
    /// Whether pages list keys in the order of their bytes, and can begin after a key.
    pub(crate) ordered: bool,
    /// The largest memory of one listing, in bytes.
    pub(crate) listing: u64,
    /// The size in bytes above which values are sent in parts.
    pub(crate) multipart: usize,
    /// The number of objects that one request deletes.
    pub(crate) batch: usize,
    pub(crate) retries: Retries,
}

impl Bucket {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, capabilities: Capabilities) -> Self {
        let service = Service {
            definite: true,
            container: None,
            pages: None,
            ordered: false,
            listing: 1 << 30,
            multipart: 64 << 20,
            batch: 1,
            retries: Retries::default(),
        };
        let slots = slots(&capabilities);
        Self { store, prefix: "".into(), capabilities, service, slots }
    }

    pub(crate) fn set_capabilities(&mut self, capabilities: Capabilities) {
        self.slots = slots(&capabilities);
        self.capabilities = capabilities;
    }

    /// Waits for a slot. Every request holds one until its answer has been received, and does not wait for another one
    /// meanwhile.
    pub(crate) async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.slots.acquire().await.ok()
    }

    /// The number of requests that may be in flight.
    pub(crate) fn in_flight(&self) -> usize {
        in_flight(&self.capabilities)
    }

    /// Returns the path of the object at `key`. Its characters stay as they are.
    pub(crate) fn path(&self, key: &str) -> StoreResult<Path> {
        let wrong = |message: String| StoreError::new(StoreErrorKind::InvalidArgument, message).with_key(key);
        let text = format!("{}{key}", self.prefix);
        if text.len() > LONGEST_KEY {
            let len = text.len();
            return Err(wrong(format!(
                "object stores have keys of at most {LONGEST_KEY} bytes, this one has {len}"
            )));
        }
        // A text, because this error prints its source itself.
        Path::parse(&text).map_err(|e| wrong("no object has this key".to_owned()).with_source(e.to_string()))
    }

    /// Returns the key of a listed object, or `None` if it is outside the prefix or has no valid key.
    pub(crate) fn key(&self, path: &Path) -> Option<Key> {
        path.as_ref().strip_prefix(&*self.prefix).and_then(|key| Key::new(key).ok())
    }
}

fn in_flight(capabilities: &Capabilities) -> usize {
    match capabilities.drive {
        Drive::Remote { in_flight, .. } => in_flight.clamp(1, Semaphore::MAX_PERMITS),
        _ => 1,
    }
}

fn slots(capabilities: &Capabilities) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(in_flight(capabilities)))
}
