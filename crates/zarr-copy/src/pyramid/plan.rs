//! The plan of a pyramid: what is downsampled, into which levels, and how. Nothing is written.

use std::ops::Range;

use zarr_array::meta::multiscale::OmeVersion;
use zarr_array::meta::{ArrayMeta, Format};
use zarr_array::traits::Prefix;
use zarr_array::traits::number::Numeric;
use zarr_array::{Array, ArrayErrorKind, Registry, Storage};

use super::builder::Pyramid;
use super::found::Found;
use super::group::{self, Described, MultiscaleMetadata};
use super::kernel::Kernel;
use super::levels::{PyramidLevel, shapes, shapes_beside};
use super::method::Downsample;
use super::passes::{self, Grid, Means, Pass, region};
use crate::elements;
#[cfg(doc)]
use crate::error::CopyErrorKind;
use crate::error::{CopyError, CopyResult};
use crate::size::Size;
use crate::told::{Estimate, array_of};

/// The number of jobs of a thread that waits for a service.
const AT_ONCE: usize = 4;

/// The plan of a pyramid. Made by [`Pyramid::plan`]; nothing is written before [`run`](Self::run).
#[derive(Debug)]
pub struct PyramidPlan {
    pub(super) storage: Storage,
    pub(super) registry: Registry,
    pub(super) format: Format,
    /// The group of the levels.
    pub(super) group: Prefix,
    pub(super) level0: Array,
    /// The names of its dimensions.
    pub(super) names: Vec<Option<String>>,
    pub(super) described: Described,
    pub(super) metas: Vec<ArrayMeta>,
    pub(super) grids: Vec<Grid>,
    pub(super) passes: Vec<Pass>,
    pub(super) kernel: Kernel,
    /// The settings that change elements, for the marker.
    pub(super) settings: String,
    /// The paths of levels that the group names beside level 0.
    pub(super) named: Vec<String>,
    pub(super) replace: bool,
    /// After so many bytes of level 0 the finished work is recorded.
    pub(super) recorded: u64,
    /// The other arrays of the group that is level 0: bands, coordinates.
    pub(super) beside: Vec<PyramidPlan>,
    /// The names of the arrays in that group that are the same in each level.
    pub(super) kept: Vec<String>,
    notes: Vec<String>,
}

/// The most chunks or shards of a level.
const MOST: u64 = 1 << 36;

/// An estimate looks at this many units along a dimension, and takes the others for alike.
const LOOKED_AT: u32 = 1 << 16;

impl Pyramid {
    /// Looks at the array and the group, and decides what to do. Reads only documents.
    ///
    /// # Errors
    /// [`Settings`](CopyErrorKind::Settings) if the settings do not fit the array;
    /// [`Unsupported`](ArrayErrorKind::Unsupported) for elements that have no levels, and for an array without a group around
    /// it; [`LimitExceeded`](ArrayErrorKind::LimitExceeded) if one chunk or shard needs more than
    /// [`max_memory`](Self::max_memory).
    pub async fn plan(&self) -> CopyResult<PyramidPlan> {
        let (first, others) = self.find().await?;
        self.plan_of(first, others)
    }

    /// Plans the levels of an array, and of others beside it in the group that is level 0.
    pub(super) fn plan_of(&self, first: Found, others: Vec<Found>) -> CopyResult<PyramidPlan> {
        let place = array_of(&first.level0);
        let mut plan = first.plan(self, None).map_err(|e| e.within(place))?;
        for other in others {
            let (place, name) = (array_of(&other.level0), other.level0.path().to_owned());
            if other.factors_beside(&plan.names, &plan.described.factors).iter().all(|factor| *factor == 1) {
                plan.kept.push(name.rsplit('/').next().unwrap_or_default().to_owned());
            } else {
                let leader = Leader {
                    names: &plan.names,
                    factors: &plan.described.factors,
                    count: plan.levels().len(),
                    described: Some(&plan.described),
                };
                let beside = other.plan(self, Some(&leader)).map_err(|e| e.within(place))?;
                plan.beside.push(beside);
            }
        }
        Ok(plan)
    }
}

/// An image whose levels other arrays follow.
#[derive(Debug)]
pub(super) struct Leader<'a> {
    pub(super) names: &'a [Option<String>],
    pub(super) factors: &'a [u64],
    /// The number of levels beside level 0.
    pub(super) count: usize,
    /// The levels as the group describes them, if it describes those of the others with them.
    pub(super) described: Option<&'a Described>,
}

