//! Runs a plan: makes the levels, and lets the group name them when they are whole.
//!
//! The order is: marker, chunks, documents of the levels, metadata of the group, consolidated metadata, end of the marker.
//! So a reader never finds a level in the metadata of the group that is not whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_array::{Array, ArrayErrorKind, Cpu, OpenOptions};

use super::crew::{Crew, Desk, Job};
use super::marker::{self, Records};
use super::passes::{Pass, passes_of_each};
use super::places::Left;
use super::plan::PyramidPlan;
use super::work::{Made, Work};
#[cfg(doc)]
use crate::error::CopyErrorKind;
use crate::error::{CopyError, CopyResult};
use crate::memory::limited;
use crate::run::{CopyProgress, Event, RunOptions};

/// What a run has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PyramidDone {
    /// The number of chunks or shards that were made, also those that hold only the fill value and are not stored.
    pub chunks: u64,
    /// The bytes of elements in them.
    pub bytes: u64,
    /// The bytes of elements that were read, of level 0 and of levels that were read again.
    pub bytes_read: u64,
    /// Whether the levels were compared with those below them.
    pub is_verified: bool,
    /// Whether an earlier run had finished, so that nothing was done.
    pub was_complete: bool,
}

impl PyramidDone {
    /// Counts chunks and bytes that were made.
    pub(super) fn count(&mut self, (chunks, bytes): (u64, u64)) {
        self.chunks += chunks;
        self.bytes += bytes;
    }

    /// Returns what this run and then another one have done.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            chunks: self.chunks + other.chunks,
            bytes: self.bytes + other.bytes,
            bytes_read: self.bytes_read + other.bytes_read,
            is_verified: self.is_verified && other.is_verified,
            was_complete: self.was_complete && other.was_complete,
        }
    }
}

/// What a job has done.
pub(super) enum Told {
    Read(u64),
    /// The number of the job, the chunks and bytes that it made.
    Done(u64, (u64, u64)),
}

/// What a job tells.
type Message = CopyResult<Told>;

impl PyramidPlan {
    /// Makes the levels. If the run fails or its future is dropped, what is made stays, and
    /// [`RunOptions::resume`] goes on; the chunks of level 0 must not change meanwhile. With [`RunOptions::verify`] each
    /// level is compared with the one below before the group names it, except for those with lossy codecs, which are only
    /// read.
    ///
    /// # Errors
    /// [`Taken`](CopyErrorKind::Taken) if levels exist, or another unfinished pyramid;
    /// [`Differs`](CopyErrorKind::Differs) if a comparison fails; and those of the store, with the array and the key of the
    /// chunk. The metadata of the group are unchanged then.
    pub async fn run(&self, options: RunOptions, progress: CopyProgress<'_>) -> CopyResult<PyramidDone> {
        self.storage.check_writable()?;
        let mut records = Records::new(&self.storage, &self.group)?;
        let mut done = PyramidDone::default();
        let left = self.begin(options.resume, &records).await?;
        if left == Left::Complete {
            done.was_complete = true;
            return Ok(done);
        }
        for (number, plan) in self.all().enumerate() {
            for pass in &plan.passes {
                let name = pass.name(number);
                plan.make(pass, (&name, left == Left::Unfinished), &mut records, &mut done, progress).await?;
            }
        }
        self.end(options.verify, left == Left::Unfinished, &records, &mut done, progress).await?;
        Ok(done)
    }

    /// Ends a run of which all chunks are made: compares them, and writes the documents.
    pub(super) async fn end(
        &self,
        verify: bool,
        resumed: bool,
        records: &Records,
        done: &mut PyramidDone,
        progress: CopyProgress<'_>,
    ) -> CopyResult<()> {
        if verify {
            for plan in self.all() {
                plan.verify(done, progress).await?;
            }
            done.is_verified = true;
        }
        self.copy_kept().await?;
        self.publish(resumed).await?;
        // Without the marker nothing says how to go on.
        self.storage.sync().await?;
        self.storage.delete(&marker::key(&self.group)?).await?;
        records.clear().await
    }

    /// Makes the levels of a pass, whose records have this name.
    async fn make(
        &self,
        pass: &Pass,
        (name, resumes): (&str, bool),
        records: &mut Records,
        done: &mut PyramidDone,
        progress: CopyProgress<'_>,
    ) -> CopyResult<()> {
        let work = Arc::new(self.work(pass)?);
        let top = &self.grids[pass.below + pass.height];
        let mut known = if resumes { records.done(name).await? } else { Default::default() };
        let count = top.count();
        known.retain(|job| *job < count);
        let skipped = known.len() as u64;
        let wanted = count - skipped;
        let jobs = (0..count).filter(move |job| !known.contains(job));
        progress(Event::Array(work.made.first().map_or("", |made| made.array.path())));
        let is_first = pass.below == 0;
        let all = self.own_bytes();
        if is_first && skipped > 0 {
            // About as many bytes as these jobs have read.
            let part = u128::from(all) * u128::from(skipped) / u128::from(count.max(1));
            progress(Event::Bytes(u64::try_from(part).unwrap_or(all)));
        }
        let (mut finished, mut since) = (Vec::new(), 0);
        let mut shift = Shift::begin(&work, jobs);
        while let Some(told) = shift.next().await {
            match told {
                Told::Read(bytes) => {
                    done.bytes_read += bytes;
                    since += bytes;
                    if is_first {
                        progress(Event::Bytes(bytes));
                    }
                }
                Told::Done(number, made) => {
                    done.count(made);
                    finished.push(number);
                }
            }
            if since >= self.recorded && !finished.is_empty() {
                since = 0;
                self.record(records, name, &mut finished).await?;
            }
        }
        let ended = shift.end(wanted);
        let recorded = match finished.is_empty() {
            true => Ok(()),
            false => self.record(records, name, &mut finished).await,
        };
        // A record that cannot be written has the same reason.
        ended.and(recorded)
    }

