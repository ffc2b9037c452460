//! Texts that stand for a time or an interval of time.

use serde_json::Value;
use zarr_xarray::{Calendar, DateTime, Interval};

use crate::vectors::tally::{Verdict, check_rows, equal};

#[test]
fn texts_are_the_intervals_of_pandas() {
    check_rows("time_text.json", &[(Verdict::Same, 20)], |row, _| {
        let found = Interval::parse(row["text"].as_str().unwrap(), Calendar::ProlepticGregorian);
        let Some(result) = row.get("result") else {
            return found.map_or(Ok(()), |interval| Err(format!("found {interval:?}, wanted an error")));
        };
        let found = found.map_err(|error| format!("{error:#}"))?;
        equal(
            &format!("{:?}", found.precision()).to_lowercase().as_str(),
            &result["resolution"].as_str().unwrap(),
        )?;
        for (time, wanted) in [(found.first(), &result["first"]), (found.last(), &result["last"])] {
            equal(&cut(time.unwrap()), wanted)?;
        }
        Ok(())
    });
}

/// Shows a time with a blank between date and time, truncated to microseconds like the table.
fn cut(time: DateTime) -> Value {
    let DateTime { date, hour, minute, second, nanosecond } = time;
    let fraction = match nanosecond / 1000 {
        0 => String::new(),
        microseconds => format!(".{microseconds:06}"),
    };
    format!("{date} {hour:02}:{minute:02}:{second:02}{fraction}").into()
}
