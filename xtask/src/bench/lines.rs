//! Line charts as SVG: both axes are logarithmic.

use std::fmt::Write as _;

use super::results::Chart;
use super::text::{escaped, size_of, time};

/// The drawing and its margins, in units of the SVG.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;

/// An axis from one number to a larger one.
struct Axis {
    from: f64,
    to: f64,
    /// The places of both numbers in the drawing.
    places: [f64; 2],
}

impl Axis {
    fn place(&self, number: f64) -> f64 {
        let [start, end] = self.places;
        start + (end - start) * (number / self.from).ln() / (self.to / self.from).ln()
    }
}

/// Draws a chart with its legend. The style sheet of the page has the colours: line `n` is of class `line n`.
pub(super) fn draw(chart: &Chart) -> String {
    let points = || chart.lines.iter().flat_map(|line| &line.points);
    let mut sizes: Vec<f64> = points().map(|point| point.size).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let (Some(&first), Some(&last)) = (sizes.first(), sizes.last()) else { return String::new() };
    let costs = || points().map(|point| point.each());
    let marks = ticks(costs().fold(f64::INFINITY, f64::min), costs().fold(0.0, f64::max));
    let x = Axis { from: first, to: last.max(first * 2.0), places: [LEFT, WIDTH - RIGHT] };
    let y = Axis { from: marks[0], to: marks[marks.len() - 1], places: [HEIGHT - BOTTOM, TOP] };

    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
        escaped(&chart.title)
    );
    for mark in marks {
        let at = y.place(mark);
        let (end, text) = (WIDTH - RIGHT, LEFT - 8.0);
        let label = time(mark);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{end}\"/><text class=\"y\" x=\"{text}\" y=\"{at:.1}\">{label}</text>"
        );
    }
    for size in sizes {
        let (at, end, text) = (x.place(size), HEIGHT - BOTTOM, HEIGHT - BOTTOM + 18.0);
        let label = size_of(size, &chart.size);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{at:.1} {TOP}V{end}\"/><text class=\"x\" x=\"{at:.1}\" y=\"{text}\">{label}</text>"
        );
    }
    let (middle, bottom) = (f64::midpoint(LEFT, WIDTH - RIGHT), HEIGHT - 8.0);
    let _ = writeln!(svg, "<text class=\"x\" x=\"{middle}\" y=\"{bottom}\">{}</text>", escaped(&chart.size));

    let mut legend = String::new();
    let mut names: Vec<&str> = Vec::new();
    for line in &chart.lines {
        let number = names.iter().position(|name| *name == line.name).unwrap_or_else(|| {
            names.push(&line.name);
            names.len() - 1
        });
        let threads =
            if line.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", line.threads) };
        let class = format!("line l{} t{}", number % 4, line.threads.min(2));
        let name = escaped(&line.name);
        let places: Vec<[f64; 2]> =
            line.points.iter().map(|point| [x.place(point.size), y.place(point.each())]).collect();
        let path: Vec<String> = places.iter().map(|[x, y]| format!("{x:.1} {y:.1}")).collect();
        let _ = writeln!(svg, "<path class=\"{class}\" d=\"M{}\"/>", path.join("L"));
        for (point, [x, y]) in line.points.iter().zip(places) {
            let label = format!(
                "{name}, {threads}, {} {}: {} for each {}",
                size_of(point.size, &chart.size),
                escaped(&chart.size),
                time(point.each()),
                escaped(&chart.unit)
            );
            let _ = writeln!(
                svg,
                "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"><title>{label}</title></circle>"
            );
        }
        let _ = writeln!(
            legend,
            "<li><svg viewBox=\"0 0 28 8\" aria-hidden=\"true\"><path class=\"{class}\" d=\"M0 4H28\"/></svg>{name}, {threads}</li>"
        );
    }
    format!("{svg}</svg>\n<ul class=\"legend\">\n{legend}</ul>\n")
}

/// Returns numbers 1, 2 and 5 times a power of ten, from one at or below `least` to one at or above `most`.
fn ticks(least: f64, most: f64) -> Vec<f64> {
    #[allow(clippy::cast_possible_truncation, reason = "an exponent of ten")]
    let first = least.log10().floor() as i32;
    let all = (first..).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
    let mut ticks: Vec<f64> = Vec::new();
    for tick in all.take(60) {
        if tick <= least {
            ticks.clear();
        }
        ticks.push(tick);
        if tick >= most && ticks.len() > 1 {
            break;
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_enclose_the_numbers() {
        let shown = |least, most| ticks(least, most).into_iter().map(time).collect::<Vec<_>>();
        assert_eq!(shown(3e-7, 1.2e-6), ["200 ns", "500 ns", "1 µs", "2 µs"]);
        assert_eq!(shown(1e-3, 1e-3), ["1 ms", "2 ms"]);
        assert_eq!(shown(6e-9, 6e-9), ["5 ns", "10 ns"]);
    }
}
