//! The images at a path: one with its labels, or those of a plate or a well.

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::meta::multiscale::{PlateDocument, WellDocument, labels};
use zarr_array::meta::{GroupMeta, NodeMeta};
use zarr_array::traits::Prefix;

use super::builder::Pyramid;
use super::found::{Found, of_group};
use super::join::PyramidShare;
use super::levels::{shapes, shorter};
use super::marker::{self, Records};
use super::missing::MissingValues;
use super::plan::{Leader, PyramidPlan};
use super::run::PyramidDone;
use crate::error::{CopyError, CopyErrorKind, CopyResult};
use crate::join::SharedCopy;
use crate::run::{CopyProgress, RunOptions};
use crate::told::{Estimate, array_of};

/// The number of images and wells that are looked at together.
const AT_ONCE: usize = 16;

/// The plans of all images at a path, see [`Pyramid::plan_all`]. Nothing is written before [`run`](Self::run).
#[derive(Debug, Default)]
pub struct PyramidPlans {
    plans: Vec<PyramidPlan>,
    complete: Vec<String>,
    notes: Vec<String>,
}

impl Pyramid {
    /// Plans the levels of all images at the path, as [`plan`](Self::plan) does for one:
    ///
    /// * of an image and of the labels that its group `labels` lists. They get as many levels as their image, with its factors,
    ///   their own chunks and codecs, and the method that labels have by default. Only labels are planned if the image has levels, and
    ///   labels have none;
    /// * of a plate or a well of OME-Zarr: of each image without levels, with its labels. With [`replace`](Self::replace) also of
    ///   those that have levels.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`Taken`](CopyErrorKind::Taken) if labels have another number of levels than their image.
    pub async fn plan_all(&self) -> CopyResult<PyramidPlans> {
        let start = Prefix::of_node(&self.path).map_err(|e| CopyError::settings(format!("{e:#}")))?;
        let mut notes = Vec::new();
        let Some(images) = self.images(&start, &mut notes).await? else {
            return self.with_labels(false).await;
        };
        let planned = stream::iter(images).map(|image| async move {
            let of_image = Self { path: image.node_path(), ..self.clone() };
            of_image.with_labels(true).await
        });
        let mut all = PyramidPlans { notes, ..PyramidPlans::default() };
        let mut planned = Box::pin(planned.buffered(AT_ONCE));
        while let Some(one) = planned.try_next().await? {
            all.plans.extend(one.plans);
            all.complete.extend(one.complete);
            all.notes.extend(one.notes);
        }
        Ok(all)
    }

    /// Plans an image and its labels. If it `is_one_of_many`, it may need nothing.
    async fn with_labels(&self, is_one_of_many: bool) -> CopyResult<PyramidPlans> {
        let mut all = PyramidPlans::default();
        let (first, others) = self.find().await?;
        let labels = self.labels(&first.group, &mut all.notes).await?;
        let group = first.group.node_path();
        let further = first.said.further();
        let has_levels = further > 0 && !self.replace && !self.is_unfinished(&first).await?;
        let mut want_levels = false;
        for (_, found) in &labels {
            want_levels |= found.said.further() == 0 || self.is_unfinished(found).await?;
        }
        if has_levels && (is_one_of_many || want_levels) {
            let (names, factors) = (first.names(), self.factors_of_levels(&first).await?);
            let leader = Leader { names: &names, factors: &factors, count: further, described: None };
            all.complete.push(group);
            return self.add_labels(all, labels, &leader).await;
        }
        if is_one_of_many && self.is_small(&first).map_err(|e| e.within(array_of(&first.level0)))? {
            all.complete.push(group);
            return Ok(all);
        }
        let image = self.plan_of(first, others)?;
        let (names, factors) = (image.names.clone(), image.described.factors.clone());
        let leader =
            Leader { names: &names, factors: &factors, count: image.levels().len(), described: None };
        if !has_levels {
            all = self.add_labels(all, labels, &leader).await?;
        }
        all.plans.insert(0, image);
        Ok(all)
    }

