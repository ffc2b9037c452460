//! The positions of pixels of the convention `spatial`.

use zarr_array::meta::json::{Object, Value};

use super::ome::numbers;

pub(crate) const TRANSFORM: &str = "spatial:transform";
pub(crate) const SHAPE: &str = "spatial:shape";
const BBOX: &str = "spatial:bbox";

/// The names of the dimensions of rows and columns.
pub(crate) fn dimensions(attributes: &Object) -> Option<Vec<String>> {
    let names = attributes.get("spatial:dimensions")?;
    let names: Vec<String> = names.elements()?.map(|name| name.as_text()).collect::<Option<_>>()?;
    (names.len() == 2).then_some(names)
}

/// Where the pixels of level 0 are: x = a·column + b·row + c, y = d·column + e·row + f.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pixels {
    transform: [f64; 6],
    /// Whether positions are those of the centres of pixels, not of their corners.
    is_node: bool,
}

impl Pixels {
    /// Reads the positions from the attributes of a group or an array.
    pub(crate) fn read(attributes: &Object) -> Option<Self> {
        let transform =
            attributes.get(TRANSFORM)?.elements()?.map(|n| n.as_f64()).collect::<Option<Vec<_>>>()?;
        let registration = attributes.get("spatial:registration").and_then(|text| text.as_text());
        Some(Self { transform: transform.try_into().ok()?, is_node: registration.as_deref() == Some("node") })
    }

    /// Returns the positions of a level that is shorter by these factors, of rows and columns.
    pub(crate) fn of_level(&self, rows: f64, columns: f64, is_nearest: bool) -> Self {
        let [a, b, c, d, e, f] = self.transform;
        let (mut x, mut y) = (c, f);
        if self.is_node && !is_nearest {
            let (half_columns, half_rows) = ((columns - 1.0) / 2.0, (rows - 1.0) / 2.0);
            x += half_columns * a + half_rows * b;
            y += half_columns * d + half_rows * e;
        }
        let transform = [a * columns, b * rows, x, d * columns, e * rows, y];
        Self { transform, is_node: self.is_node }
    }

    pub(crate) fn to_value(&self) -> Value {
        numbers(&self.transform)
    }

    /// Sets the box around all pixels, if the attributes have none.
    pub(crate) fn add_box(&self, attributes: &mut Object, [rows, columns]: [u64; 2]) {
        if attributes.contains(BBOX) {
            return;
        }
        let [a, b, c, d, e, f] = self.transform;
        let (first, [rows, columns]) = match self.is_node {
            true => (-0.5, [rows as f64 - 0.5, columns as f64 - 0.5]),
            false => (0.0, [rows as f64, columns as f64]),
        };
        let corners = [(first, first), (first, columns), (rows, first), (rows, columns)];
        let xs = corners.map(|(row, column)| a * column + b * row + c);
        let ys = corners.map(|(row, column)| d * column + e * row + f);
        let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
        let most = |of: &[f64]| of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        attributes.set(BBOX, numbers(&[least(&xs), least(&ys), most(&xs), most(&ys)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(text: &str) -> Pixels {
        Pixels::read(&Value::parse(text).unwrap().as_object().unwrap()).unwrap()
    }

    #[test]
    fn corners_stay_and_centres_move() {
        let corner = pixels(r#"{"spatial:transform": [10, 0, 500, 0, -10, 90]}"#);
        assert_eq!(corner.of_level(4.0, 2.0, false).transform, [20.0, 0.0, 500.0, 0.0, -40.0, 90.0]);
        let centre =
            pixels(r#"{"spatial:registration": "node", "spatial:transform": [10, 0, 505, 0, -10, 85]}"#);
        assert_eq!(centre.of_level(2.0, 2.0, false).transform, [20.0, 0.0, 510.0, 0.0, -20.0, 80.0]);
        assert_eq!(centre.of_level(2.0, 2.0, true).transform, [20.0, 0.0, 505.0, 0.0, -20.0, 85.0]);
        for pixels in [corner, centre] {
            let mut attributes = Object::new();
            pixels.add_box(&mut attributes, [2, 3]);
            let wanted = Value::parse("[500.0, 70.0, 530.0, 90.0]").unwrap();
            assert_eq!(attributes.get(BBOX), Some(wanted));
        }
    }
}
