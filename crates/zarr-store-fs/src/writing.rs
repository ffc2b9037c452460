//! The state of a store for writing: the values of its options, and the state that its clones share.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zarr_store::Durability;
use zarr_traits::Key;
use zarr_traits::lock::unpoisoned;

use crate::turn::Turns;

/// The default wait for a lock: longer than a write on a slow disk takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a store writes.
#[derive(Clone)]
pub(crate) struct Writing {
    pub(crate) durability: Durability,
    pub(crate) patience: Duration,
    pub(crate) single_writer: bool,
    /// Whether nobody reads the directory meanwhile.
    pub(crate) no_readers: bool,
    pub(crate) in_place: bool,
    pub(crate) shared: Arc<Shared>,
}

/// The state that all clones of a store share.
#[derive(Default)]
pub(crate) struct Shared {
    random: RandomState,
    counter: AtomicU64,
    pub(crate) turns: Turns,
    /// The number of temporaries that still get a name at once.
    named: AtomicU32,
    /// The number of puts that still look for an existing object first.
    replacing: AtomicU32,
    /// The open directory of the last object and its prefix, in a store without readers.
    parent: Mutex<Option<(String, Arc<OwnedFd>)>>,
}

impl Default for Writing {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            patience: PATIENCE,
            single_writer: false,
            no_readers: false,
            in_place: false,
            shared: Arc::default(),
        }
    }
}

impl Shared {
    /// Returns a number that no other store uses: random for each store, then counted. (A forked process counts the same
    /// numbers; files with these names are created exclusively.)
    pub(crate) fn unique(&self) -> u64 {
        self.random.hash_one(self.counter.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether the next temporary gets a name at once.
    pub(crate) fn is_to_be_named(&self) -> bool {
        self.named.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
    }

    /// Whether the next put probably replaces an object.
    pub(crate) fn expects_object(&self) -> bool {
        self.replacing.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
    }

    /// Returns the open directory of a key, if it is that of the last object.
    pub(crate) fn kept_parent(&self, key: &Key) -> Option<Arc<OwnedFd>> {
        let kept = unpoisoned(self.parent.lock());
        let (prefix, parent) = kept.as_ref()?;
        let is_in = key.as_str().strip_suffix(key.name()) == Some(prefix);
        is_in.then(|| parent.clone())
    }

    /// Keeps the open directory of a key for the next object.
    pub(crate) fn keep_parent(&self, key: &Key, parent: OwnedFd) -> Arc<OwnedFd> {
        let parent = Arc::new(parent);
        *unpoisoned(self.parent.lock()) = Some((key.parent().as_str().to_owned(), parent.clone()));
        parent
    }

    /// Closes the directory of the last object.
    pub(crate) fn forget_parent(&self) {
        *unpoisoned(self.parent.lock()) = None;
    }

    /// Makes the next `puts` look for an existing object first.
    pub(crate) fn expect_objects(&self, puts: u32) {
        self.replacing.fetch_max(puts, Ordering::Relaxed);
    }

    /// Makes the next `count` temporaries get a name at once.
    pub(crate) fn name_next(&self, temporaries: u32) {
        self.named.fetch_max(temporaries, Ordering::Relaxed);
    }
}