    /// Adds plans for the labels of an image.
    async fn add_labels(
        &self,
        mut all: PyramidPlans,
        labels: Vec<(Self, Found)>,
        leader: &Leader<'_>,
    ) -> CopyResult<PyramidPlans> {
        for (pyramid, found) in labels {
            let (place, path) = (array_of(&found.level0), found.group.node_path());
            let further = found.said.further();
            // An interrupted run may have all but ended.
            let has_levels = further > 0 && !self.replace && !self.is_unfinished(&found).await?;
            if has_levels && further == leader.count {
                all.complete.push(path);
                continue;
            }
            if has_levels {
                let message = format!(
                    "labels {path:?}: they have {further} further levels, and their image has {}: `replace` makes them again",
                    leader.count
                );
                return Err(CopyError::new(CopyErrorKind::Taken, message));
            }
            if found.factors_beside(leader.names, leader.factors).iter().all(|factor| *factor == 1) {
                let message =
                    format!("labels {path:?}: no dimension is one of the image that becomes shorter");
                return Err(CopyError::unsupported(message));
            }
            all.plans.push(found.plan(&pyramid, Some(leader)).map_err(|e| e.within(place))?);
        }
        Ok(all)
    }

    /// Returns the places of the images of a plate or a well; `None` for other nodes.
    async fn images(&self, start: &Prefix, notes: &mut Vec<String>) -> CopyResult<Option<Vec<Prefix>>> {
        let Some(NodeMeta::Group(group)) = self.node(start).await? else { return Ok(None) };
        if let Some(well) = well(start, &group)? {
            return Ok(Some(well));
        }
        let plate = PlateDocument::read(&group.attributes(), group.format())
            .map_err(|e| of_group(e.into(), start))?;
        let Some(plate) = plate else { return Ok(None) };
        let wells = stream::iter(plate.wells).map(|path| async move {
            let place = below(start, &path)?;
            let images = match self.node(&place).await? {
                Some(NodeMeta::Group(group)) => well(&place, &group)?,
                _ => None,
            };
            Ok::<_, CopyError>(images.ok_or_else(|| place.node_path()))
        });
        let mut all = Vec::new();
        let mut wells = Box::pin(wells.buffered(AT_ONCE));
        while let Some(well) = wells.try_next().await? {
            match well {
                Ok(images) => all.extend(images),
                Err(path) => notes.push(format!("{path:?} is in the list of wells, but is none")),
            }
        }
        Ok(Some(all))
    }

    /// Finds the labels that the group `labels` of an image lists, each with the settings for it.
    async fn labels(&self, image: &Prefix, notes: &mut Vec<String>) -> CopyResult<Vec<(Self, Found)>> {
        let place = image.child("labels")?;
        let Some(NodeMeta::Group(group)) = self.node(&place).await? else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for path in labels(&group.attributes(), group.format()) {
            let place = below(&place, &path)?;
            // The settings are those for the image.
            let pyramid = Self {
                path: place.node_path(),
                method: None,
                factors: None,
                missing: MissingValues::default(),
                metadata: None,
                ome_version: None,
                chunks: None,
                shards: None,
                codecs: None,
                ..self.clone()
            };
            match pyramid.find().await {
                Ok((found, _)) => all.push((pyramid, found)),
                Err(e) if e.is_missing() => {
                    notes.push(format!("{:?} is in the list of labels, but is not there", place.node_path()));
                }
                Err(e) => return Err(e),
            }
        }
        Ok(all)
    }

    /// Whether an earlier run has left its marker or records.
    async fn is_unfinished(&self, image: &Found) -> CopyResult<bool> {
        Ok(self.storage.exists(&marker::key(&image.group)?).await?
            || Records::new(&self.storage, &image.group)?.are_left().await?)
    }

    /// Whether an image needs no further level.
    fn is_small(&self, image: &Found) -> CopyResult<bool> {
        let factors = image.factors(self, &image.names(), &mut Vec::new())?;
        Ok(shapes(image.level0.shape(), &factors, self.levels).is_empty())
    }

