//! Threads that do the jobs of a pass, each job from the first read to the last write, and tell what they have done.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread::{self, JoinHandle};

use futures_util::{StreamExt, stream};
use zarr_array::block_on;
use zarr_array::traits::BoxFuture;
use zarr_array::traits::lock::unpoisoned;

use crate::pause::pause;

/// A job: it gets its number and the desk to which it tells what it does.
pub(crate) type Job<M> = Arc<dyn Fn(u64, Arc<Desk<M>>) -> BoxFuture<'static, ()> + Send + Sync>;

/// What the threads of a crew share.
pub(crate) struct Desk<M> {
    /// The numbers of the jobs that nobody has begun.
    jobs: Mutex<Box<dyn Iterator<Item = u64> + Send>>,
    stop: AtomicBool,
    told: Mutex<Told<M>>,
}

struct Told<M> {
    messages: VecDeque<M>,
    /// The number of threads at work.
    working: usize,
    waker: Option<Waker>,
}

impl<M> Desk<M> {
    /// Whether the run ends before all jobs are done.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Begins no further job.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Tells the run something.
    pub(crate) fn tell(&self, message: M) {
        self.change(|told| told.messages.push_back(message));
    }

    fn change(&self, change: impl FnOnce(&mut Told<M>)) {
        let mut told = unpoisoned(self.told.lock());
        change(&mut told);
        let waker = told.waker.take();
        drop(told);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn take(&self) -> Option<u64> {
        if self.is_stopped() { None } else { unpoisoned(self.jobs.lock()).next() }
    }
}

/// A thread at work, which also ends by a panic.
struct AtWork<M>(Arc<Desk<M>>);

impl<M> Drop for AtWork<M> {
    fn drop(&mut self) {
        self.0.change(|told| told.working -= 1);
    }
}

/// Threads at work. They stop when this is dropped.
pub(crate) struct Crew<M> {
    desk: Arc<Desk<M>>,
    threads: Vec<JoinHandle<()>>,
    /// The work of the calling task, if there are no threads.
    inline: Option<BoxFuture<'static, ()>>,
}

impl<M: Send + 'static> Crew<M> {
    /// Does these jobs on so many threads, each with so many under way. Without threads the task does them that asks for
    /// [messages](Self::next).
    pub(crate) fn begin(
        jobs: impl Iterator<Item = u64> + Send + 'static,
        threads: usize,
        at_once: usize,
        job: &Job<M>,
    ) -> Self {
        let threads = threads.min(jobs.size_hint().1.unwrap_or(usize::MAX));
        let told = Told { messages: VecDeque::new(), working: 0, waker: None };
        let (stop, told) = (AtomicBool::new(false), Mutex::new(told));
        let desk = Arc::new(Desk { jobs: Mutex::new(Box::new(jobs)), stop, told });
        let mut crew = Self { desk, threads: Vec::new(), inline: None };
        for number in 0..threads {
            let guard = crew.at_work();
            let (desk, job) = (crew.desk.clone(), job.clone());
            let work = move || {
                let _guard = guard;
                block_on(work(desk, at_once, job));
            };
            match thread::Builder::new().name(format!("zarr-pyramid-{number}")).spawn(work) {
                Ok(thread) => crew.threads.push(thread),
                // The others do its jobs.
                Err(_) => break,
            }
        }
        if crew.threads.is_empty() {
            let (desk, job, guard) = (crew.desk.clone(), job.clone(), crew.at_work());
            crew.inline = Some(Box::pin(async move {
                let _guard = guard;
                work(desk, at_once, job).await;
            }));
        }
        crew
    }

    fn at_work(&self) -> AtWork<M> {
        self.desk.change(|told| told.working += 1);
        AtWork(self.desk.clone())
    }

    /// Waits for the next message. `None` if all threads have ended.
    pub(crate) async fn next(&mut self) -> Option<M> {
        poll_fn(|context| {
            // What is done is told before more is done.
            let waiting = unpoisoned(self.desk.told.lock()).messages.pop_front();
            if let Some(message) = waiting {
                return Poll::Ready(Some(message));
            }
            if let Some(inline) = &mut self.inline
                && inline.as_mut().poll(context).is_ready()
            {
                self.inline = None;
            }
            let mut told = unpoisoned(self.desk.told.lock());
            match told.messages.pop_front() {
                Some(message) => Poll::Ready(Some(message)),
                None if told.working == 0 => Poll::Ready(None),
                None => {
                    told.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

async fn work<M: Send + 'static>(desk: Arc<Desk<M>>, at_once: usize, job: Job<M>) {
    let (of_jobs, of_work) = (desk.clone(), desk);
    let numbers = stream::iter(std::iter::from_fn(move || of_jobs.take()));
    let mut done = pin!(numbers.map(|number| job(number, of_work.clone())).buffer_unordered(at_once));
    while done.next().await.is_some() {
        // The run hears of it before more is done.
        pause().await;
    }
}

impl<M> Drop for Crew<M> {
    fn drop(&mut self) {
        self.desk.stop();
        // Nothing is written after the run has ended.
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_jobs_are_done_with_and_without_threads() {
        let job: Job<u64> = Arc::new(|number, desk| {
            Box::pin(async move {
                pause().await;
                desk.tell(number * number);
            })
        });
        for (threads, at_once) in [(0, 1), (0, 3), (1, 1), (4, 2)] {
            let mut crew = Crew::begin(0..50, threads, at_once, &job);
            let mut seen = Vec::new();
            while let Some(square) = block_on(crew.next()) {
                seen.push(square);
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..50).map(|n| n * n).collect::<Vec<u64>>(), "{threads}, {at_once}");
        }
    }

    #[test]
    fn a_panic_ends_a_thread_and_not_the_run() {
        let job: Job<u64> = Arc::new(|number, desk| {
            Box::pin(async move {
                assert_ne!(number, 1, "this panic is part of the test");
                desk.tell(number);
            })
        });
        let mut crew = Crew::begin(0..3, 1, 1, &job);
        assert_eq!(block_on(crew.next()), Some(0));
        assert_eq!(block_on(crew.next()), None);
    }
}
