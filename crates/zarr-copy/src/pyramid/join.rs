//! Several workers share a pyramid, with the claims and the signs of life of a shared copy.
//!
//! A unit is some jobs of a pass that follow each other. The next pass begins when all units of the one before are recorded,
//! because it reads what they have made. In the end one worker writes the documents.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::marker::{self, Records};
use super::passes::Pass;
use super::places::Left;
use super::plan::PyramidPlan;
use super::run::{PyramidDone, Shift, Told};
use super::work::Work;
use crate::error::{CopyError, CopyErrorKind, CopyResult};
use crate::join::SharedCopy;
use crate::join::claims::{Claims, State};
use crate::run::{CopyProgress, Event};

/// The number of units that are looked at between two looks at the records.
const BATCH: usize = 64;

/// The folder and the name of the claim for writing the documents.
const DOCUMENTS: &str = "documents";

/// The share of one worker in a pyramid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PyramidShare {
    /// What this worker made and compared.
    pub done: PyramidDone,
    /// The number of units that this worker made.
    pub units: u64,
}

impl PyramidPlan {
    /// Makes the levels together with other workers of the same job, which run the same plan in other tasks, processes or
    /// machines. Returns when the levels are complete, whoever completed them. A worker may come late, die, or be started
    /// again: what it had claimed is taken over by the others. The levels are byte for byte what one worker makes.
    ///
    /// All workers should plan with the same memory and [threads](super::Pyramid::threads). Otherwise they cut the work into other
    /// units, and some of it is done twice. [`SharedCopy::verify`] lets the worker that writes the documents compare all levels
    /// before.
    ///
    /// # Errors
    /// [`Unsupported`](zarr_array::ArrayErrorKind::Unsupported) if the store cannot list, or has no conditional writes;
    /// [`Settings`](CopyErrorKind::Settings) if levels are to be replaced; otherwise as [`run`](Self::run). The records of the
    /// job stay, and it can be joined again.
    pub async fn join(&self, job: &SharedCopy, progress: CopyProgress<'_>) -> CopyResult<PyramidShare> {
        self.storage.check_writable()?;
        let can = self.storage.capabilities();
        if !(can.list && can.put_create && can.put_if) {
            let message = "workers cannot share levels in a store without listings and conditional writes";
            return Err(CopyError::unsupported(message));
        }
        if self.replace {
            return Err(CopyError::settings(
                "`replace`: levels that exist cannot be replaced by several workers",
            ));
        }
        let mut records = Records::new(&self.storage, &self.group)?;
        let left = match self.begin(true, &records).await {
            // Another worker has begun meanwhile.
            Err(e) if e.kind() == CopyErrorKind::Taken => self.begin(true, &records).await?,
            begun => begun?,
        };
        let mut share = PyramidShare::default();
        if left == Left::Complete {
            share.done.was_complete = true;
            return Ok(share);
        }
        let claims = Claims::begin(self.storage.clone(), records.folder(), job).await?;
        let mut worker = Worker { plan: self, claims, job, progress, share };
        let worked = worker.work(&mut records).await;
        let Worker { claims, share, .. } = worker;
        claims.end().await?;
        worked?;
        // This worker may have recorded something just when another one deleted all records.
        if !self.is_marked().await? {
            records.clear().await?;
        }
        Ok(share)
    }

    /// Whether the levels are not complete.
    async fn is_marked(&self) -> CopyResult<bool> {
        Ok(self.storage.exists(&marker::key(&self.group)?).await?)
    }
}

/// A worker of a job.
struct Worker<'a> {
    plan: &'a PyramidPlan,
    claims: Claims,
    job: &'a SharedCopy,
    progress: CopyProgress<'a>,
    share: PyramidShare,
}

/// A pass with its arrays.
struct Stage<'a> {
    plan: &'a PyramidPlan,
    /// The folder of its records.
    name: String,
    work: Arc<Work>,
    /// The number of jobs.
    jobs: u64,
    /// The number of jobs in a unit.
    in_unit: u64,
    /// The bytes of level 0 that a job reads, about.
    bytes: u64,
    /// Jobs that a run of one worker has recorded.
    recorded: HashSet<u64>,
}

/// The outcome of a unit in a round.
#[derive(PartialEq, Eq)]
enum Became {
    /// This worker has made it.
    Made,
    /// It was done before.
    Done,
    /// Another worker makes it.
    Taken,
}

impl<'a> Stage<'a> {
    fn new(plan: &'a PyramidPlan, pass: &Pass, job: &SharedCopy, name: String) -> CopyResult<Self> {
        let jobs = plan.grids[pass.below + pass.height].count();
        let read = plan.bytes_of(pass.below) / jobs.max(1);
        // All threads have something to do.
        let in_unit = (job.unit_bytes / read.max(1)).max((pass.threads * pass.at_once) as u64).max(1);
        let bytes = if pass.below == 0 { read } else { 0 };
        let work = Arc::new(plan.work(pass)?);
        Ok(Self { plan, name, work, jobs, in_unit, bytes, recorded: HashSet::new() })
    }