    /// Returns the factors between the levels that an image has.
    async fn factors_of_levels(&self, image: &Found) -> CopyResult<Vec<u64>> {
        if self.factors.is_some() {
            return image.factors(self, &image.names(), &mut Vec::new());
        }
        let path = image.said.paths().nth(1).unwrap_or_default();
        let level1 = self.open(&below(&image.group, path)?).await?;
        let (from, to) = (image.level0.shape(), level1.shape());
        let factors: Vec<u64> =
            from.iter().zip(to).map(|(from, to)| from.checked_div(*to).unwrap_or(1).max(1)).collect();
        // Lengths are rounded up, or down by other programs.
        let up: Vec<u64> = from.iter().zip(to).map(|(from, to)| from.div_ceil((*to).max(1)).max(1)).collect();
        Ok(if shorter(from, &factors) == to { factors } else { up })
    }
}

/// Returns the places of the images of a well; `None` for other groups.
fn well(place: &Prefix, group: &GroupMeta) -> CopyResult<Option<Vec<Prefix>>> {
    let well = WellDocument::read(&group.attributes(), group.format());
    let Some(well) = well.map_err(|e| of_group(e.into(), place))? else { return Ok(None) };
    Ok(Some(well.images.iter().map(|path| below(place, path)).collect::<CopyResult<_>>()?))
}

/// Returns the place at a path below a group.
fn below(group: &Prefix, path: &str) -> CopyResult<Prefix> {
    path.split('/').try_fold(group.clone(), |place, name| Ok(place.child(name)?))
}

impl PyramidPlans {
    /// Returns the plan of each image, those of labels after that of their image.
    pub fn plans(&self) -> &[PyramidPlan] {
        &self.plans
    }

    /// Returns the paths of images that have their levels already, or need none.
    pub fn complete(&self) -> &[String] {
        &self.complete
    }

    /// Returns notes for the user.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str).chain(self.plans.iter().flat_map(PyramidPlan::notes))
    }

    /// Returns the bytes of elements of all levels 0, which a run reads once.
    pub fn bytes(&self) -> u64 {
        self.plans.iter().map(PyramidPlan::bytes).fold(0, u64::saturating_add)
    }

    /// Returns the work as numbers, as [`PyramidPlan::estimate`] does. Images are made one after another.
    pub fn estimate(&self) -> Estimate {
        self.plans.iter().map(PyramidPlan::estimate).fold(Estimate::default(), Estimate::and)
    }

    /// Makes the levels of one image after another, as [`PyramidPlan::run`] does. Without
    /// [`resume`](RunOptions::resume) nothing is begun if something is in the place of a level. A resumed run goes on with the image that
    /// an earlier one has not finished.
    ///
    /// # Errors
    /// As [`PyramidPlan::run`]. Images before the one that fails are complete.
    pub async fn run(&self, options: RunOptions, progress: CopyProgress<'_>) -> CopyResult<PyramidDone> {
        if !options.resume && self.plans.len() > 1 {
            for plan in &self.plans {
                plan.check_places().await?;
            }
        }
        let mut all: Option<PyramidDone> = None;
        for plan in &self.plans {
            let done = plan.run(options, progress).await?;
            all = Some(all.map_or(done, |all| all.and(done)));
        }
        Ok(all.unwrap_or(PyramidDone { was_complete: true, ..PyramidDone::default() }))
    }

    /// Makes the levels of one image after another together with other workers, as [`PyramidPlan::join`] does.
    ///
    /// # Errors
    /// As [`PyramidPlan::join`].
    pub async fn join(&self, job: &SharedCopy, progress: CopyProgress<'_>) -> CopyResult<PyramidShare> {
        let mut all: Option<PyramidShare> = None;
        for plan in &self.plans {
            let share = plan.join(job, progress).await?;
            all = Some(match all {
                Some(all) => PyramidShare { done: all.done.and(share.done), units: all.units + share.units },
                None => share,
            });
        }
        let nothing = PyramidDone { was_complete: true, ..PyramidDone::default() };
        Ok(all.unwrap_or(PyramidShare { done: nothing, units: 0 }))
    }
}