impl Found {
    /// Plans the levels of an array; as many as those that it follows.
    pub(super) fn plan(self, pyramid: &Pyramid, first: Option<&Leader<'_>>) -> CopyResult<PyramidPlan> {
        let mut notes = Vec::new();
        let format = self.level0.metadata().format();
        if format == Format::V1 {
            return Err(CopyError::unsupported("arrays of format 1 can be read, but not written"));
        }
        let names = self.names();
        let factors = match first {
            Some(first) => self.factors_beside(first.names, first.factors),
            None => self.factors(pyramid, &names, &mut notes)?,
        };
        let usual = || self.usual_method();
        let method = match (pyramid.method, names.len()) {
            // The positions of boxes, or of their first elements.
            (Some(method), 1) if first.is_some() && method != Downsample::Nearest => Downsample::Mean,
            (method, _) => method.unwrap_or_else(usual),
        };
        if let Some(obstacle) = method.obstacle(self.level0.data_type()) {
            return Err(CopyError::unsupported(obstacle));
        }
        let shape = self.level0.shape();
        let shapes = match first {
            Some(first) => shapes_beside(shape, &factors, first.count),
            None => shapes(shape, &factors, pyramid.levels),
        };
        if shapes.is_empty() {
            return Err(CopyError::settings(format!(
                "no further level is needed: the shape is {shape:?}; `levels` gives their number"
            )));
        }
        let missing = pyramid.missing.of(&self.level0, self.said.image.is_some())?;
        let other_sign = has_other_sign(&self.level0);
        let kernel = Kernel::new(self.level0.data_type(), method, other_sign, missing.clone());
        let settings = format!("{method} {factors:?} {other_sign} {missing:?}");
        let has_place = self.said.has_place || self.place(&names).is_some();
        let given = (pyramid.metadata.as_deref(), pyramid.ome_version);
        let mut choice = match (first.and_then(|first| first.described), &self.asset) {
            (Some(described), _) => described.choice_beside(),
            (None, Some(_)) => group::choose_for_groups(given, format)?,
            (None, None) => group::choose(given, &self.said, format, (&names, has_place))?,
        };
        notes.extend(choice.note.take());
        let described = self.describe(pyramid, &shapes, factors, method, choice, &names)?;
        let metas = (1..described.levels.len()).map(|level| self.meta(pyramid, &described, level));
        let metas = metas.collect::<CopyResult<Vec<_>>>()?;
        let grids = self.grids(&metas, &described);
        if let Some(grid) = grids.iter().find(|grid| grid.count() > MOST) {
            let message =
                format!("{} chunks are more than the {MOST} of which levels are made", grid.count());
            return Err(CopyError::node(ArrayErrorKind::LimitExceeded, message));
        }
        let passes = self.passes(pyramid, &grids, &described.factors)?;
        let named: Vec<String> = self.said.paths().skip(1).map(str::to_owned).collect();
        // Levels are removed when they are replaced.
        let holds = |path: &&String| format!("{}/", self.below).starts_with(&format!("{path}/"));
        if let Some(path) = named.iter().find(holds) {
            let message = format!("the group names {path:?} as a further level, but level 0 is there");
            return Err(CopyError::settings(message));
        }
        Ok(PyramidPlan {
            storage: pyramid.storage.clone(),
            registry: pyramid.registry.clone(),
            format,
            group: self.group,
            level0: self.level0,
            described,
            metas,
            grids,
            passes,
            kernel,
            settings,
            named,
            replace: pyramid.replace,
            recorded: pyramid.recorded,
            names,
            beside: Vec::new(),
            kept: Vec::new(),
            notes,
        })
    }

    fn passes(&self, pyramid: &Pyramid, grids: &[Grid], factors: &[u64]) -> CopyResult<Vec<Pass>> {
        let waits = pyramid.storage.capabilities().drive.in_flight() > 1;
        let means = Means {
            threads: pyramid.threads,
            memory: pyramid.memory.bytes(),
            at_once: if waits { AT_ONCE } else { 1 },
            size: elements::size(self.level0.data_type()),
        };
        let least = match passes::passes(grids, factors, means) {
            Ok(passes) => return Ok(passes),
            Err(least) => least,
        };
        // Without a limit of the caller one chunk or shard may take what it needs.
        let mut memory = means.memory;
        while let Some(more) = pyramid.memory.grown(memory) {
            memory = more;
            if let Ok(passes) = passes::passes(grids, factors, Means { memory, ..means }) {
                return Ok(passes);
            }
        }
        let what = if grids.iter().any(|grid| grid.has_shards) { "shard" } else { "chunk" };
        let [memory, least] = [means.memory, least].map(|bytes| Size(bytes.into()));
        let message =
            format!("{memory} do not hold one {what} of a level: allow at least {least} with `max_memory`");
        Err(CopyError::node(ArrayErrorKind::LimitExceeded, message))
    }
}

/// Whether the attribute `_Unsigned` says that integers are of the other signedness.
pub(super) fn has_other_sign(array: &Array) -> bool {
    let is_signed = matches!(array.data_type().numeric(), Some(Numeric::Integer { signed: true, .. }));
    let attributes = array.metadata().attributes();
    match attributes.get("_Unsigned").and_then(|text| text.as_text()).as_deref() {
        Some("true") => is_signed,
        Some("false") => !is_signed,
        _ => false,
    }
}

impl Estimate {
    /// Returns the work of this one and then of another one.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            passes: self.passes.saturating_add(other.passes),
            reads: self.reads.saturating_add(other.reads),
            writes: self.writes.saturating_add(other.writes),
            bytes_read: self.bytes_read.saturating_add(other.bytes_read),
            bytes_written: self.bytes_written.saturating_add(other.bytes_written),
            intermediate: self.intermediate.saturating_add(other.intermediate),
            memory: self.memory.max(other.memory),
        }
    }
}

