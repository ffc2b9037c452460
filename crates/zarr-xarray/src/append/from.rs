//! Appends a stored dataset, and writes one into a region: piece by piece, so that it may be larger than the memory.

use std::collections::BTreeMap;
use std::ops::Range;

use zarr_array::{Array, ArrayErrorKind, ConsolidatedPolicy};
use zarr_hierarchy::Group;

use super::Append;
use super::holders::Holders;
use super::labels::{not_after, not_last};
use super::marker;
use super::pair::{Pair, signed};
use super::parts::{Parts, check_whole, is_missing, is_new};
use crate::dataset::Dataset;
use crate::encode::Elements;
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::part::Part;
use crate::positions::Picked;
use crate::variable::Variable;

/// What happens to labels of an appended dataset that do not come after the stored ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Overlap {
    /// They are an error.
    #[default]
    Fail,
    /// They are left out, and what comes after them is appended.
    Skip,
    /// Their elements overwrite the stored ones, which must have the same labels and be the last ones. Readers see this
    /// at once, and it stays if the append fails.
    Replace,
}

/// How the elements of a stored dataset are taken over.
///
/// ```
/// # use zarr_xarray::{FromOptions, Overlap};
/// let options = FromOptions::new().overlap(Overlap::Skip).bytes(16 << 20);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromOptions {
    overlap: Overlap,
    any_coordinates: bool,
    bytes: u64,
}

impl Default for FromOptions {
    fn default() -> Self {
        Self { overlap: Overlap::default(), any_coordinates: false, bytes: 64 << 20 }
    }
}

impl FromOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what happens to labels that do not come after the stored ones.
    #[must_use]
    pub fn overlap(mut self, overlap: Overlap) -> Self {
        self.overlap = overlap;
        self
    }

    /// Sets whether coordinates without the dimension may differ from the stored ones, which stay. By default a
    /// difference is an error.
    #[must_use]
    pub fn any_coordinates(mut self, any: bool) -> Self {
        self.any_coordinates = any;
        self
    }

    /// Sets the largest size of the elements that are in memory at once, if it is not less than a chunk. By default
    /// 64 MiB.
    #[must_use]
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }
}

/// What was taken over from a stored dataset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Taken {
    /// The names of the variables that were written, in order.
    pub variables: Vec<String>,
    /// The positions that were written, along each dimension in which they are not all.
    pub region: BTreeMap<String, Range<u64>>,
    /// The number of bytes of the elements as they are stored, before compression.
    pub bytes: u64,
}

impl Dataset {
    /// Returns the dimension along which `more` continues this dataset: the only one with other labels, or without an
    /// index of another length. Reads the indexes.
    ///
    /// # Errors
    /// [`Invalid`](XarrayErrorKind::Invalid) if there is no such dimension, or more than one; those of reading an index.
    pub async fn continued_along(&self, more: &Self) -> XarrayResult<String> {
        let (own, new) = (self.dimensions(), more.dimensions());
        let mut differing = Vec::new();
        for (name, length) in own.iter().filter(|(name, _)| new.contains_key(*name)) {
            let are_indexed = self.shared.is_index(name) && more.shared.is_index(name);
            let differs = match are_indexed {
                true => {
                    let (own, new) = (self.index(name).await?, more.index(name).await?);
                    own.len() != new.len() || own.run_of(&new).is_none()
                }
                false => new.get(name) != Some(length),
            };
            if differs {
                differing.push(name.as_str());
            }
        }
        match differing[..] {
            [one] => Ok(one.to_owned()),
            [] => Err(XarrayError::invalid("all dimensions have the labels that are stored already")),
            _ => {
                let names = differing.join(", ");
                let message = format!("several dimensions have other labels or lengths: {names}");
                Err(XarrayError::invalid(message))
            }
        }
    }

