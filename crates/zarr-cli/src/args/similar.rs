//! Finds the name that the user may have meant.

/// The similarity from which a name is suggested. Names of stores are alike already because of their endings.
const ENOUGH: f64 = 0.8;

/// Returns "; did you mean …?" with the name that looks most like `given`, or `None` if none does.
pub(crate) fn did_you_mean(given: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let given = given.to_lowercase();
    let scored = names.map(|name| (strsim::jaro_winkler(&given, &name.to_lowercase()), name));
    let best = scored.filter(|(score, _)| *score > ENOUGH).max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, name)| format!("; did you mean {name:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_similar_name_is_suggested() {
        let names = || ["air", "temperature", "data.zarr"].into_iter().map(str::to_owned);
        for (given, wanted) in [
            ("Air", Some("air")),
            ("temprature", Some("temperature")),
            ("dta.zarr", Some("data.zarr")),
            ("nothing.zarr", None),
            ("x", None),
        ] {
            let wanted = wanted.map(|name| format!("; did you mean {name:?}?"));
            assert_eq!(did_you_mean(given, names()), wanted, "{given}");
        }
    }
}
