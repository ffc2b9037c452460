//! The store as the work on the runtime sees it: what the service can do, the slots for requests, keys and paths.

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

/// The most bytes of a key, those of the prefix included: what all services have.
const LONGEST_KEY: usize = 1024;

#[derive(Clone)]
pub(crate) struct Bucket {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// What stands before every key: nothing, or `a/b/`.
    pub(crate) prefix: Arc<str>,
    pub(crate) capabilities: Capabilities,
    pub(crate) service: Service,
    /// One for each request that may be under way.
    slots: Arc<Semaphore>,
}

/// What is known of the service beyond what [`Capabilities`] say.
#[derive(Clone)]
pub(crate) struct Service {
    /// A put is sent once: the answer to a conditional one is about this very request.
    pub(crate) definite: bool,
    /// The bucket, by what tells it from all others: two handles with the same text are of one bucket. `None`: not known.
    pub(crate) container: Option<Arc<str>>,
    /// The pages of listings, where the client gives them one by one.
    pub(crate) pages: Option<Arc<dyn PaginatedListStore>>,
    /// Pages list keys in the order of their bytes, and can begin behind a key.
    pub(crate) ordered: bool,
    /// The most bytes of memory that one listing may take.
    pub(crate) listing: u64,
    /// Values of more bytes than this are sent in parts.
    pub(crate) multipart: usize,
    /// How many objects one request deletes.
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

    /// Waits for one of the slots. Every request holds one until its answer has been received; whoever holds one does not
    /// wait for another.
    pub(crate) async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.slots.acquire().await.ok()
    }

    /// How many requests may be under way at once.
    pub(crate) fn in_flight(&self) -> usize {
        in_flight(&self.capabilities)
    }

    /// The path of the object at `key`, whose characters stay as they are.
    pub(crate) fn path(&self, key: &str) -> StoreResult<Path> {
        let wrong = |message: String| StoreError::new(StoreErrorKind::InvalidArgument, message).with_key(key);
        let text = format!("{}{key}", self.prefix);
        if text.len() > LONGEST_KEY {
            let len = text.len();
            return Err(wrong(format!(
                "object stores have keys of at most {LONGEST_KEY} bytes, this one has {len}"
            )));
        }
        Path::parse(&text).map_err(|e| wrong("no object has this key".to_owned()).with_source(e))
    }

    /// The key of an object that a listing names; `None` for one outside of the prefix, or without a legal key.
    pub(crate) fn key(&self, path: &Path) -> Option<Key> {
        path.as_ref().strip_prefix(&*self.prefix).and_then(|key| Key::new(key).ok())
    }
}

fn in_flight(capabilities: &Capabilities) -> usize {
    match capabilities.drive {
        Drive::Remote { in_flight, .. } => in_flight.clamp(1, Semaphore::MAX_PERMITS),
        Drive::Inline => 1,
    }
}

fn slots(capabilities: &Capabilities) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(in_flight(capabilities)))
}
