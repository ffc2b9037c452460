//! Channels that are shown together: each in a colour, added up.

use super::Scene;
use crate::exit::Failure;
use crate::pick::Pick;

/// The largest number of channels that are shown together.
pub(super) const MOST: u64 = 16;

/// The colours of channels without one.
const COLORS: [[u8; 3]; 6] =
    [[0, 255, 0], [255, 0, 255], [0, 255, 255], [255, 255, 0], [255, 80, 80], [90, 120, 255]];

/// The number of channels that are shown at first if the metadata says nothing.
const ACTIVE: usize = 4;

/// A channel of a plane.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) color: [u8; 3],
    /// The numbers of no and of full colour.
    pub(crate) window: (f64, f64),
    pub(crate) is_active: bool,
    pub(crate) values: Vec<f64>,
}

impl Scene {
    /// Reads a plane of each channel. `picks` are those of the plane, at one channel for all of them.
    pub(crate) fn layers(&self, picks: &[Pick], channels: usize) -> Result<Vec<Layer>, Failure> {
        let image = self.image();
        let own = &picks[channels];
        let is_all = own.is_all(self.shape()[channels]) || !own.keep;
        let count = if is_all { self.shape()[channels] } else { own.count };
        let count = usize::try_from(count).unwrap_or(0);
        // An opacity behind red, green and blue is left out.
        let count = if image.is_none() { count.min(3) } else { count };
        let mut layers = Vec::new();
        for place in 0..count as u64 {
            let at = if is_all { place } else { own.position(place) };
            let mut picks = picks.to_vec();
            picks[channels] = Pick::index(at);
            let at = usize::try_from(at).unwrap_or(0);
            let values = self.numbers(&picks)?;
            let said = image.and_then(|image| image.channels.get(at));
            let rgb = [[255, 0, 0], [0, 255, 0], [0, 0, 255]];
            let color = match (image, said.and_then(|said| said.color)) {
                (_, Some(color)) => color,
                (None, None) => rgb[at.min(2)],
                // Three channels of bytes without another word are a colour picture.
                (Some(image), None) if image.channels.is_empty() && self.is_colour(count) => rgb[at.min(2)],
                (Some(_), None) if count == 1 => [255; 3],
                (Some(_), None) => COLORS[at % COLORS.len()],
            };
            let window = said.and_then(|said| said.window).filter(|(start, end)| start < end);
            let is_bytes = image.is_none() || self.is_colour(count);
            let window = window.unwrap_or_else(|| if is_bytes { (0.0, 255.0) } else { spread(&values) });
            layers.push(Layer {
                color,
                window,
                is_active: said.map_or(at < ACTIVE, |said| said.is_active),
                values,
            });
        }
        if layers.iter().all(|layer| !layer.is_active) {
            layers.iter_mut().take(ACTIVE).for_each(|layer| layer.is_active = true);
        }
        Ok(layers)
    }

    /// Whether channels are red, green and blue.
    fn is_colour(&self, count: usize) -> bool {
        count == 3 && *self.array.data_type() == zarr_array::DataType::UInt8
    }
}

/// Returns the range of nearly all numbers: without the lowest and the highest 0.5 %.
fn spread(values: &[f64]) -> (f64, f64) {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return (0.0, 1.0) };
    let cut = sorted.len() / 200;
    let (low, high) = (sorted[cut], sorted[sorted.len() - 1 - cut]);
    match (low < high, first < last) {
        (true, _) => (low, high),
        (false, true) => (*first, *last),
        (false, false) => (*first, first + 1.0),
    }
}

/// Returns the pixels that the active layers make together, as bytes of red, green and blue.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
pub(crate) fn compose(layers: &[Layer]) -> Vec<u8> {
    let count = layers.iter().map(|layer| layer.values.len()).min().unwrap_or(0);
    let mut pixels = Vec::with_capacity(count * 3);
    for at in 0..count {
        let mut sum = [0.0; 3];
        for layer in layers.iter().filter(|layer| layer.is_active) {
            let (start, end) = layer.window;
            let part = ((layer.values[at] - start) / (end - start)).clamp(0.0, 1.0);
            for (sum, color) in sum.iter_mut().zip(layer.color) {
                // A missing number adds nothing.
                *sum += if part.is_nan() { 0.0 } else { part * f64::from(color) };
            }
        }
        pixels.extend(sum.map(|sum| sum.round().min(255.0) as u8));
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_layers_are_added_within_their_windows() {
        let layer = |color, window, is_active, values: &[f64]| Layer {
            color,
            window,
            is_active,
            values: values.to_vec(),
        };
        let layers = [
            layer([255, 0, 0], (0.0, 10.0), true, &[0.0, 5.0, 99.0, f64::NAN]),
            layer([100, 200, 0], (0.0, 1.0), true, &[0.0, 1.0, 2.0, 1.0]),
            layer([0, 0, 255], (0.0, 1.0), false, &[1.0; 4]),
        ];
        assert_eq!(compose(&layers), [0, 0, 0, 228, 200, 0, 255, 200, 0, 100, 200, 0]);
    }

    #[test]
    fn windows_leave_out_outliers() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values.push(1e9);
        assert_eq!(spread(&values), (5.0, 995.0));
        assert_eq!(spread(&[3.0, 3.0]), (3.0, 4.0));
        assert_eq!(spread(&[f64::NAN]), (0.0, 1.0));
    }
}
