//! Labels along one dimension, as they are given to `sel`, and the positions that they have in an index.

use crate::error::{XarrayError, XarrayResult};
use crate::index::{Index, LabelPositions, Method};
use crate::label::Label;
use crate::positions::Positions;

/// Labels along one dimension: one label, the element near a label, a list, or a range.
///
/// One label drops the dimension, unless it has several positions: a label that occurs more than once, or a text that
/// is coarser than the times of the index, such as `"2020-01"`.
///
/// ```
/// # use zarr_xarray::Labels;
/// let (exact, january) = (Labels::from(40.0), Labels::from("2020-01"));
/// let (nearest, winter) = (Labels::nearest(41.3).within(0.5), Labels::between("2020-12", "2021-02"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Labels(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    One(Label),
    Near { label: Label, method: Method, tolerance: Option<f64> },
    List { labels: Vec<Label>, near: Option<(Method, Option<f64>)> },
    Slice { start: Option<Label>, end: Option<Label> },
    Between(Label, Label),
}

impl Labels {
    /// The element that `method` selects for a label.
    pub fn near(label: impl Into<Label>, method: Method) -> Self {
        Self(Kind::Near { label: label.into(), method, tolerance: None })
    }

    /// The element whose label is nearest. If two are equally near, the element with the larger label.
    pub fn nearest(label: impl Into<Label>) -> Self {
        Self::near(label, Method::Nearest)
    }

    /// The labels of a list, in its order.
    pub fn list<T: Into<Label>>(labels: impl IntoIterator<Item = T>) -> Self {
        Self(Kind::List { labels: labels.into_iter().map(Into::into).collect(), near: None })
    }

    /// For each label of a list the element that `method` selects.
    pub fn list_near<T: Into<Label>>(labels: impl IntoIterator<Item = T>, method: Method) -> Self {
        let labels = labels.into_iter().map(Into::into).collect();
        Self(Kind::List { labels, near: Some((method, None)) })
    }

    /// The labels from `start` to `end`, both included, in the order of the index; `None` is an open end. The result is
    /// empty if the index has the opposite order, as in xarray. [`between`](Self::between) accepts any order.
    pub fn slice(start: Option<Label>, end: Option<Label>) -> Self {
        Self(Kind::Slice { start, end })
    }

    /// The labels between two labels, both included, for any order of the two and of the index.
    pub fn between(one: impl Into<Label>, other: impl Into<Label>) -> Self {
        Self(Kind::Between(one.into(), other.into()))
    }

    /// Sets the largest distance of an element that is selected by a method, in the unit of numbers, or in nanoseconds.
    #[must_use]
    pub fn within(mut self, most: f64) -> Self {
        match &mut self.0 {
            Kind::Near { tolerance, .. } | Kind::List { near: Some((_, tolerance)), .. } => {
                *tolerance = Some(most);
            }
            _ => {}
        }
        self
    }

    /// Whether this is a list, so that the caller has named every element.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.0, Kind::List { .. })
    }

    /// Returns the positions of the labels in an index.
    ///
    /// # Errors
    /// Those of [`Index`].
    pub(crate) fn positions(&self, index: &Index) -> XarrayResult<Positions> {
        match &self.0 {
            Kind::One(label) => Ok(match index.find(label)? {
                LabelPositions::One(position) => Positions::from(signed(position)),
                LabelPositions::Range(range) => Positions::from(signed(range.start)..signed(range.end)),
                LabelPositions::Many(list) => Positions::from(all_signed(list)),
            }),
            Kind::Near { label, method, tolerance } => {
                index.find_near(label, *method, *tolerance).map(|position| Positions::from(signed(position)))
            }
            Kind::List { labels, near: None } => index.find_all(labels).map(|list| all_signed(list).into()),
            Kind::List { labels, near: Some((method, tolerance)) } => {
                let found = labels.iter().map(|label| index.find_near(label, *method, *tolerance));
                found.collect::<XarrayResult<_>>().map(|list| all_signed(list).into())
            }
            Kind::Slice { start, end } => {
                let range = index.slice(start.as_ref(), end.as_ref())?;
                Ok(Positions::from(signed(range.start)..signed(range.end)))
            }
            Kind::Between(one, other) => {
                let range = index.between(one, other)?;
                Ok(Positions::from(signed(range.start)..signed(range.end)))
            }
        }
    }

    /// Returns the positions in a dimension without an index, whose labels are the positions.
    ///
    /// # Errors
    /// `Invalid` for labels that are not integers, and for methods.
    pub(crate) fn as_positions(&self) -> XarrayResult<Positions> {
        let integer = |label: &Label| match label {
            Label::Integer(integer) => Ok(*integer),
            other => Err(XarrayError::invalid(format!(
                "a dimension without an index is selected by position, not by the label {other}"
            ))),
        };
        let end = |label: &Option<Label>| label.as_ref().map(integer).transpose();
        match &self.0 {
            Kind::One(label) => integer(label).map(Positions::from),
            Kind::List { labels, near: None } => {
                labels.iter().map(integer).collect::<XarrayResult<Vec<_>>>().map(Positions::from)
            }
            Kind::Slice { start, end: last } => Ok(match (end(start)?, end(last)?) {
                (Some(start), Some(last)) => Positions::from(start..last),
                (Some(start), None) => Positions::from(start..),
                (None, Some(last)) => Positions::from(..last),
                (None, None) => Positions::from(..),
            }),
            Kind::Near { .. } | Kind::List { .. } | Kind::Between(..) => {
                Err(XarrayError::invalid("a dimension without an index has no order of labels"))
            }
        }
    }
}

/// Returns a position of an index. An index is in memory, so its positions fit.
fn signed(position: usize) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

fn all_signed(list: Vec<usize>) -> Vec<i64> {
    list.into_iter().map(signed).collect()
}

impl<T: Into<Label>> From<T> for Labels {
    fn from(label: T) -> Self {
        Self(Kind::One(label.into()))
    }
}
