//! Turns: threads of this process change an object one after the other.
//!
//! The lock file would also keep them apart, but only by polling. Here the next thread is woken.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use zarr_traits::lock::unpoisoned;

/// The paths of the objects that are being changed.
#[derive(Default)]
pub(crate) struct Turns {
    taken: Mutex<HashSet<String>>,
    ended: Condvar,
}

/// The right to change an object, among threads that use the same [`Turns`]. It ends on drop.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    path: String,
}

impl Turns {
    /// Waits for the turn. Returns `None` if the time is up.
    pub(crate) fn wait(&self, path: &str, longest: Duration) -> Option<Turn<'_>> {
        let is_taken = |taken: &mut HashSet<String>| taken.contains(path);
        let waited = self.ended.wait_timeout_while(unpoisoned(self.taken.lock()), longest, is_taken);
        let (mut taken, _) = unpoisoned(waited);
        taken.insert(path.to_owned()).then(|| Turn { turns: self, path: path.to_owned() })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        unpoisoned(self.turns.taken.lock()).remove(&self.path);
        self.turns.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn the_next_thread_is_woken_and_other_objects_do_not_wait() {
        let turns = Turns::default();
        let first = turns.wait("a", LONG).unwrap();
        assert!(turns.wait("a", Duration::ZERO).is_none());
        assert!(turns.wait("b", Duration::ZERO).is_some());
        thread::scope(|scope| {
            let waiting = [(); 3].map(|()| scope.spawn(|| turns.wait("a", LONG).is_some()));
            drop(first);
            assert!(waiting.into_iter().all(|thread| thread.join().unwrap()));
        });
        assert!(unpoisoned(turns.taken.lock()).is_empty(), "ended turns are removed");
    }
}
