//! The labels of one index beside those of another one: which of them are further ones.

use std::cmp::Ordering;

use super::{Index, Order};

impl Index {
    /// Returns how many labels at the beginning of `more` do not come after the last label of this index. Both must be in
    /// the same strict order, or nothing is known of their order: then the result is 0.
    pub(crate) fn overlap(&self, more: &Self) -> usize {
        let are_ordered = self.is_strict() && more.is_strict() && !more.is_empty();
        let same = self.order == more.order || self.len() < 2 || more.len() < 2;
        let Some(last) = self.len().checked_sub(1).filter(|_| are_ordered && same) else { return 0 };
        let order = if self.len() < 2 { more.order } else { self.order };
        let before = if order == Order::Descending { Ordering::Greater } else { Ordering::Less };
        let follows = |at: usize| self.key(last).compare(more.key(at)) == Some(before);
        (0..more.len()).take_while(|at| !follows(*at)).count()
    }

    /// Returns the position in `more` of a label that this index has, if no label of this index occurs twice.
    pub(crate) fn repeated(&self, more: &Self) -> Option<usize> {
        let sorted = |index: &Self| {
            let mut order: Vec<usize> =
                (0..index.len()).filter(|at| index.key(*at).compare(index.key(*at)).is_some()).collect();
            order.sort_by(|one, other| index.key(*one).compare(index.key(*other)).unwrap_or(Ordering::Equal));
            order
        };
        let own = sorted(self);
        if own.windows(2).any(|pair| self.key(pair[0]).is(self.key(pair[1]))) {
            return None;
        }
        let has = |at: &usize| {
            let found =
                own.binary_search_by(|own| self.key(*own).compare(more.key(*at)).unwrap_or(Ordering::Less));
            found.is_ok()
        };
        (0..more.len()).find(has)
    }

    /// Returns where the labels of another index are in this one, one after the other.
    pub(crate) fn run_of(&self, labels: &Self) -> Option<usize> {
        let is_at = |start: usize| (0..labels.len()).all(|at| self.key(start + at).is(labels.key(at)));
        (0..=self.len().checked_sub(labels.len())?).find(|start| is_at(*start))
    }
}
