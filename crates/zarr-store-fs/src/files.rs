//! Files that stay open from one read of a part to the next.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::sync::{Arc, Mutex};

use zarr_traits::lock::unpoisoned;

use crate::path::Stamp;

/// An open regular file; the pin of a [`Version`].
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) size: u64,
}

/// Up to a number of open files, by key.
pub(crate) struct Files {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    files: HashMap<String, Slot>,
    /// The order in which files are closed. A file that was used since gets a second chance.
    queue: VecDeque<String>,
}

struct Slot {
    opened: Arc<Opened>,
    stamp: Stamp,
    used: bool,
}

impl Files {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    /// Returns the open file of a key, and its stamp when it was opened.
    pub(crate) fn get(&self, key: &str) -> Option<(Arc<Opened>, Stamp)> {
        let mut kept = unpoisoned(self.kept.lock());
        let slot = kept.files.get_mut(key)?;
        slot.used = true;
        Some((slot.opened.clone(), slot.stamp))
    }

    /// Keeps a file, and closes another one if there are too many.
    pub(crate) fn keep(&self, key: &str, opened: Arc<Opened>, stamp: Stamp) {
        let mut kept = unpoisoned(self.kept.lock());
        let Kept { files, queue } = &mut *kept;
        if files.insert(key.to_owned(), Slot { opened, stamp, used: false }).is_none() {
            queue.push_back(key.to_owned());
        }
        while files.len() > self.most {
            let Some(oldest) = queue.pop_front() else { break };
            match files.get_mut(&oldest) {
                Some(slot) if slot.used => {
                    slot.used = false;
                    queue.push_back(oldest);
                }
                _ => drop(files.remove(&oldest)),
            }
        }
    }

    /// Closes the files of a key, and of all keys that begin with it.
    pub(crate) fn forget(&self, prefix: &str) {
        let mut kept = unpoisoned(self.kept.lock());
        kept.files.retain(|key, _| !key.starts_with(prefix));
        kept.queue.retain(|key| !key.starts_with(prefix));
    }
}
