//! Findings about a dataset. Codes from `XV101` on mark where this crate and xarray read data differently.

use std::fmt;

use crate::error::brief;

zarr_meta::codes! {
    ReferencedNames "XV009" Error "attribute that names other variables is not usable"
        "The attribute names variables that do not exist, or does not have the form that CF defines. It is ignored.";
    OddName "XV014" Warning "name with a blank"
        "The attribute coordinates separates names by blanks, so no variable can name this one as its coordinate.";

    HiddenAttribute "XV020" Warning "attribute of netCDF-C"
        "Attributes that begin with _nc are internal to netCDF-C and are hidden. xarray shows them for arrays of format 3.";
    UnitsSpelling "XV022" Warning "time units in an unusual spelling"
        "The units are understood, but CF spells them differently: years have four digits, and a unit is one of days to microseconds. xarray refuses some of these spellings.";
    SeveralMissing "XV023" Warning "several missing values"
        "_FillValue and missing_value name more than one value. All of them mark missing elements.";
    NanForIntegers "XV024" Warning "NaN as the missing value of integers"
        "No integer is NaN, so no element is missing.";
    MissingValueType "XV025" Warning "missing value of another type"
        "The missing value is a text or another value that is not an element of the data type. It is ignored.";
    UnsignedIgnored "XV026" Warning "_Unsigned without effect"
        "The attribute _Unsigned applies only to integers. It is ignored.";
    RepeatedDimension "XV027" Warning "dimension name twice in one array"
        "Two dimensions of the array have the same name. It cannot be used for a selection.";
    FactorSpelling "XV028" Warning "packing factor in an unusual spelling"
        "scale_factor or add_offset is a number in a text, or null. The number is used, and null means no factor. xarray fails, or changes the data type.";
    SpanResolution "XV029" Warning "resolution of spans changed to seconds"
        "The attribute dtype asks for timedelta64 in days, hours or minutes. Spans are in seconds, as in xarray.";
    CoordinatesList "XV030" Warning "coordinates is a list"
        "The attribute coordinates is a list of names, not a text. The list is used. xarray does not open such a dataset.";
    NetcdfNames "XV031" Warning "dimension names of netCDF-C"
        "The dimension names are from _nczarr_array, which netCDF-C writes. xarray knows only an older form, and does not open such a dataset.";

    MissingTimes "XV101" Warning "missing times in a model calendar"
        "Missing times stay missing. xarray decodes them to the reference date of the units, or fails if they are integers.";
    IntegerFactor "XV102" Warning "scale_factor is a JSON integer"
        "The result is float64. xarray gives int64: floats are truncated, and reading fails if elements are missing. Write 2.0.";
    DecimalMissing "XV103" Warning "missing value that the data type rounds"
        "The missing value is rounded to the data type before it is compared. xarray compares without rounding and finds no missing element.";
    LargeMissing "XV104" Warning "missing value beyond 2^53"
        "Elements are compared as integers. xarray compares them as float64, and masks their neighbours as well.";
    UnsignedMissing "XV105" Warning "_Unsigned with other attributes"
        "_Unsigned also applies to missing_value, missing values may be signed or unsigned, and true means the same as \"true\". xarray does not apply it to missing_value, fails on a _FillValue that is a number of the other type, and ignores true.";
    ReferenceOffset "XV106" Warning "reference time that xarray misreads"
        "The hour, or the offset from UTC, is read as CF 4.4.1 says. xarray drops it in some calendars, or reads it as the time of day.";
    BrokenVariable "XV111" Error "variable that cannot be decoded"
        "An attribute makes the variable unreadable; the message says which. The rest of the dataset opens. xarray opens nothing.";
    FillValueForm "XV112" Warning "_FillValue in a form that xarray refuses"
        "In format 3 xarray wants the base64 of a float64 for floats, and no _FillValue for texts. The value is read. xarray does not open such a dataset.";
    FillAsMask "XV113" Warning "fill value as missing value"
        "The fill value of format 3 is a missing value because the options say so. xarray ignores this option.";
    EmptyTimes "XV116" Warning "empty time axis in a model calendar"
        "The axis has no elements. xarray fails to decode it, and opens nothing.";
}

/// One finding about a variable or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The code of the finding.
    pub code: Code,
    /// What was found and how it is read: lower case, one line, no full stop.
    pub message: String,
}

impl Finding {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: brief(message.into()) }
    }
}

/// Writes the code and the message, as `XV101 …`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_one_number_each_in_order() {
        assert!(Code::ALL.is_sorted_by(|a, b| a.id() < b.id()));
    }
}
