//! Values of one selection after the other, of which some are read ahead by the threads of the pool.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};

use zarr_engine::run::caught;
use zarr_traits::lock::unpoisoned;

use super::Array;
use crate::element::Element;
use crate::error::ArrayResult;
use crate::select::Selection;
use crate::values::NdVec;

/// The values of one selection after the other, of which some are read ahead. See
/// [`read_each`](crate::blocking::Array::read_each).
#[derive(Debug)]
pub struct ReadEach<T, I> {
    array: Array,
    selections: I,
    ahead: usize,
    /// The reads that have begun or wait for a thread, in order.
    reads: VecDeque<Arc<Ahead<T>>>,
}

impl<T: Element, S: Into<Selection>, I: Iterator<Item = S>> ReadEach<T, I> {
    pub(crate) fn new(array: Array, selections: I, ahead: usize) -> Self {
        Self { array, selections, ahead, reads: VecDeque::new() }
    }

    /// Gives the pool as many reads as may be ahead.
    fn go_ahead(&mut self) {
        while self.reads.len() < self.ahead {
            let Some(selection) = self.selections.next() else { return };
            let read = Arc::new(Ahead::new(self.array.clone(), selection.into()));
            if let Some(pool) = self.array.inner().core.cpu.pool() {
                let read = read.clone();
                pool.spawn(Box::new(move || read.run()));
            }
            self.reads.push_back(read);
        }
    }
}

impl<T: Element, S: Into<Selection>, I: Iterator<Item = S>> Iterator for ReadEach<T, I> {
    type Item = ArrayResult<NdVec<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(read) = self.reads.pop_front() else {
            let selection = self.selections.next()?;
            self.go_ahead();
            return Some(self.array.read(selection));
        };
        self.go_ahead();
        // The caller does what no worker has begun, so a pool that is busy does not matter.
        read.run();
        Some(read.wait())
    }
}

impl<T, I> Drop for ReadEach<T, I> {
    /// Takes back the reads that no worker has begun.
    fn drop(&mut self) {
        self.reads.iter().for_each(|read| drop(unpoisoned(read.job.lock()).take()));
    }
}

/// A read that one thread does and another waits for.
#[derive(Debug)]
struct Ahead<T> {
    /// The read, until a thread begins it.
    job: Mutex<Option<(Array, Selection)>>,
    values: Mutex<Option<ArrayResult<NdVec<T>>>>,
    is_done: Condvar,
}

impl<T: Element> Ahead<T> {
    fn new(array: Array, selection: Selection) -> Self {
        let job = Mutex::new(Some((array, selection)));
        Self { job, values: Mutex::default(), is_done: Condvar::new() }
    }

    /// Reads, unless another thread has begun to.
    fn run(&self) {
        let Some((array, selection)) = unpoisoned(self.job.lock()).take() else { return };
        let values = caught(|| array.read(selection));
        *unpoisoned(self.values.lock()) = Some(values);
        self.is_done.notify_all();
    }

    /// Waits for the values. Some thread must have begun to read.
    fn wait(&self) -> ArrayResult<NdVec<T>> {
        let mut values = unpoisoned(self.values.lock());
        loop {
            if let Some(values) = values.take() {
                return values;
            }
            values = unpoisoned(self.is_done.wait(values));
        }
    }
}