    /// Returns the jobs of a unit.
    fn unit(&self, number: u64) -> Range<u64> {
        number * self.in_unit..(number + 1).saturating_mul(self.in_unit).min(self.jobs)
    }
}

impl<'a> Worker<'a> {
    /// Works until the levels are complete.
    async fn work(&mut self, records: &mut Records) -> CopyResult<()> {
        for (number, plan) in self.plan.all().enumerate() {
            for pass in &plan.passes {
                let mut stage = Stage::new(plan, pass, self.job, pass.name(number))?;
                stage.recorded = records.done(&stage.name).await?;
                (self.progress)(Event::Array(stage.work.made.first().map_or("", |made| made.array.path())));
                if !self.stage(&stage).await? {
                    return Ok(());
                }
            }
        }
        while self.plan.is_marked().await? {
            if self.publish(records).await? {
                break;
            }
            self.claims.wait().await;
        }
        Ok(())
    }

    /// Works until all units of a pass are recorded. Returns `false` if the levels are complete.
    async fn stage(&mut self, stage: &Stage<'a>) -> CopyResult<bool> {
        let mut counted = HashSet::new();
        loop {
            let (mut is_whole, mut has_worked) = (true, false);
            let units = stage.jobs.div_ceil(stage.in_unit);
            for first in (0..units).step_by(BATCH) {
                let state = self.claims.state(&stage.name).await?;
                // If the marker is there, no record was deleted yet.
                if !self.plan.is_marked().await? {
                    return Ok(false);
                }
                for number in self.claims.order((first..units.min(first + BATCH as u64)).collect()) {
                    let became = self.unit(stage, stage.unit(number), &state).await?;
                    is_whole &= became != Became::Taken;
                    has_worked |= became == Became::Made;
                    if became != Became::Taken && counted.insert(number) && became == Became::Done {
                        let unit = stage.unit(number);
                        (self.progress)(Event::Bytes(stage.bytes.saturating_mul(unit.end - unit.start)));
                    }
                }
            }
            if is_whole {
                return Ok(true);
            }
            if !has_worked {
                self.claims.wait().await;
            }
        }
    }

    /// Makes a unit, if no other worker has it.
    async fn unit(&mut self, stage: &Stage<'a>, jobs: Range<u64>, state: &State) -> CopyResult<Became> {
        let name = format!("{}-{}", jobs.start, jobs.end);
        if state.done.contains_key(&name) || jobs.clone().all(|job| stage.recorded.contains(&job)) {
            return Ok(Became::Done);
        }
        let is_claimed = state.claimed.contains(&name);
        if !self.claims.take(&stage.name, &name, is_claimed).await? {
            return Ok(Became::Taken);
        }
        // The state may be old: the dead worker had finished, or even all levels are complete. The records are deleted after
        // the marker, so they are looked at first.
        if is_claimed && self.claims.state(&stage.name).await?.done.contains_key(&name) {
            return Ok(Became::Done);
        }
        if !self.plan.is_marked().await? {
            return Ok(Became::Taken);
        }
        let before = self.share.done.chunks;
        let wanted = jobs.end - jobs.start;
        let mut shift = Shift::begin(&stage.work, jobs);
        while let Some(told) = shift.next().await {
            match told {
                Told::Read(bytes) => {
                    self.share.done.bytes_read += bytes;
                    if stage.bytes > 0 {
                        (self.progress)(Event::Bytes(bytes));
                    }
                }
                Told::Done(_, made) => self.share.done.count(made),
            }
        }
        shift.end(wanted)?;
        // The record must not outlive what it says in a power cut.
        stage.plan.storage.sync().await?;
        self.claims.finish(&stage.name, &name, self.share.done.chunks - before).await?;
        self.share.units += 1;
        Ok(Became::Made)
    }

    /// Writes the documents, unless another worker does. Returns whether they are written.
    async fn publish(&mut self, records: &Records) -> CopyResult<bool> {
        let is_claimed = self.claims.holder(DOCUMENTS, DOCUMENTS).await?.is_some();
        if !self.claims.take(DOCUMENTS, DOCUMENTS, is_claimed).await? {
            return Ok(false);
        }
        // The claim of another worker is deleted after the marker: this may be a claim on what is written already.
        if !self.plan.is_marked().await? {
            return Ok(true);
        }
        self.plan.end(self.job.verify, true, records, &mut self.share.done, self.progress).await?;
        Ok(true)
    }
}