impl PyramidPlan {
    /// Returns the levels to make, the largest first. Level 0 is not among them.
    pub fn levels(&self) -> &[PyramidLevel] {
        &self.described.levels[1..]
    }

    /// Returns the path of level 0.
    pub fn level0(&self) -> &str {
        self.level0.path()
    }

    /// Returns the metadata of level 0.
    pub fn level0_metadata(&self) -> &ArrayMeta {
        self.level0.metadata()
    }

    /// Returns the path of the group whose metadata name the levels.
    pub fn group(&self) -> String {
        self.group.node_path()
    }

    /// Returns the paths below the group of the levels that its metadata name already, beside level 0.
    pub fn named(&self) -> &[String] {
        &self.named
    }

    /// Returns how elements are reduced.
    pub fn method(&self) -> Downsample {
        self.described.method
    }

    /// Returns the version of OME-Zarr, if the levels are named by its metadata.
    pub fn ome_version(&self) -> Option<OmeVersion> {
        self.described.metadata.contains(&MultiscaleMetadata::Ome).then_some(self.described.version)
    }

    /// Returns the metadata that name the levels.
    pub fn metadata(&self) -> &[MultiscaleMetadata] {
        &self.described.metadata
    }

    /// Returns notes for the user.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str)
    }

    /// Returns all arrays that have levels: the path of each, and its levels. There are several if level 0 is a group.
    pub fn arrays(&self) -> impl Iterator<Item = (&str, &[PyramidLevel])> {
        self.all().map(|plan| (plan.level0(), plan.levels()))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.beside)
    }

    /// Returns the bytes of elements of level 0, which a run reads once.
    pub fn bytes(&self) -> u64 {
        self.all().map(Self::own_bytes).fold(0, u64::saturating_add)
    }

    pub(super) fn own_bytes(&self) -> u64 {
        self.bytes_of(0)
    }

    /// Returns the bytes of elements of a level.
    pub(super) fn bytes_of(&self, level: usize) -> u64 {
        let size = elements::size(self.level0.data_type());
        self.grids[level].shape.iter().copied().fold(size, u64::saturating_mul)
    }

    /// Returns the work as numbers. Chunks that are not stored count as well. Reads are those of chunks, of inner chunks where
    /// shards are read in parts; a chunk that lies in two pieces is read twice.
    pub fn estimate(&self) -> Estimate {
        self.all().map(Self::own_estimate).fold(Estimate::default(), Estimate::and)
    }

    fn own_estimate(&self) -> Estimate {
        let size = u128::from(elements::size(self.level0.data_type()));
        let product =
            |lengths: &[u64]| lengths.iter().fold(1_u128, |all, n| all.saturating_mul(u128::from(*n)));
        let made = &self.grids[1..];
        let mut estimate = Estimate {
            passes: u32::try_from(self.passes.len()).unwrap_or(u32::MAX),
            writes: made.iter().map(|grid| product(&grid.counts())).sum(),
            bytes_written: made.iter().map(|grid| product(&grid.shape).saturating_mul(size)).sum(),
            memory: self.passes.iter().map(Pass::memory).max().unwrap_or(0),
            ..Estimate::default()
        };
        for pass in &self.passes {
            let (from, first) = (&self.grids[pass.below], &self.grids[pass.below + 1]);
            // A piece of whole shards reads shards.
            let is_whole = pass.piece.iter().zip(&from.units).zip(&from.shape);
            let is_whole =
                is_whole.clone().all(|((piece, unit), n)| piece.is_multiple_of(*unit) || piece >= n);
            let read = if is_whole { &from.units } else { &from.chunks };
            let reads = (0..read.len()).map(|dim| self.reads_along(dim, pass, first, read[dim]));
            estimate.reads = estimate.reads.saturating_add(reads.fold(1, u128::saturating_mul));
            estimate.bytes_read =
                estimate.bytes_read.saturating_add(product(&from.shape).saturating_mul(size));
        }
        estimate
    }

    /// Returns how many chunks of a level are read along a dimension, each as often as pieces have a part of it.
    fn reads_along(&self, dim: usize, pass: &Pass, first: &Grid, chunk: u64) -> u128 {
        let from = &self.grids[pass.below];
        let (length, all) = (first.shape[dim], first.counts()[dim]);
        let units = passes::cut(&(0..length), first.units[dim]).take(LOOKED_AT as usize);
        let of_unit = |unit: Range<u64>| {
            let range = region(&[unit], &self.described.factors[dim..=dim], &from.shape[dim..=dim]);
            let pieces = passes::cut(&range[0], pass.piece[dim]);
            pieces.map(|piece| u128::from(piece.end.div_ceil(chunk) - piece.start / chunk)).sum::<u128>()
        };
        let reads: u128 = units.map(of_unit).sum();
        reads * u128::from(all.max(1)) / u128::from(all.clamp(1, LOOKED_AT.into()))
    }
}
