//! Labels of longitudes, which are the same after 360 degrees.

use zarr_meta::json::Object;

use super::resolve::{Meaning, meaning, resolve, signed, with_range};
use super::words::unquoted;
use super::{How, Selector};
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::index::Index;
use crate::positions::Positions;

/// Degrees of a circle.
pub(super) const PERIOD: f64 = 360.0;

/// The units of longitudes in CF.
const UNITS: [&str; 6] = ["degrees_east", "degree_east", "degree_E", "degrees_E", "degreeE", "degreesE"];

/// Two longitudes that are nearer to each other are the same: sums of floats are rounded.
const SAME: f64 = 1e-9;

/// A coordinate of longitudes.
pub(super) struct Cyclic {
    longitudes: Vec<f64>,
}

impl Cyclic {
    /// Returns the longitudes of a coordinate whose units say so. They must be in order, and not go around the Earth more
    /// than once.
    pub(super) fn of(attributes: &Object, index: &Index) -> Option<Self> {
        let units = attributes.get("units")?;
        let is_east = UNITS.contains(&&*units.to_text().ok()?);
        let longitudes = index.numbers().filter(|_| is_east && index.is_strict())?;
        let (first, last) = (longitudes.first()?, longitudes.last()?);
        ((last - first).abs() <= PERIOD).then_some(Self { longitudes })
    }

    /// Returns the positions of an entry.
    ///
    /// # Errors
    /// As [`resolve`].
    pub(super) fn resolve(&self, selector: &Selector, index: &Index) -> XarrayResult<Positions> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let found = match selector.how {
            How::Positions => None,
            How::Nearest => {
                number(&unquoted(&selector.text)).and_then(|label| self.nearest(label, f64::INFINITY))
            }
            How::Labels => match meaning(&selector.text, index.values())? {
                Meaning::Label(text) => match resolve(selector, index) {
                    Err(error) if error.kind() == XarrayErrorKind::NotFound => {
                        let found = number(&text).and_then(|label| self.nearest(label, SAME));
                        Some(found.ok_or(error)?)
                    }
                    found => return found,
                },
                Meaning::Between { start: Some(start), end: Some(end), step } => {
                    let ends = number(&start).zip(number(&end));
                    ends.map(|(start, end)| self.between(start, end, step, index)).transpose()?
                }
                Meaning::Between { .. } => None,
            },
        };
        // Open ends, and what is no number.
        found.map_or_else(|| resolve(selector, index), Ok)
    }

    /// Returns the position of the nearest longitude, if it is at most `most` away.
    fn nearest(&self, label: f64, most: f64) -> Option<Positions> {
        let distance = |of: f64| {
            let east = east_of(label, of);
            east.min(PERIOD - east)
        };
        let all = self.longitudes.iter().map(|of| distance(*of)).enumerate();
        let (at, _) =
            all.filter(|(_, distance)| *distance <= most).min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        Some(Positions::from(signed(at)))
    }

    /// Returns the positions from one longitude eastwards to another, in the direction of the coordinate.
    fn between(&self, start: f64, end: f64, step: i64, index: &Index) -> XarrayResult<Positions> {
        let width = if end - start >= PERIOD { PERIOD } else { east_of(start, end) };
        let east = self.longitudes.iter().map(|of| east_of(start, *of)).enumerate();
        let mut inside: Vec<(usize, f64)> = east.filter(|(_, east)| *east <= width + SAME).collect();
        let (Some(first), Some(last)) = (inside.first(), inside.last()) else {
            let error = XarrayError::new(XarrayErrorKind::NotFound, "no element lies between the two labels");
            return Err(with_range(error, index));
        };
        if last.0 - first.0 + 1 == inside.len() && first.1 <= last.1 || width >= PERIOD {
            return Ok(Positions::step(signed(first.0)..signed(last.0) + 1, step));
        }
        if index.is_descending() && last.0 - first.0 + 1 == inside.len() && first.1 >= last.1 {
            return Ok(Positions::step(signed(first.0)..signed(last.0) + 1, step));
        }
        inside.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        if index.is_descending() {
            inside.reverse();
        }
        let step = usize::try_from(step).unwrap_or(1).max(1);
        Ok(inside.iter().step_by(step).map(|(at, _)| signed(*at)).collect::<Vec<_>>().into())
    }
}

/// Returns how far one has to go east from one longitude to another.
fn east_of(from: f64, to: f64) -> f64 {
    let east = (to - from).rem_euclid(PERIOD);
    if PERIOD - east < SAME { 0.0 } else { east }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexValues;
    use crate::selectors::Selectors;

    /// Returns the longitudes that an entry selects from a coordinate.
    fn selected(longitudes: &[f64], entry: &str) -> Option<Vec<f64>> {
        let mut attributes = Object::new();
        attributes.set("units", "degrees_east");
        let index = Index::new(IndexValues::Floats(longitudes.to_vec()));
        let selectors: Selectors = format!("lon={entry}").parse().unwrap();
        let cyclic = Cyclic::of(&attributes, &index).unwrap();
        let picked = cyclic.resolve(&selectors.0[0], &index).ok()?.resolve(longitudes.len() as u64).unwrap();
        let at = |position| longitudes[usize::try_from(picked.at(position)).unwrap()];
        Some((0..picked.len()).map(at).collect())
    }

    #[test]
    fn longitudes_are_the_same_after_a_turn() {
        let east: Vec<f64> = (0..12).map(|step| f64::from(step) * 30.0).collect();
        let both: Vec<f64> = (-6..6).map(|step| f64::from(step) * 30.0).collect();
        let down: Vec<f64> = east.iter().rev().copied().collect();
        for (longitudes, entry, wanted) in [
            (&east, "-30", Some(vec![330.0])),
            (&east, "390", Some(vec![30.0])),
            (&east, "-31", None),
            (&both, "330", Some(vec![-30.0])),
            (&east, "~359.9", Some(vec![0.0])),
            (&east, "~-16.4", Some(vec![330.0])),
            (&both, "~181", Some(vec![-180.0])),
            (&east, "330:30", Some(vec![330.0, 0.0, 30.0])),
            (&east, "-30:30", Some(vec![330.0, 0.0, 30.0])),
            (&east, "-30:30:2", Some(vec![330.0, 30.0])),
            (&east, "30:90", Some(vec![30.0, 60.0, 90.0])),
            (&east, "5:10", None),
            (&both, "170:190", Some(vec![-180.0])),
            (&both, "150:210", Some(vec![150.0, -180.0, -150.0])),
            (&down, "30:90", Some(vec![90.0, 60.0, 30.0])),
            (&down, "330:30", Some(vec![30.0, 0.0, 330.0])),
            (&east, "0:360", Some(east.clone())),
            (&east, "-180:180", Some(east.clone())),
            (&east, "300:", Some(vec![300.0, 330.0])),
        ] {
            assert_eq!(selected(longitudes, entry), wanted, "{entry} of {longitudes:?}");
        }
        let third = [0.1_f64 + 0.2, 343.6];
        assert_eq!(selected(&third, "-16.4"), Some(vec![343.6]));
    }
}
