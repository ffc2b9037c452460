//! Selections by label in one text, as people type them: `time=2020-01:2020-02,lat=~41.3,level@0`.

mod cyclic;
mod resolve;
mod words;

use std::collections::BTreeSet;
use std::str::FromStr;

use futures_util::future::try_join_all;

use crate::blocking;
use crate::dataset::Dataset;
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::positions::Picked;
use crate::positions::Positions;
use crate::variable::Variable;

use cyclic::Cyclic;
use resolve::resolve;
use words::{at_marks, unquoted};

/// A selection by label as one text: entries for names of coordinates, of other variables along one dimension, or of dimensions,
/// separated by commas.
///
/// | entry | selects |
/// |---|---|
/// | `NAME=LABEL` | the elements with a label; a date that is coarser than the times is an interval |
/// | `NAME=A:B`, `NAME=A:B:STEP` | the elements between two labels, both included, in any order; either may be missing |
/// | `NAME=A/B` | the same, for times |
/// | `NAME=~LABEL` | the element whose label is nearest |
/// | `NAME@POSITIONS` | positions as in Python: `0`, `-1`, `0:24`, `::2` |
///
/// Longitudes, whose `units` are `degrees_east`, are the same after 360 degrees: `lon=-16.4` is `lon=343.6`, and `lon=350:10` goes
/// over the end of the coordinate.
///
/// Text in double quotes is taken as it is; `""` in it stands for one quote. A time of day needs no quotes: the text is
/// tried as one time first, then every colon as the end of a time.
///
/// ```
/// # use zarr_xarray::{Selectors, XarrayResult, blocking::Dataset};
/// # fn example(dataset: Dataset) -> XarrayResult<()> {
/// let asked: Selectors = "time=2020-01-01T06:00:2020-01-02,lat=~41.3".parse()?;
/// let box_ = dataset.select(&asked)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selectors(Vec<Selector>);

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Selector {
    name: String,
    how: How,
    /// The text behind the name, with its quotes.
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// `=`
    Labels,
    /// `=~`
    Nearest,
    /// `@`
    Positions,
}

impl Selectors {
    /// Whether an entry of the text has a name, so that the text is not a selection by position such as `0:24,:,5` or
    /// `@PATH`.
    pub fn are_meant_by(text: &str) -> bool {
        let has_name = |entry: &&str| !entry.trim_start().starts_with('@') && split(entry).is_some();
        at_marks(text, &[',']).is_ok_and(|entries| entries.iter().any(has_name))
    }

    /// Returns the entries whose names pass `is_wanted`; `None` without such entries.
    pub fn filter(&self, is_wanted: impl Fn(&str) -> bool) -> Option<Self> {
        let wanted: Vec<_> = self.0.iter().filter(|entry| is_wanted(&entry.name)).cloned().collect();
        (!wanted.is_empty()).then_some(Self(wanted))
    }

    /// The names of the entries.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|selector| selector.name.as_str())
    }
}

impl FromStr for Selectors {
    type Err = XarrayError;

    fn from_str(text: &str) -> XarrayResult<Self> {
        let mut seen = BTreeSet::new();
        let one = |entry: &&str| {
            let selector = Selector::parse(entry)?;
            match seen.insert(selector.name.clone()) {
                true => Ok(selector),
                false => Err(XarrayError::invalid(format!("{:?} is named twice", selector.name))),
            }
        };
        at_marks(text, &[','])?.iter().map(one).collect::<XarrayResult<_>>().map(Self)
    }
}

/// Splits an entry at its first `=` or `@` outside of quotes.
fn split(entry: &str) -> Option<(&str, char, &str)> {
    let name = *at_marks(entry, &['=', '@']).ok()?.first()?;
    let mark = entry[name.len()..].chars().next()?;
    Some((name, mark, &entry[name.len() + 1..]))
}

impl Selector {
    fn parse(entry: &str) -> XarrayResult<Self> {
        let Some((name, mark, text)) = split(entry) else {
            return Err(XarrayError::invalid(format!(
                "{entry:?} has no name: labels and positions without a name cannot be mixed; positions with a name are \
                 written NAME@0:24"
            )));
        };
        let name = unquoted(name.trim());
        if name.is_empty() {
            return Err(XarrayError::invalid(format!("there is no name before {mark:?} in {entry:?}")));
        }
        let text = text.trim();
        let (how, text) = match (mark, text.strip_prefix('~')) {
            ('@', _) => (How::Positions, text),
            (_, Some(text)) => (How::Nearest, text.trim()),
            (_, None) => (How::Labels, text),
        };
        match text.is_empty() {
            true => Err(XarrayError::invalid(format!("there is no label in {entry:?}"))),
            false => Ok(Self { name, how, text: text.to_owned() }),
        }
    }
}