    /// Records finished jobs. The record must not outlive what it says in a power cut.
    async fn record(&self, records: &mut Records, pass: &str, finished: &mut Vec<u64>) -> CopyResult<()> {
        self.storage.sync().await?;
        records.add(pass, finished).await?;
        finished.clear();
        Ok(())
    }

    /// Compares each level with the one below.
    async fn verify(&self, done: &mut PyramidDone, progress: CopyProgress<'_>) -> CopyResult<()> {
        for pass in passes_of_each(&self.passes, &self.grids, &self.described.factors) {
            let work = Arc::new(self.work(&pass)?);
            progress(Event::Array(work.made.first().map_or("", |made| made.array.path())));
            let count = self.grids[pass.below + 1].count();
            let compared = Arc::new(AtomicU64::new(0));
            let job: Job<Message> = Arc::new({
                let (work, compared) = (work.clone(), compared.clone());
                move |number, desk| {
                    let (work, compared) = (work.clone(), compared.clone());
                    Box::pin(async move {
                        let goes = |bytes| goes(&desk, bytes);
                        match work.compare(number, &goes).await {
                            Ok(is_whole) => drop(compared.fetch_add(u64::from(is_whole), Ordering::Relaxed)),
                            Err(e) => fail(&desk, e),
                        }
                    })
                }
            });
            let mut failed = None;
            let mut crew = Crew::begin(0..count, pass.threads, pass.at_once, &job);
            while let Some(told) = crew.next().await {
                match told {
                    Ok(Told::Read(bytes)) => {
                        done.bytes_read += bytes;
                        if pass.below == 0 {
                            progress(Event::Bytes(bytes));
                        }
                    }
                    Err(e) => failed = failed.or(Some(e)),
                    Ok(Told::Done(..)) => {}
                }
            }
            drop(crew);
            if let Some(e) = failed {
                return Err(e);
            }
            if compared.load(Ordering::Relaxed) < count {
                return Err(CopyError::node(ArrayErrorKind::Panic, "a thread ended before its work"));
            }
        }
        Ok(())
    }

    /// Opens the arrays of a pass.
    pub(super) fn work(&self, pass: &Pass) -> CopyResult<Work> {
        let (registry, cpu) = (&self.registry, Cpu::inline());
        let mut made = Vec::new();
        let open = |level: usize| -> CopyResult<Array> {
            let Some(meta) = level.checked_sub(1).map(|at| &self.metas[at]) else {
                return Ok(limited(&self.level0, registry, &cpu, pass.job)?);
            };
            let place = self.place(&self.described.levels[level].path)?;
            let (storage, options) = (self.storage.clone(), OpenOptions::new());
            let array = Array::from_metadata(storage, place, meta.clone(), Vec::new(), registry, &options)?;
            Ok(limited(&array, registry, &cpu, pass.job)?)
        };
        for level in pass.below + 1..=pass.below + pass.height {
            made.push(Made { grid: self.grids[level].clone(), array: open(level)? });
        }
        Ok(Work {
            pass: pass.clone(),
            kernel: self.kernel.clone(),
            factors: self.described.factors.clone(),
            source: open(pass.below)?,
            made,
        })
    }
}

/// Jobs of a pass that are under way.
pub(super) struct Shift {
    crew: Crew<Message>,
    failed: Option<CopyError>,
    /// The number of finished jobs.
    finished: u64,
}

impl Shift {
    /// Begins jobs on the threads of their pass.
    pub(super) fn begin(work: &Arc<Work>, jobs: impl Iterator<Item = u64> + Send + 'static) -> Self {
        let job: Job<Message> = Arc::new({
            let work = work.clone();
            move |number, desk| {
                let work = work.clone();
                Box::pin(async move {
                    let goes = |bytes| goes(&desk, bytes);
                    match work.job(number, &goes).await {
                        Ok(Some(made)) => desk.tell(Ok(Told::Done(number, made))),
                        Ok(None) => {}
                        Err(e) => fail(&desk, e),
                    }
                })
            }
        });
        let crew = Crew::begin(jobs, work.pass.threads, work.pass.at_once, &job);
        Self { crew, failed: None, finished: 0 }
    }

    /// Waits for what the jobs tell next. `None` if all have ended.
    pub(super) async fn next(&mut self) -> Option<Told> {
        loop {
            match self.crew.next().await? {
                Err(e) => self.failed = self.failed.take().or(Some(e)),
                Ok(told) => {
                    self.finished += u64::from(matches!(told, Told::Done(..)));
                    return Some(told);
                }
            }
        }
    }

    /// Returns whether so many jobs are done, after all have ended.
    pub(super) fn end(self, wanted: u64) -> CopyResult<()> {
        let Self { crew, failed, finished } = self;
        drop(crew);
        match failed {
            Some(e) => Err(e),
            None if finished < wanted => {
                Err(CopyError::node(ArrayErrorKind::Panic, "a thread ended before its work"))
            }
            None => Ok(()),
        }
    }
}

/// Tells that bytes were read. Returns whether the work goes on.
fn goes(desk: &Desk<Message>, bytes: u64) -> bool {
    desk.tell(Ok(Told::Read(bytes)));
    !desk.is_stopped()
}

/// Tells an error, and ends the work.
fn fail(desk: &Desk<Message>, e: CopyError) {
    desk.stop();
    desk.tell(Err(e));
}
