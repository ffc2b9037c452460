//! Several workers share a copy, without a server: they claim its units by records that only one of them can create.
//!
//! The workers are processes on any machines that see the destination. Each looks for units that nobody has claimed,
//! copies them, and records them as done. What a dead worker has claimed is taken over. When all units of a pass are done,
//! one worker looks whether everything that the records speak of is there, and copies again what is not. In the end one
//! worker writes the documents.

pub(crate) mod claims;
mod job;
mod puts;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::Storage;

pub use job::{Share, SharedCopy};

use self::claims::{Claims, Record, State};
use self::puts::Puts;
use crate::destination::{CopyDestination, DestinationState, below};
use crate::error::{CopyError, CopyErrorKind, CopyResult};
use crate::plan::{CopyPlan, Kind};
use crate::run::{CopyProgress, Event};
use crate::told::{Action, Done, Told};
use crate::units::{Pass, Unit};

/// The number of units that a worker copies at once, so that one is read while another is written.
const AT_ONCE: usize = 2;

/// The number of units that are looked at between two looks at the records.
const BATCH: usize = 64;

/// The record of a pass of which all units are done.
const WHOLE: &str = "all";

/// The folder of the claim for writing the documents.
const DOCUMENTS: &str = "documents";

/// The longest wait for other workers between two looks.
const PATIENCE: Duration = Duration::from_secs(2);

