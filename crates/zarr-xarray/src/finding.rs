//! What is odd about a dataset: named findings. Those from `XV101` on say where this crate reads data otherwise than xarray.

use std::fmt;

use crate::error::brief;

zarr_meta::codes! {
    ReferencedNames "XV009" Error "attribute that names other variables is not usable"
        "The attribute names variables that do not exist, or is not of the form that CF gives it. It names no coordinates.";
    OddName "XV014" Warning "name with a blank"
        "The attribute coordinates separates names by blanks, so no variable can name this one as its coordinate.";

    HiddenAttribute "XV020" Warning "attribute of netCDF-C"
        "Attributes that begin with _nc are the bookkeeping of netCDF-C and are not shown. xarray shows those of arrays of format 3.";
    UnitsSpelling "XV022" Warning "time units in a spelling of their own"
        "The units are understood, but CF spells them otherwise: years have four digits, and a unit is one of days to microseconds. xarray refuses some of these spellings.";
    SeveralMissing "XV023" Warning "several missing values"
        "_FillValue and missing_value name more than one value. All of them are missing.";
    NanForIntegers "XV024" Warning "NaN as the missing value of integers"
        "No integer is NaN, so that nothing is missing.";
    MissingValueType "XV025" Warning "missing value of another type"
        "The missing value is a text or another thing that is no element of the data type. It is ignored.";
    UnsignedIgnored "XV026" Warning "_Unsigned without effect"
        "The attribute _Unsigned means something for integers only. It is ignored.";
    RepeatedDimension "XV027" Warning "dimension name twice in one array"
        "Two dimensions of the array have one name. Nothing can be selected by that name.";
    FactorSpelling "XV028" Warning "packing factor in a spelling of its own"
        "scale_factor or add_offset is a number in a text, or null. The number is taken, null is none. xarray fails, or changes the data type.";
    SpanResolution "XV029" Warning "spans of a resolution that is not kept"
        "The attribute dtype asks for timedelta64 in days, hours or minutes. Seconds are given, as in xarray.";
    CoordinatesList "XV030" Warning "coordinates is a list"
        "The attribute coordinates is a list of names in place of one text. It is taken. xarray opens no dataset with it.";
    NetcdfNames "XV031" Warning "dimension names of netCDF-C"
        "The names of the dimensions are those of _nczarr_array, which netCDF-C writes. xarray knows an older form only, and opens no dataset without it.";

    MissingTimes "XV101" Warning "missing times in a model calendar"
        "Missing times are missing. xarray makes them the reference date of the units, or fails where they are integers.";
    IntegerFactor "XV102" Warning "scale_factor is a JSON integer"
        "The result is float64. xarray makes int64 of it: floats are cut, and reading fails where elements are missing. Write 2.0.";
    DecimalMissing "XV103" Warning "missing value that the data type rounds"
        "The missing value is compared after it is rounded to the data type. xarray compares without rounding, and nothing is missing there.";
    LargeMissing "XV104" Warning "missing value beyond 2^53"
        "Elements are compared as integers. xarray compares them as float64, and masks their neighbours as well.";
    UnsignedMissing "XV105" Warning "_Unsigned with other attributes"
        "_Unsigned is applied to missing_value as well, missing values are read with either sign, and true means the same as \"true\". xarray leaves missing_value as it is, fails on a _FillValue that is a number of the other type, and takes no notice of true.";
    ReferenceOffset "XV106" Warning "reference time that xarray misreads"
        "The hour, or the offset from UTC, counts as CF 4.4.1 says. xarray drops it in some calendars, or takes it for the time of day.";
    BrokenVariable "XV111" Error "variable that cannot be decoded"
        "An attribute makes the variable unreadable; the message says which. The variable is broken and the rest of the dataset opens. xarray opens nothing.";
    FillValueForm "XV112" Warning "_FillValue in a form that xarray refuses"
        "In format 3 xarray wants the base64 of a float64 for floats, and no _FillValue for texts. The value is read. xarray opens no dataset with it.";
    FillAsMask "XV113" Warning "fill value as missing value"
        "The fill value of format 3 is a missing value because the options say so. xarray drops that option.";
    EmptyTimes "XV116" Warning "empty time axis in a model calendar"
        "The axis has no elements. xarray fails to decode it, and opens nothing.";
}

/// One finding about a variable or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which one.
    pub code: Code,
    /// What was found and how it is taken: lower case, one line, no full stop.
    pub message: String,
}

impl Finding {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: brief(message.into()) }
    }
}

/// `XV101 …`.
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