    /// Appends a stored dataset along a dimension. `more` must have exactly the variables with the dimension. Their
    /// elements are stored as those of this dataset are: packed, in their units and calendar. Its other data variables and
    /// all attributes are ignored. Returns what was written.
    ///
    /// All chunks are written first, beyond the stored shapes, then the shapes, that of the index last, and then the
    /// consolidated metadata. So readers see the old dataset or the longer one. After an error the old shapes are stored
    /// again, and chunks beyond them are erased. A writer that dies while it stores the shapes leaves a marker, by which
    /// [`InterruptedAppend`](crate::InterruptedAppend) finishes or undoes the append. Only one writer may append at a time.
    ///
    /// `told` is called with the number of bytes after each piece.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, FromOptions, XarrayResult};
    /// # async fn example(mut year: Dataset, january: Dataset) -> XarrayResult<()> {
    /// let taken = year.append_from("time", &january, &FromOptions::new(), &|_| ()).await?;
    /// assert_eq!(taken.region["time"], 366..397);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Invalid`](XarrayErrorKind::Invalid) for variables that are missing or new, for other dimensions, lengths, types
    /// or units, for coordinates without the dimension that differ, for labels that do not follow the stored ones, and if
    /// this dataset is a selection. Then nothing is written. [`OutOfRange`](XarrayErrorKind::OutOfRange) for an element
    /// that the stored type or the stored units do not have. [`Access`](XarrayErrorKind::Access) if another writer has
    /// changed the arrays, and for errors of the stores.
    pub async fn append_from(
        &mut self,
        dimension: &str,
        more: &Self,
        options: &FromOptions,
        told: &(dyn Fn(u64) + Sync),
    ) -> XarrayResult<Taken> {
        let start = check_whole(self, dimension)?;
        let pairs = self.grown(dimension, more)?;
        self.check_coordinates(more, &|name| name == dimension, options).await?;
        let (from, skipped) = self.beginning(dimension, more, start, options).await?;
        let added = more.dimensions().get(dimension).copied().unwrap_or(0);
        let too_long = || XarrayError::out_of_range("the dimension would be too long");
        let end = from.checked_add(added - skipped).ok_or_else(too_long)?;
        let mut taken = Taken { region: [(dimension.to_owned(), from..end)].into(), ..Taken::default() };
        taken.variables = pairs.iter().map(|pair| pair.own.name.to_string()).collect();
        if from == end {
            return Ok(taken);
        }
        marker::check_none(&self.shared.group).await?;
        let mut parts = Parts::of(&self.shared.group, &pairs, dimension, start..end)?;
        let holders = Holders::above(&self.shared.group)?;
        let range = parts.range(Append::Alone).await?;
        let written = parts.take_over(&pairs, from..end, skipped, options.bytes, told).await;
        let published = match written {
            Ok((longer, bytes)) => {
                taken.bytes = bytes;
                parts.publish(longer, &range, Append::Alone, &holders).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = published {
            // Chunks beyond the shape may be those of another writer, or of an append that is to be finished.
            let keeps = [ArrayErrorKind::Conflict, ArrayErrorKind::Uncertain];
            if error.hierarchy_error().is_none_or(|error| !keeps.contains(&error.kind())) {
                parts.erase_beyond().await;
            }
            return Err(error);
        }
        self.reopen(None).await?;
        Ok(taken)
    }

    /// Writes the elements of a stored dataset to a region of this one: to what is selected, or if nothing is selected to
    /// the labels of the indexes of `part`. Both have the same lengths there, and the same labels. Indexes, variables
    /// without a dimension of the region, and attributes are not written. Returns what was written.
    ///
    /// Readers see the elements chunk by chunk, and what is written before an error stays. `told` is called with the
    /// number of bytes after each piece.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, FromOptions, Labels, XarrayResult};
    /// # async fn example(year: Dataset, january: Dataset) -> XarrayResult<()> {
    /// let place = year.sel([("time", Labels::from("2020-01"))]).await?;
    /// place.write_from(&january, &FromOptions::new(), &|_| ()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`NotFound`](XarrayErrorKind::NotFound) for labels that are not stored one after the other;
    /// [`Invalid`](XarrayErrorKind::Invalid) for new variables, other dimensions, lengths, labels, types or units;
    /// [`Unsupported`](XarrayErrorKind::Unsupported) for a selection that is not a range in each dimension. Then nothing
    /// is written. As [`append_from`](Self::append_from) for elements, and for errors of the stores.
    pub async fn write_from(
        &self,
        part: &Self,
        options: &FromOptions,
        told: &(dyn Fn(u64) + Sync),
    ) -> XarrayResult<Taken> {
        let (place, region) = self.place_of(part, options).await?;
        let in_region = |name: &str| region.contains_key(name);
        place.check_coordinates(part, &in_region, options).await?;
        let mut pairs = Vec::new();
        for name in part.shared.plans.keys().filter(|name| !part.shared.is_index(name)) {
            let new = part.variable(name)?;
            if !new.plan.dimensions.iter().any(|own| in_region(own)) {
                continue;
            }
            if !self.shared.plans.contains_key(name) {
                let message = "it is not in the dataset: a region gets no new variable";
                return Err(XarrayError::invalid(message).with_variable(name));
            }
            let pair = Pair::new(place.variable(name)?, new)?;
            pair.check(None).map_err(|error| error.with_variable(name))?;
            pairs.push(pair);
        }
        if pairs.is_empty() {
            return Err(XarrayError::invalid("there is no variable with a dimension of the region"));
        }
        let mut taken = Taken::default();
        for pair in &pairs {
            let array = pair.own.reader()?.array.clone();
            let range_of = |(name, length): (&String, &u64)| region.get(name).cloned().unwrap_or(0..*length);
            let plan = &pair.own.plan;
            let within: Vec<Range<u64>> = plan.dimensions.iter().zip(&plan.shape).map(range_of).collect();
            let offsets = within.iter().map(|range| signed(range.start)).collect::<XarrayResult<Vec<_>>>()?;
            taken.bytes += pair.write(&array, within, &offsets, options.bytes, told).await?;
            taken.variables.push(pair.own.name.to_string());
        }
        taken.region = region;
        Ok(taken)
    }

    /// Returns the variables that have the dimension, with their new elements. Checks that all of them and no others are
    /// in `more`.
    fn grown(&self, dimension: &str, more: &Self) -> XarrayResult<Vec<Pair>> {
        let has = |variable: &Variable| variable.plan.dimensions.iter().any(|own| own == dimension);
        for name in more.shared.plans.keys().filter(|name| !self.shared.plans.contains_key(*name)) {
            if more.variable(name).is_ok_and(|variable| has(&variable)) {
                return Err(is_new(name));
            }
        }
        let mut pairs = Vec::new();
        for name in self.shared.plans.keys() {
            // A broken variable with the dimension was an error before.
            let Some(own) = self.variable(name).ok().filter(has) else { continue };
            let new = more.variable(name).map_err(|error| match error.kind() {
                XarrayErrorKind::NotFound => is_missing(dimension, name),
                _ => error,
            })?;
            let pair = Pair::new(own, new)?;
            pair.check(Some(dimension)).map_err(|error| error.with_variable(name))?;
            pairs.push(pair);
        }
        Ok(pairs)
    }

    /// Checks that the coordinates of `more` without a dimension that is `written` are those of this dataset.
    async fn check_coordinates(
        &self,
        more: &Self,
        written: &(dyn Fn(&str) -> bool + Sync),
        options: &FromOptions,
    ) -> XarrayResult<()> {
        let both = self.shared.coordinates.iter().filter(|name| more.shared.plans.contains_key(*name));
        for name in both {
            let own = self.variable(name)?;
            if options.any_coordinates || own.plan.dimensions.iter().any(|own| written(own)) {
                continue;
            }
            let pair = Pair::new(own, more.variable(name)?)?;
            let is_equal = async {
                pair.check(None)?;
                let (own, new) = (pair.own.raw().await?, pair.elements(&pair.new).await?);
                Ok::<_, XarrayError>(own == new)
            };
            if !is_equal.await.map_err(|error: XarrayError| error.with_variable(name))? {
                let message = "it is a coordinate, and differs from the stored one";
                return Err(XarrayError::invalid(message).with_variable(name));
            }
        }
        Ok(())
    }

    /// Returns the position at which the new elements begin, and how many of `more` are left out.
    async fn beginning(
        &self,
        dimension: &str,
        more: &Self,
        start: u64,
        options: &FromOptions,
    ) -> XarrayResult<(u64, u64)> {
        if !self.shared.is_index(dimension) || !more.shared.is_index(dimension) {
            return Ok((start, 0));
        }
        let (own, new) = (self.index(dimension).await?, more.index(dimension).await?);
        let overlap = own.overlap(&new);
        if overlap == 0 {
            return Ok((start, 0));
        }
        match options.overlap {
            Overlap::Fail => Err(not_after(&own, &new).with_variable(dimension)),
            Overlap::Skip => Ok((start, overlap as u64)),
            Overlap::Replace => {
                let last = own.pick(&Picked::Steps {
                    start: start.saturating_sub(overlap as u64),
                    count: overlap as u64,
                    step: 1,
                });
                let head = new.pick(&Picked::Steps { start: 0, count: overlap as u64, step: 1 });
                match last.run_of(&head) {
                    Some(0) if last.len() == overlap => Ok((start - overlap as u64, 0)),
                    _ => Err(not_last(&own, &new).with_variable(dimension)),
                }
            }
        }
    }

    /// Returns the part of this dataset that a stored part goes to, and its region.
    async fn place_of(
        &self,
        part: &Self,
        options: &FromOptions,
    ) -> XarrayResult<(Self, BTreeMap<String, Range<u64>>)> {
        let mut region = BTreeMap::new();
        let lengths = part.dimensions();
        for (name, length) in &self.shared.dimensions {
            let are_indexed = self.shared.is_index(name) && part.shared.is_index(name);
            if !self.view.is_whole(name) {
                let range = match self.view.picked(name, *length) {
                    Picked::One(position) => position..position + 1,
                    Picked::Steps { start, count, step } if step == 1 || count == 1 => start..start + count,
                    _ => {
                        let message = format!("the selection along {name:?} is not a range");
                        return Err(XarrayError::new(XarrayErrorKind::Unsupported, message));
                    }
                };
                region.insert(name.clone(), range);
            } else if self.view.is_unselected() && are_indexed && lengths.get(name) != Some(length) {
                let (own, new) = (self.index(name).await?, part.index(name).await?);
                let absent = || {
                    let message = "the labels are not stored one after the other";
                    XarrayError::new(XarrayErrorKind::NotFound, message).with_variable(name)
                };
                let start = own.run_of(&new).ok_or_else(absent)? as u64;
                region.insert(name.clone(), start..start + new.len() as u64);
            }
        }
        if region.is_empty() {
            let whole = self.shared.dimensions.iter().filter(|(name, _)| lengths.contains_key(*name));
            region = whole.map(|(name, length)| (name.clone(), 0..*length)).collect();
        }
        let mut place = self.clone();
        place.view = Default::default();
        let mut positions = Vec::new();
        for (name, range) in &region {
            positions.push((name.clone(), signed(range.start)?..signed(range.end)?));
        }
        let place = place.at(positions)?;
        for name in region.keys().filter(|name| !options.any_coordinates && part.shared.is_index(name)) {
            if place.shared.is_index(name)
                && place.index(name).await?.run_of(&*part.index(name).await?) != Some(0)
            {
                let message = "the labels are not those of the region";
                return Err(XarrayError::invalid(message).with_variable(name));
            }
        }
        Ok((place, region))
    }
}

impl Parts {
    /// Returns parts whose elements are written otherwise.
    fn of(group: &Group, pairs: &[Pair], dimension: &str, range: Range<u64>) -> XarrayResult<Self> {
        let (mut leader, mut grown) = (None, Vec::new());
        for pair in pairs {
            let name = pair.own.name.to_string();
            let axis = pair.own.plan.dimensions.iter().position(|own| own == dimension);
            let array = pair.own.reader()?.array.clone().with_consolidated(ConsolidatedPolicy::Keep);
            let is_leader = leader.is_none() || name == dimension;
            let part = Part { name, array, axis, elements: Elements::Bytes(Vec::new()) };
            match is_leader {
                true => grown.extend(leader.replace(part)),
                false => grown.push(part),
            }
        }
        let none = || XarrayError::invalid(format!("no variable has the dimension {dimension:?}"));
        let leader = leader.ok_or_else(none)?;
        let (start, length) = (range.start, range.end.saturating_sub(range.start));
        let (group, dimension) = (group.clone(), dimension.to_owned());
        Ok(Self {
            group,
            dimension,
            is_marked: true,
            start,
            length,
            leader,
            grown,
            whole: Vec::new(),
            attributes: None,
        })
    }

    /// Writes the new elements of all variables to `range`, without the first `skipped` ones. Returns handles with the
    /// new shapes, the leader last, and the number of bytes.
    async fn take_over(
        &self,
        pairs: &[Pair],
        range: Range<u64>,
        skipped: u64,
        bytes: u64,
        told: &(dyn Fn(u64) + Sync),
    ) -> XarrayResult<(Vec<Array>, u64)> {
        let (mut longer, mut all) = (Vec::new(), 0);
        for part in self.grown.iter().chain([&self.leader]) {
            let array = part.at(range.end)?;
            longer.push(array.clone());
            let Some(pair) = pairs.iter().find(|pair| *pair.own.name == *part.name) else { continue };
            let rank = pair.own.plan.dimensions.len();
            let mut within: Vec<_> = array.shape().iter().take(rank).map(|length| 0..*length).collect();
            let mut offsets = vec![0; rank];
            if let Some((of, offset)) =
                part.axis.and_then(|axis| within.get_mut(axis).zip(offsets.get_mut(axis)))
            {
                (*of, *offset) = (range.clone(), signed(range.start)? - signed(skipped)?);
            }
            all += pair.write(&array, within, &offsets, bytes, told).await?;
        }
        Ok((longer, all))
    }

    /// Erases chunks beyond the old shapes, as far as that is possible.
    async fn erase_beyond(&self) {
        for part in self.grown.iter().chain([&self.leader]) {
            let shape = part.array.shape().to_vec();
            // The error of the append is the one to report.
            let _ = part.array.clone().resize(shape).await;
        }
    }
}
