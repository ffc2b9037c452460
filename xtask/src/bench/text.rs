//! Numbers with their units, and texts for HTML.

/// Returns a size with a unit: "10 k", or "1 GiB" if it counts bytes.
pub(super) fn size_of(size: f64, what: &str) -> String {
    let (step, units) = match what.starts_with("bytes") {
        true => (1024.0, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]),
        false => (1000.0, ["", "k", "M", "G", "T", "P"]),
    };
    let (mut size, mut unit) = (size, 0);
    while size >= step && unit + 1 < units.len() {
        size /= step;
        unit += 1;
    }
    format!("{} {}", digits(size), units[unit]).trim_end().to_owned()
}

/// Returns a time with a unit, in three digits.
pub(super) fn time(seconds: f64) -> String {
    let (factor, unit) = match seconds {
        _ if seconds < 0.999_5e-6 => (1e9, "ns"),
        _ if seconds < 0.999_5e-3 => (1e6, "µs"),
        _ if seconds < 0.999_5 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    format!("{} {unit}", digits(seconds * factor))
}

pub(super) fn ratio(number: f64) -> String {
    if number.is_nan() { String::new() } else { format!("{:.*}", if number < 10.0 { 2 } else { 1 }, number) }
}

pub(super) fn whole(number: f64) -> String {
    format!("{number:.0}")
}

/// Returns three digits of a number, without zeros at the end.
fn digits(number: f64) -> String {
    let places = if number < 9.995 { 2 } else { usize::from(number < 99.95) };
    let text = format!("{number:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Returns a text for HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        let times = [
            (1.2345e-9, "1.23 ns"),
            (9.9999e-7, "1 µs"),
            (1.0e-5, "10 µs"),
            (0.123_45, "123 ms"),
            (12.0, "12 s"),
        ];
        for (seconds, shown) in times {
            assert_eq!(time(seconds), shown);
        }
        let sizes = [
            (100.0, "chunks", "100"),
            (1e4, "chunks", "10 k"),
            (1e6, "nodes", "1 M"),
            (1024.0, "bytes of it", "1 KiB"),
        ];
        for (size, what, shown) in sizes {
            assert_eq!(size_of(size, what), shown);
        }
        assert_eq!(size_of(2_f64.powi(50), "bytes"), "1 PiB");
    }
}