impl Dataset {
    /// Selects as a text says, by the names of dimensions or of coordinates with one dimension. Loads the indexes that it
    /// needs, all at once.
    ///
    /// # Errors
    /// [`NotFound`](XarrayErrorKind::NotFound) for labels that are not in the index, also for a range without elements:
    /// the error names the range of the coordinate. [`Invalid`](XarrayErrorKind::Invalid) for a text that is not a label
    /// of the coordinate, an unknown name, and two entries along one dimension; those of [`sel`](Self::sel).
    pub async fn select(&self, selectors: &Selectors) -> XarrayResult<Self> {
        let found = try_join_all(selectors.0.iter().map(|selector| self.positions_of(selector))).await?;
        let mut seen = BTreeSet::new();
        if let Some((twice, _)) = found.iter().find(|(dimension, _)| !seen.insert(dimension.clone())) {
            return Err(XarrayError::invalid(format!("two entries select along dimension {twice:?}")));
        }
        self.at(found)
    }

    /// Returns the dimension and the positions that an entry selects.
    async fn positions_of(&self, selector: &Selector) -> XarrayResult<(String, Positions)> {
        let name = &selector.name;
        let named = |error: XarrayError| error.within(&format!("selection along {name:?}"));
        let dimensions = self.dimensions();
        if selector.how == How::Positions && dimensions.contains_key(name) {
            return Ok((name.clone(), resolve::positions(&selector.text).map_err(named)?));
        }
        // Labels may be in any variable along one dimension: samples of genomes have their names in a data variable.
        let has_one = || self.variable(name).is_ok_and(|variable| variable.dimensions().len() == 1);
        if !self.coordinates().any(|of| of == name) && !has_one() {
            let known: Vec<_> = dimensions.keys().map(String::as_str).collect();
            return Err(named(match dimensions.contains_key(name) {
                true => XarrayError::invalid(format!(
                    "there is no coordinate of this name: select positions with {name}@…"
                )),
                false => XarrayError::new(
                    XarrayErrorKind::NotFound,
                    format!(
                        "there is neither a dimension nor a coordinate of this name; the dimensions are {}{}",
                        known.join(", "),
                        known
                            .iter()
                            .find(|known| known.eq_ignore_ascii_case(name))
                            .map_or_else(String::new, |known| format!("; did you mean {known:?}?")),
                    ),
                ),
            }));
        }
        let variable = self.variable(name)?;
        let [dimension] = variable.dimensions() else {
            let count = variable.dimensions().len();
            return Err(named(XarrayError::invalid(format!(
                "the coordinate has {count} dimensions, and labels need one"
            ))));
        };
        let positions = match selector.how {
            How::Positions => resolve::positions(&selector.text),
            _ => {
                let index = self.index(name).await?;
                match Cyclic::of(variable.attributes(), &index) {
                    Some(cyclic) => cyclic.resolve(selector, &index),
                    None => resolve(selector, &index),
                }
            }
        };
        Ok((dimension.clone(), positions.map_err(named)?))
    }

    /// Returns a sentence for each entry `NAME=~LABEL` whose nearest label is farther away than the next label of the
    /// coordinate: the label is outside of the coordinate.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub async fn far_labels(&self, selectors: &Selectors) -> XarrayResult<Vec<String>> {
        let mut far = Vec::new();
        for selector in selectors.0.iter().filter(|selector| selector.how == How::Nearest) {
            let (_, positions) = self.positions_of(selector).await?;
            let (variable, index) = (self.variable(&selector.name)?, self.index(&selector.name).await?);
            let Picked::One(at) = positions.resolve(index.len() as u64)? else { continue };
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            let text = unquoted(&selector.text);
            let period = Cyclic::of(variable.attributes(), &index).map(|_| cyclic::PERIOD);
            if index.is_far(at, &resolve::label(&text, index.values())?, period) {
                let (name, found) = (&selector.name, index.text(at).unwrap_or_default());
                far.push(format!(
                    "the nearest {name} to {text} is {found}, which is farther away than the next {name}"
                ));
            }
        }
        Ok(far)
    }
}

impl blocking::Dataset {
    /// Selects as a text says, by the names of dimensions or of coordinates with one dimension.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::select`](crate::Dataset::select).
    pub fn select(&self, selectors: &Selectors) -> XarrayResult<Self> {
        zarr_array::block_on(self.clone().into_async().select(selectors)).map(Self::from)
    }
}

impl blocking::Dataset {
    /// Returns a sentence for each entry `NAME=~LABEL` whose nearest label is farther away than the next label of the
    /// coordinate.
    ///
    /// # Errors
    /// As [`zarr_xarray::Dataset::far_labels`](crate::Dataset::far_labels).
    pub fn far_labels(&self, selectors: &Selectors) -> XarrayResult<Vec<String>> {
        zarr_array::block_on(self.clone().into_async().far_labels(selectors))
    }
}

impl Variable {
    /// Returns the selected positions in each stored dimension, in the order of the array.
    pub fn selected(&self) -> Vec<Picked> {
        let stored = self.plan.dimensions.iter().zip(&self.plan.shape);
        stored.map(|(name, length)| self.view.picked(name, *length)).collect()
    }
}

impl blocking::Variable {
    /// Returns the selected positions in each stored dimension, in the order of the array.
    pub fn selected(&self) -> Vec<Picked> {
        self.as_async().selected()
    }

    /// The names of the stored dimensions, which selections do not change.
    pub fn stored_dimensions(&self) -> &[String] {
        &self.as_async().plan.dimensions
    }
}