impl CopyPlan {
    /// Copies to the node at `path` of a storage together with other workers of the same job, which run the same plan
    /// in other tasks, processes or machines. Returns when the copy is complete, whoever completed it. A worker may
    /// come late, die, or be started again: what it had claimed is taken over by the others. The copy is byte for byte
    /// what one worker makes of it. Before it becomes a node, one listing of each array shows whether the objects of
    /// all units are there; units that lack some are copied again. With [`SharedCopy::verify`] all units are compared
    /// that no worker of this run copied.
    ///
    /// All workers should plan with the same memory and [threads](crate::Copy::threads). Otherwise they cut the copy into
    /// other units, and some of it is copied twice.
    ///
    /// ```
    /// # #[cfg(feature = "standard")] {
    /// # use zarr_copy::zarr_hierarchy::zarr_array::{ArrayMeta, DataType, Storage, blocking::Array, standard};
    /// use zarr_copy::{Copy, SharedCopy, blocking};
    ///
    /// # let (source, destination) = (Storage::from(zarr_store::MemoryStore::new()), Storage::from(zarr_store::MemoryStore::new()));
    /// # let meta = ArrayMeta::builder([24, 8], DataType::Float32).chunks([1, 8]).build()?;
    /// # Array::create(source.clone(), "/", meta, &standard())?.write(.., &[1_f32; 192])?;
    /// let plan = blocking::plan(&Copy::new(source, "/", &standard()).threads(4))?;
    /// let job = SharedCopy::new("nightly-17")?;
    /// let share = blocking::join(&plan, destination, "/", &job, &|_| {})?;
    /// assert_eq!(share.done.moved.objects, 24); // this worker was alone
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Unsupported`](zarr_array::ArrayErrorKind::Unsupported) if the store cannot list, or has no conditional writes;
    /// otherwise as [`run`](Self::run). The records of the job stay, and it can be joined again.
    pub async fn join(
        &self,
        to: impl Into<Storage>,
        path: &str,
        job: &SharedCopy,
        progress: CopyProgress<'_>,
    ) -> CopyResult<Share> {
        let to = to.into();
        let can = to.capabilities();
        if !(can.list && can.put_create && can.put_if) {
            let message = "workers cannot share a copy to a store without listings and conditional writes";
            return Err(CopyError::unsupported(message));
        }
        let mut destination = self.place(to.clone(), path, true).await?;
        let found = match destination.begin(self).await {
            // Another worker has begun meanwhile.
            Err(e) if e.kind() == CopyErrorKind::Taken => {
                destination = self.place(to, path, true).await?;
                destination.begin(self).await?
            }
            begun => begun?,
        };
        let mut share = Share::default();
        // Others may have completed the copy between the look at the place and the marker of this worker.
        let is_complete = found == DestinationState::Complete
            || found == DestinationState::Nothing && self.is_complete(&destination.storage()).await?;
        if is_complete {
            // Of workers that died after the copy was complete.
            self.clear(&destination.storage()).await?;
            destination.unmark().await?;
            share.done.was_complete = true;
            return Ok(share);
        }
        let storage = destination.storage();
        // A power cut must not leave records without the marker that says whose they are: nobody could go on.
        storage.sync().await?;
        let claims = Claims::begin(storage.clone(), crate::marker::JOBS, job).await?;
        let puts = Puts::default();
        let at_work = HashMap::new();
        let mut worker = Worker {
            plan: self,
            destination: &destination,
            storage,
            claims,
            puts,
            at_work,
            earlier: None,
            job,
            progress,
            share,
            has_between: false,
        };
        let worked = worker.work().await;
        let Worker { claims, share, .. } = worker;
        claims.end().await?;
        worked?;
        // This worker may have recorded something just when another one deleted all records.
        destination.clear_jobs().await?;
        Ok(share)
    }

    /// Deletes what only helped to copy.
    async fn clear(&self, storage: &Storage) -> CopyResult<()> {
        for node in self.nodes() {
            let Kind::Array(planned) = &node.kind else { continue };
            let copy = planned.open(below(storage, node.below()), self)?;
            planned.work.finish(&copy, true).await?;
        }
        Ok(())
    }
}

/// A worker of a job.
struct Worker<'a> {
    plan: &'a CopyPlan,
    destination: &'a CopyDestination,
    /// The root of this storage is the root of the copy.
    storage: Storage,
    claims: Claims,
    puts: Puts,
    /// Earlier workers, and whether they are still at work.
    at_work: HashMap<String, bool>,
    /// The worker that had claimed the documents when this worker began.
    earlier: Option<String>,
    job: &'a SharedCopy,
    progress: CopyProgress<'a>,
    share: Share,
    /// Whether this worker may have written to an intermediate array.
    has_between: bool,
}

/// An array of the copy with its passes.
struct Task<'a> {
    path: &'a str,
    stages: Vec<Stage<'a>>,
}

/// A pass with what this worker knows of it.
struct Stage<'a> {
    /// The folder of its records.
    name: String,
    pass: Pass<'a>,
    is_done: bool,
    /// The workers that had recorded something when this worker began.
    earlier: HashSet<String>,
    /// The units that count in the progress, and their bytes.
    counted: HashSet<String>,
    bytes: u64,
}

/// The outcome of a unit in a round.
enum Became {
    /// This worker has copied it.
    Copied(Done),
    /// It was done before.
    Done,
    /// Another worker copies it.
    Taken,
}

impl<'a> Worker<'a> {
    /// Works until the copy is complete.
    async fn work(&mut self) -> CopyResult<()> {
        let mut tasks = self.tasks()?;
        self.earlier = self.claims.holder(DOCUMENTS, DOCUMENTS).await?;
        for stage in tasks.iter_mut().flat_map(|task| &mut task.stages) {
            let done = self.claims.state(&stage.name).await?.done;
            stage.earlier = done.into_values().map(|record| record.worker).collect();
        }
        while self.destination.is_unfinished().await? {
            let (is_whole, has_worked) = self.rounds(&mut tasks).await?;
            if is_whole && self.publish().await? {
                break;
            }
            if !has_worked {
                self.claims.wait().await;
            }
        }
        // Another worker may have completed the copy, and this one have written after that.
        if self.has_between {
            self.plan.clear(&self.storage).await?;
        }
        for stage in tasks.iter().flat_map(|task| &task.stages).filter(|stage| !stage.is_done) {
            self.tell(stage.left());
        }
        Ok(())
    }

    /// Makes a round of each array. Returns whether all of them are copied, and whether this worker copied anything.
    async fn rounds(&mut self, tasks: &mut [Task<'a>]) -> CopyResult<(bool, bool)> {
        let (mut is_whole, mut has_worked) = (true, false);
        for task in tasks {
            for number in 0..task.stages.len() {
                let (before, rest) = task.stages.split_at_mut(number);
                let Some(stage) = rest.first_mut().filter(|stage| !stage.is_done) else { continue };
                (self.progress)(Event::Array(task.path));
                self.has_between |= !stage.pass.name().is_empty();
                has_worked |= match self.round(stage).await {
                    Ok(has_worked) => has_worked,
                    // Another worker, maybe with other passes, found everything copied, and deletes what helped to copy. If
                    // it dies, this one takes over the documents.
                    Err(_) if self.is_copied().await? => return Ok((true, false)),
                    Err(e) if !e.is_missing() => return Err(e),
                    // The first of two passes writes what the second one reads.
                    Err(e) => match self.restore(before.first().unwrap_or(&*stage)).await {
                        Ok(true) => true,
                        _ => return Err(e),
                    },
                };
                if !stage.is_done {
                    // The next pass reads what this one writes.
                    is_whole = false;
                    break;
                }
            }
        }
        Ok((is_whole, has_worked))
    }

    /// Returns the arrays of the copy with their passes.
    fn tasks(&self) -> CopyResult<Vec<Task<'a>>> {
        let mut tasks = Vec::new();
        for (number, node) in self.plan.nodes().iter().enumerate() {
            let Kind::Array(planned) = &node.kind else { continue };
            let copy = planned.open(self.puts.over(&below(&self.storage, node.below())), self.plan)?;
            let passes = planned.work.passes(&planned.source, &copy)?.into_iter().enumerate();
            let stages =
                passes.map(|(pass, of)| Stage::new(format!("{number}.{pass}{}", of.name()), of)).collect();
            tasks.push(Task { path: node.path(), stages });
        }
        Ok(tasks)
    }

    /// Copies the units of a pass that no other worker has. Returns whether there were any.
    async fn round(&mut self, stage: &mut Stage<'a>) -> CopyResult<bool> {
        let (mut is_whole, mut has_worked) = (true, false);
        let mut batches = Box::pin(stage.pass.units(self.job.unit_bytes).try_chunks(BATCH));
        let mut counted = Vec::new();
        loop {
            let state = self.claims.state(&stage.name).await?;
            // If the marker is there, no record was deleted yet.
            if !self.destination.is_unfinished().await? {
                is_whole = false;
                break;
            }
            if self.is_recorded_whole(stage, &state).await? {
                is_whole = true;
                break;
            }
            let Some(batch) = batches.try_next().await.map_err(|e| e.1)? else { break };
            let order = self.claims.order(batch);
            let (worker, in_batch, state) = (&*self, &*stage, &state);
            let one = |unit: Unit| async move {
                let became = worker.unit(in_batch, &unit, state).await?;
                Ok::<_, CopyError>((unit, became))
            };
            let units: Vec<_> = stream::iter(order).map(one).buffer_unordered(AT_ONCE).try_collect().await?;
            for (unit, became) in units {
                match became {
                    Became::Taken => is_whole = false,
                    Became::Done => counted.push((unit, false)),
                    Became::Copied(done) => {
                        has_worked = true;
                        self.share.units += 1;
                        self.share.bytes += u128::from(unit.bytes);
                        self.share.done += done;
                        counted.push((unit, true));
                    }
                }
            }
        }
        drop(batches);
        for (unit, is_told) in counted {
            let bytes = stage.count(unit);
            if !is_told {
                self.tell(bytes);
            }
        }
        if is_whole && self.is_whole(stage).await? {
            stage.is_done = true;
            self.tell(stage.left());
        }
        Ok(has_worked)
    }

    /// Copies a unit, if no other worker has it.
    async fn unit(&self, stage: &Stage<'_>, unit: &Unit, state: &State) -> CopyResult<Became> {
        if state.done.contains_key(&unit.name) {
            return Ok(Became::Done);
        }
        let is_claimed = state.claimed.contains(&unit.name);
        if !self.claims.take(&stage.name, &unit.name, is_claimed).await? {
            return Ok(Became::Taken);
        }
        // The state may be old: the dead worker had finished, or even all of the copy is complete. The records are deleted
        // after the marker, so they are looked at first.
        if is_claimed && self.claims.state(&stage.name).await?.done.contains_key(&unit.name) {
            return Ok(Became::Done);
        }
        if !self.destination.is_unfinished().await? {
            return Ok(Became::Taken);
        }
        let done = self.copy(&stage.pass, unit, &|bytes| (self.progress)(Event::Bytes(bytes))).await?;
        let objects = self.puts.count(&stage.pass.keys(unit)?);
        // The record must not outlive what it says in a power cut.
        self.storage.sync().await?;
        self.claims.finish(&stage.name, &unit.name, objects).await?;
        Ok(Became::Copied(done))
    }

    async fn copy(&self, pass: &Pass<'_>, unit: &Unit, told: Told<'_>) -> CopyResult<Done> {
        let room = &self.plan.room;
        let mut done = pass.run(Action::Copy, unit, room, told).await?;
        if self.job.verify {
            done += pass.run(Action::Compare, unit, room, told).await?;
        }
        Ok(done)
    }

    /// Writes the documents, unless another worker does. Returns whether they are written.
    async fn publish(&self) -> CopyResult<bool> {
        let is_claimed = self.claims.holder(DOCUMENTS, DOCUMENTS).await?.is_some();
        if !self.claims.take(DOCUMENTS, DOCUMENTS, is_claimed).await? {
            return Ok(false);
        }
        // The claim of another worker is deleted after the marker: this may be a claim on what is written already.
        if !self.destination.is_unfinished().await? {
            return Ok(true);
        }
        self.plan.clear(&self.storage).await?;
        self.destination.publish(self.plan, DestinationState::Unfinished).await?;
        Ok(true)
    }

    /// Checks whether a pass is complete after all its units are recorded as done. One worker does this for all workers
    /// and copies missing objects. Returns whether this is done.
    async fn is_whole(&mut self, stage: &Stage<'a>) -> CopyResult<bool> {
        let state = self.claims.state(&stage.name).await?;
        if self.is_recorded_whole(stage, &state).await? {
            return Ok(true);
        }
        if !self.claims.take(&stage.name, WHOLE, state.claimed.contains(WHOLE)).await?
            || !self.destination.is_unfinished().await?
        {
            return Ok(false);
        }
        self.mend(stage, &state).await?;
        self.claims.finish(&stage.name, WHOLE, 0).await?;
        Ok(true)
    }

    /// Whether a worker of this run has recorded that a pass is whole.
    async fn is_recorded_whole(&mut self, stage: &Stage<'a>, state: &State) -> CopyResult<bool> {
        match state.done.get(WHOLE) {
            Some(record) => self.is_of_this_run(stage, record).await,
            None => Ok(false),
        }
    }

    /// Copies recorded objects again that are missing: another program may have deleted them since. With `verify`,
    /// compares objects that no worker of this run has copied, and copies those that differ.
    async fn mend(&mut self, stage: &Stage<'a>, state: &State) -> CopyResult<()> {
        let pass = &stage.pass;
        let stored = pass.stored().await?;
        let before = self.share.units;
        let mut units = Box::pin(pass.units(self.job.unit_bytes));
        while let Some(unit) = units.try_next().await? {
            let record = state.done.get(&unit.name);
            let keys = pass.keys(&unit)?;
            let wanted = match record {
                Some(record) if !pass.stores_all() => record.objects,
                // Without a record, nobody knows which chunks are not stored.
                _ => keys.len() as u64,
            };
            let is_there = keys.iter().filter(|key| stored.contains(*key)).count() as u64 >= wanted;
            let is_known = match record {
                _ if !self.job.verify => true,
                Some(record) => self.is_of_this_run(stage, record).await?,
                None => false,
            };
            if is_there && (is_known || self.is_equal(pass, &unit).await?) {
                continue;
            }
            self.share.done += self.copy(pass, &unit, &|_| {}).await?;
            self.share.units += 1;
            self.share.bytes += u128::from(unit.bytes);
        }
        if self.share.units > before {
            self.storage.sync().await?;
        }
        Ok(())
    }

    /// Copies again what is missing in the intermediate array that a pass writes: another worker has deleted it, one that died
    /// before it wrote the documents, or a late one that found the copy complete. Returns whether anything was missing.
    async fn restore(&mut self, stage: &Stage<'a>) -> CopyResult<bool> {
        if stage.pass.name().is_empty() {
            return Ok(false);
        }
        let (state, before) = (self.claims.state(&stage.name).await?, self.share.units);
        self.mend(stage, &state).await?;
        Ok(self.share.units > before)
    }

    /// Compares a unit with the source.
    async fn is_equal(&mut self, pass: &Pass<'_>, unit: &Unit) -> CopyResult<bool> {
        match pass.run(Action::Compare, unit, &self.plan.room, &|_| {}).await {
            Ok(done) => self.share.done += done,
            Err(e) if e.kind() == CopyErrorKind::Differs || e.is_corrupt() || e.is_missing() => {
                return Ok(false);
            }
            Err(e) => return Err(e),
        }
        Ok(true)
    }

    /// Whether a record is of a worker that was at work together with this one.
    async fn is_of_this_run(&mut self, stage: &Stage<'_>, record: &Record) -> CopyResult<bool> {
        Ok(!stage.earlier.contains(&record.worker) || self.is_at_work(&record.worker).await?)
    }

    /// Whether an earlier worker is, or was, at work together with this one.
    async fn is_at_work(&mut self, worker: &str) -> CopyResult<bool> {
        if let Some(known) = self.at_work.get(worker) {
            return Ok(*known);
        }
        let found = self.claims.is_at_work(worker).await?;
        self.at_work.insert(worker.to_owned(), found);
        Ok(found)
    }

    /// Whether a worker of this run has found everything copied. It writes the documents, has written them, or is dead.
    async fn is_copied(&mut self) -> CopyResult<bool> {
        let of_this_run = match self.claims.holder(DOCUMENTS, DOCUMENTS).await? {
            Some(worker) => self.earlier.as_ref() != Some(&worker) || self.is_at_work(&worker).await?,
            None => false,
        };
        // The claim and the signs of life are deleted after the marker, so the marker is looked at last.
        Ok(of_this_run || !self.destination.is_unfinished().await?)
    }

    /// Adds bytes that others have copied to the progress.
    fn tell(&self, bytes: u64) {
        let rounds = if self.job.verify { 2 } else { 1 };
        (self.progress)(Event::Bytes(bytes.saturating_mul(rounds)));
    }
}

impl<'a> Stage<'a> {
    fn new(name: String, pass: Pass<'a>) -> Self {
        Self { name, pass, is_done: false, earlier: HashSet::new(), counted: HashSet::new(), bytes: 0 }
    }

    /// Returns the bytes that do not count in the progress yet.
    fn left(&self) -> u64 {
        self.pass.bytes().saturating_sub(self.bytes)
    }

    /// Returns the bytes of a unit that is done, if it was not counted before.
    fn count(&mut self, unit: Unit) -> u64 {
        if !self.counted.insert(unit.name) {
            return 0;
        }
        self.bytes = self.bytes.saturating_add(unit.bytes);
        unit.bytes
    }
}
