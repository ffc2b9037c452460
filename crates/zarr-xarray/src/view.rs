//! The part of a dataset that a selection leaves: for each selected dimension the positions in the stored arrays.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_array::{Axis, Selection};

use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::positions::{Picked, Positions};

/// A dataset after selections.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    /// The positions of each selected dimension that is not in `points`.
    dimensions: BTreeMap<String, Picked>,
    points: Option<Points>,
}

/// Points: several dimensions that vary together and have become one dimension.
#[derive(Debug, Clone)]
struct Points {
    /// The name of the new dimension.
    name: Arc<str>,
    /// The positions in each of the dimensions, all of the same number.
    dimensions: BTreeMap<String, Vec<u64>>,
}

/// A variable in a view.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    /// The names of its dimensions.
    pub(crate) names: Vec<String>,
    /// Their lengths.
    pub(crate) shape: Vec<u64>,
    /// The selection of the stored array.
    pub(crate) selection: Selection,
}

impl View {
    /// Returns the dimensions of the view of a dataset with these stored dimensions.
    pub(crate) fn lengths(&self, stored: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
        let mut lengths = BTreeMap::new();
        for (name, length) in stored {
            match (self.dimensions.get(name), &self.points) {
                (Some(Picked::One(_)), _) => {}
                (Some(picked), _) => _ = lengths.insert(name.clone(), picked.len()),
                (None, Some(points)) if points.dimensions.contains_key(name) => {
                    lengths.insert(points.name.to_string(), points.len());
                }
                _ => _ = lengths.insert(name.clone(), *length),
            }
        }
        lengths
    }

    /// Returns the stored positions along a stored dimension of this length.
    pub(crate) fn picked(&self, dimension: &str, length: u64) -> Picked {
        let points = || Some(Picked::List(self.points.as_ref()?.dimensions.get(dimension)?.clone()));
        let picked = self.dimensions.get(dimension).cloned();
        picked.or_else(points).unwrap_or_else(|| Picked::whole(length))
    }

    /// Whether a stored dimension is as it is stored.
    pub(crate) fn is_whole(&self, dimension: &str) -> bool {
        let in_points = self.points.as_ref().is_some_and(|points| points.dimensions.contains_key(dimension));
        !self.dimensions.contains_key(dimension) && !in_points
    }

    /// Whether nothing is selected.
    pub(crate) fn is_unselected(&self) -> bool {
        self.dimensions.is_empty() && self.points.is_none()
    }

    /// Selects positions along a dimension of the view. `stored` has the stored dimensions.
    ///
    /// # Errors
    /// `Invalid` if the view does not have the dimension, and for positions outside of it.
    pub(crate) fn select(
        &mut self,
        stored: &BTreeMap<String, u64>,
        dimension: &str,
        positions: &Positions,
    ) -> XarrayResult<()> {
        let lengths = self.lengths(stored);
        let Some(length) = lengths.get(dimension) else {
            let known: Vec<_> = lengths.keys().map(String::as_str).collect();
            let known = known.join(", ");
            return Err(XarrayError::invalid(format!("no dimension {dimension:?}: there are {known}")));
        };
        let named = |error: XarrayError| error.within(&format!("dimension {dimension:?}"));
        let chosen = positions.resolve(*length).map_err(named)?;
        match self.points.take() {
            Some(points) if &*points.name == dimension => self.select_points(points, &chosen),
            points => {
                self.points = points;
                let picked = self.picked(dimension, *length).then(&chosen);
                self.dimensions.insert(dimension.to_owned(), picked);
            }
        }
        Ok(())
    }

    /// Selects some of the points.
    fn select_points(&mut self, mut points: Points, chosen: &Picked) {
        if let Picked::One(position) = chosen {
            for (name, positions) in points.dimensions {
                self.dimensions.insert(name, Picked::One(Picked::List(positions).at(*position)));
            }
            return;
        }
        for positions in points.dimensions.values_mut() {
            let old = Picked::List(std::mem::take(positions));
            *positions = (0..chosen.len()).map(|position| old.at(chosen.at(position))).collect();
        }
        self.points = Some(points);
    }

