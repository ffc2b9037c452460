//! Findings about a dataset. Codes from `XV101` on mark where this crate and xarray read data differently.

use std::fmt;

use crate::error::brief;

zarr_meta::codes! {
    FindingCode;

    UnnamedDimension "XV001" Error "dimension without a name"
        "Every dimension of a variable has a name: in dimension_names of format 3, in the attribute _ARRAY_DIMENSIONS of format 2. xarray opens nothing in the group.";
    TwoLengths "XV002" Error "dimension with two lengths, or a scalar of its name"
        "A dimension has the same length in all arrays of a group, and no scalar has its name. xarray does not open the group.";
    FillValueSpelling "XV003" Error "_FillValue in another spelling"
        "xarray reads only the base64 of a float64 for floats of format 3, and no _FillValue of texts: it does not open the dataset. NZ wants a JSON number.";
    ZeroIsMissing "XV004" Warning "zeros are missing"
        "In format 2 the fill value of the array is its missing value for xarray. If zeros are values, write a fill value of null.";
    FactorForm "XV005" Error "scale_factor or add_offset in another form"
        "Both are finite numbers. xarray reads a JSON integer alone as an integer and truncates floats, and a list of one as an array.";
    MissingValueForm "XV006" Error "missing value that is no element"
        "_FillValue and missing_value are elements of the data type, and the same if both are there. Otherwise programs disagree about missing elements.";
    TimeUnitsForm "XV007" Error "time units that CF does not have"
        "Units of time are UNIT since YYYY-MM-DD hh:mm:ss, with a unit from days to microseconds. Months and years have no fixed length.";
    CalendarForm "XV008" Error "calendar unknown or absent"
        "CF has standard, proleptic_gregorian, julian, noleap, all_leap and 360_day. Before 1582 the calendar must be named, because programs assume different ones.";
    ReferencedNames "XV009" Error "attribute that names other variables is not usable"
        "The attribute names variables that do not exist, or does not have the form that CF defines. It is ignored.";
    BoundsForm "XV010" Error "bounds that do not fit their coordinate"
        "Bounds have the dimensions of the coordinate and one more, for the corners, and its units and calendar (CF 7.1).";
    CoordinateValues "XV011" Error "coordinate that is not in strict order"
        "The values of a coordinate with the name of its dimension increase or decrease strictly, and none is missing.";
    SlowOpen "XV012" Warning "slow to open"
        "xarray reads every document without consolidated metadata, and all chunks of the coordinates of dimensions. Consolidate, and write such coordinates in one chunk.";
    ConventionsName "XV013" Error "conventions not named"
        "The attribute Conventions of the root names the conventions and their versions, as in CF-1.12 or NZ-1.0.";
    OddName "XV014" Warning "name that programs cannot use"
        "The attribute coordinates separates names by blanks, so no variable can name one with a blank as its coordinate. CF recommends letters, digits and underscores, and no two names that differ only in case.";
    CoordinateUnits "XV015" Error "coordinate without units or direction"
        "Latitude, longitude, height and time have units (CF 4.1 to 4.4), and a height without units of pressure says in positive whether it goes up or down.";
    PackedType "XV016" Error "data type that is not packed"
        "CF 8.1 packs into integers of 8 to 32 bits. Other programs may ignore the factors.";
    GeozarrForm "XV017" Error "registered convention in another form"
        "An entry of zarr_conventions has a uuid, a schema_url or a spec_url, perhaps name and description, and no other members. The first of the three identifies the convention. Attributes of a convention are declared there, and have its form.";
    GridMapping "XV018" Warning "grid mapping that says little"
        "A grid mapping has grid_mapping_name or crs_wkt, and agrees with proj:wkt2 of the group.";
    Unaligned "XV019" Error "group that does not fit its parents"
        "A dimension has the length and the labels of the same dimension in groups above. xarray does not open the tree.";

    HiddenAttribute "XV020" Warning "attribute that programs do not see alike"
        "Attributes that begin with _nc are internal to netCDF-C and are hidden. xarray shows them for arrays of format 3. A bare NaN is not JSON, and many programs refuse it.";
    TwoPackings "XV021" Warning "packed twice"
        "A codec packs the elements, and the attributes say so once more. Both are undone when reading: first the codec.";
    UnitsSpelling "XV022" Warning "time units in an unusual spelling"
        "The units are understood, but CF spells them differently: years have four digits, and a unit is one of days to microseconds. xarray refuses some of these spellings.";
    SeveralMissing "XV023" Warning "several missing values"
        "_FillValue and missing_value name more than one value. All of them mark missing elements.";
    NanForIntegers "XV024" Warning "NaN as the missing value of integers"
        "No integer is NaN, so no element is missing.";
    MissingValueType "XV025" Warning "missing value of another type"
        "The missing value is a text or another value that is not an element of the data type. It is ignored. A _FillValue of another type keeps xarray from opening the dataset.";
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
    OmeVersion "XV032" Error "version of OME-Zarr"
        "OME-Zarr 0.5 and 0.6 have their version in the attribute ome of format 3; 0.4 should have version 0.4 in its members, in format 2. All groups have the same.";
    OmeAxes "XV033" Error "axes of an image"
        "An image has two to five axes with different names: perhaps time, perhaps a channel or another type, then two or three of space.";
    OmeDatasets "XV034" Error "datasets of an image"
        "Each dataset names an array with the axes of the image, from the largest to the smallest. In 0.5 the dimension names are those of the axes.";
    OmeTransformations "XV035" Error "transformations of a dataset"
        "coordinateTransformations is one scale, perhaps with a translation behind it, with a number for each axis. In 0.6 it is one scale, identity, or sequence of scale and translation, from the path of the dataset into the same coordinate system for all datasets; transformations of the image link this system to others.";
    OmeOmero "XV036" Error "channels of an image"
        "omero lists the channels, each with a color of six hexadecimal digits and a window of min, max, start and end.";
    OmeLabels "XV037" Error "labels of an image"
        "The group labels lists its images, which have integers and as many resolutions as their image. Colors and properties are not empty; each has a label-value, and a color four numbers from 0 to 255.";
    OmePlate "XV038" Error "plate"
        "A plate names rows, columns and wells. The path of a well is its row and its column, and is a group with the member well.";
    OmeWell "XV039" Error "well"
        "A well lists its images by paths of letters and digits, in 0.6 also of hyphens, underscores and periods. If the plate has several acquisitions, each image names one.";
    MultiscalesLayout "XV040" Error "layout of levels"
        "The convention multiscales of GeoZarr lists levels in layout: each has an asset, the path of an array or a group below, and with derived_from also a transform, whose lists have a number for each dimension.";
    OmeSystems "XV041" Error "coordinate systems of an image"
        "In OME-Zarr 0.6 an image has coordinate systems with different names, and each has the axes of an image.";
    OmeScene "XV042" Error "scene"
        "A scene of OME-Zarr 0.6 has transformations between named coordinate systems, its own or those of images below it, which they link to each other.";

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
#[non_exhaustive]
pub struct Finding {
    /// The code of the finding.
    pub code: FindingCode,
    /// The problem and how it is read: lower case, one line, no full stop.
    pub message: String,
}

impl Finding {
    pub(crate) fn new(code: FindingCode, message: impl Into<String>) -> Self {
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
        assert!(FindingCode::ALL.is_sorted_by(|a, b| a.id() < b.id()));
    }
}