    /// Replaces dimensions of the view by one dimension of points.
    ///
    /// # Errors
    /// `Invalid` if the numbers of positions differ, or if the name is taken. `Unsupported` if the view already has
    /// points.
    pub(crate) fn select_points_of(
        &mut self,
        stored: &BTreeMap<String, u64>,
        name: &str,
        positions: Vec<(String, Vec<u64>)>,
    ) -> XarrayResult<()> {
        if self.points.is_some() {
            return Err(XarrayError::new(
                XarrayErrorKind::Unsupported,
                "points were selected already: a dataset can have one dimension of points",
            ));
        }
        let lengths = self.lengths(stored);
        if lengths.contains_key(name) && !positions.iter().any(|(dimension, _)| dimension == name) {
            return Err(XarrayError::invalid(format!("there already is a dimension {name:?}")));
        }
        let count = positions.first().map_or(0, |(_, positions)| positions.len());
        if positions.iter().any(|(_, positions)| positions.len() != count) {
            let counts = positions.iter().map(|(of, list)| format!("{} in {of:?}", list.len()));
            let counts = counts.collect::<Vec<_>>().join(", ");
            return Err(XarrayError::invalid(format!(
                "the points have different numbers of labels: {counts}"
            )));
        }
        let mut dimensions = BTreeMap::new();
        for (dimension, chosen) in positions {
            let old = self.picked(&dimension, stored.get(&dimension).copied().unwrap_or(0));
            self.dimensions.remove(&dimension);
            dimensions.insert(dimension, chosen.into_iter().map(|position| old.at(position)).collect());
        }
        self.points = Some(Points { name: name.into(), dimensions });
        Ok(())
    }

    /// Returns a variable with these stored dimensions as the view shows it.
    pub(crate) fn see(&self, names: &[String], shape: &[u64]) -> Seen {
        let mut seen = Seen { names: Vec::new(), shape: Vec::new(), selection: Selection::all() };
        let mut axes = Vec::with_capacity(names.len());
        let mut has_points = false;
        for (name, length) in names.iter().zip(shape) {
            let points = self.points.as_ref().and_then(|points| Some((points, points.dimensions.get(name)?)));
            if let Some((points, positions)) = points {
                if !has_points {
                    seen.names.push(points.name.to_string());
                    seen.shape.push(points.len());
                }
                has_points = true;
                axes.push(Axis::points(positions.iter().copied()));
                continue;
            }
            let picked = self.picked(name, *length);
            if !matches!(picked, Picked::One(_)) {
                seen.names.push(name.clone());
                seen.shape.push(picked.len());
            }
            axes.push(picked.axis());
        }
        seen.selection = Selection::new(axes);
        seen
    }
}

impl Points {
    fn len(&self) -> u64 {
        self.dimensions.values().next().map_or(0, |positions| positions.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> BTreeMap<String, u64> {
        [("t", 10), ("y", 4), ("x", 5)].map(|(name, length)| (name.to_owned(), length)).into()
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_selection_of_a_selection_is_one_selection() {
        let mut view = View::default();
        view.select(&stored(), "t", &Positions::from(2..9)).unwrap();
        view.select(&stored(), "t", &Positions::step(.., -3)).unwrap();
        assert_eq!(view.picked("t", 10), Picked::Steps { start: 8, count: 3, step: -3 });
        view.select(&stored(), "t", &Positions::from([2, 0])).unwrap();
        assert_eq!(view.picked("t", 10), Picked::List(vec![2, 8]));
        view.select(&stored(), "t", &Positions::from(-1)).unwrap();
        assert_eq!(view.picked("t", 10), Picked::One(8));
        assert!(!view.lengths(&stored()).contains_key("t"));
        assert!(view.select(&stored(), "t", &Positions::from(..)).is_err());
    }

    #[test]
    fn points_replace_their_dimensions() {
        let mut view = View::default();
        view.select(&stored(), "x", &Positions::from(1..)).unwrap();
        let points = vec![("y".to_owned(), vec![0, 3]), ("x".to_owned(), vec![0, 3])];
        view.select_points_of(&stored(), "p", points.clone()).unwrap();
        let seen = view.see(&names(&["t", "y", "x"]), &[10, 4, 5]);
        assert_eq!((seen.names, seen.shape), (names(&["t", "p"]), vec![10, 2]));
        assert_eq!(view.picked("x", 5), Picked::List(vec![1, 4]));
        assert!(view.select_points_of(&stored(), "q", points).is_err());
        view.select(&stored(), "p", &Positions::from(1)).unwrap();
        assert_eq!((view.picked("x", 5), view.picked("y", 4)), (Picked::One(4), Picked::One(3)));
    }
}
