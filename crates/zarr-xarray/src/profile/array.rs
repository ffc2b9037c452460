//! The checks of one array: names of dimensions, missing values, packing, time units.

use zarr_meta::json::{Value, ValueKind};
use zarr_meta::{DataType, Format, Ignore, fill};

use super::{Array, Cf, Group, LABELLED, Nz, Report, Xarray};
use crate::attribute::{alone, number};
use crate::calendar::Calendar;
use crate::conventions::DecodeOptions;
use crate::element_kind::ElementKind;
use crate::fill_value::{Missing, read_fill_value};
use crate::finding::FindingCode;
use crate::number::{NumberType, Scalar, twin};
use crate::plan::DatasetPlan;
use crate::units::TimeUnits;

/// The year from which on the calendars `standard` and `proleptic_gregorian` agree.
const REFORM: i64 = 1582;

pub(super) fn check(group: &Group<'_>, array: &Array<'_>, report: &mut Report<'_>) {
    names(array, report);
    missing_values(array, report);
    packing(array, report);
    times(array, report);
    xarray(group, array, report);
    let bare: Vec<_> = array.attributes.members().filter(|member| is_bare(&member.value())).collect();
    for member in bare {
        let message = format!("attribute {:?} is {}", member.name_lossy(), member.value());
        report.warning(LABELLED, &array.path, FindingCode::HiddenAttribute, message);
    }
}

fn is_bare(value: &Value) -> bool {
    let mut elements = value.elements().into_iter().flatten();
    value.kind() == ValueKind::NonFinite || elements.any(|element| element.kind() == ValueKind::NonFinite)
}

/// Names of dimensions and of the array.
fn names(array: &Array<'_>, report: &mut Report<'_>) {
    let path = &array.path;
    match &array.dimensions {
        Err(error) => report.error(LABELLED, path, FindingCode::UnnamedDimension, format!("{error:#}")),
        Ok(own) if own.names.iter().any(String::is_empty) => {
            report.error(LABELLED, path, FindingCode::UnnamedDimension, "the name of a dimension is empty");
        }
        Ok(own) => {
            let repeated = own.names.iter().enumerate().find(|(at, name)| own.names[..*at].contains(name));
            if let Some((_, name)) = repeated {
                let message = format!("two dimensions are named {name:?}");
                report.warning(LABELLED, path, FindingCode::RepeatedDimension, message);
            }
        }
    }
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let is_plain = array.name.starts_with(is_letter)
        && array.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if array.name.contains(char::is_whitespace) {
        report.warning(&[Cf, Nz, Xarray], path, FindingCode::OddName, "the name has a blank");
    } else if !is_plain {
        report.warning(
            &[Cf, Nz],
            path,
            FindingCode::OddName,
            "the name is not letters, digits and underscores",
        );
    }
}

/// `_FillValue`, `missing_value`, and the fill value of format 2.
fn missing_values(array: &Array<'_>, report: &mut Report<'_>) {
    let (path, mut found) = (&array.path, Vec::new());
    let own = array.attributes.get("_FillValue");
    if let Some(value) = own.as_ref().filter(|_| array.is_v3()) {
        match read_fill_value(array.kind, value, &mut found) {
            Err(error) => {
                report.error(&[Cf, Xarray], path, FindingCode::MissingValueForm, format!("{error:#}"))
            }
            Ok(Some(Missing::Number(scalar))) if !has(array.kind, scalar) => {
                let message = format!("_FillValue {value} is no value of {}", type_name(array));
                let twin = if let ElementKind::Number(of) = array.kind { twin(of) } else { None };
                let is_twin = twin.is_some_and(|twin| has(ElementKind::Number(twin), scalar));
                match array.attributes.contains("_Unsigned") && is_twin {
                    // xarray converts it, and fails.
                    true => report.error(&[Cf, Xarray], path, FindingCode::MissingValueForm, message),
                    false => no_value(path, message, report),
                }
            }
            Ok(_) => {}
        }
        if !found.is_empty() {
            let message = format!("_FillValue is {value}");
            report.error(&[Xarray], path, FindingCode::FillValueSpelling, message);
        }
        let is_float = matches!(array.kind, ElementKind::Number(of) if of.is_float());
        if is_float && value.kind() == ValueKind::String {
            let message = format!("_FillValue is the text {value}, and NZ has a number");
            report.warning(&[Nz], path, FindingCode::FillValueSpelling, message);
        }
    }
    if let Some(value) = array.attributes.get("missing_value") {
        let list: Vec<Value> = value.elements().map_or_else(|| vec![value.clone()], Iterator::collect);
        let is_value = |value: &Value| match (array.kind, number(value)) {
            (ElementKind::Number(_), Some(scalar)) => scalar.is_nan() || has(array.kind, scalar),
            (ElementKind::Number(_), None) => false,
            _ => true,
        };
        if let Some(wrong) = list.iter().find(|value| !is_value(value)) {
            let message = format!("missing_value {wrong} is no value of {}", type_name(array));
            no_value(path, message, report);
        }
    }
    if is_zero_missing(array) {
        let message = "the fill value of the array is 0, so xarray takes zeros for missing";
        report.warning(&[Cf, Xarray], path, FindingCode::ZeroIsMissing, message);
    }
}

/// Adds a missing value that is no element: an error of CF, while xarray opens the array and masks nothing.
fn no_value(path: &str, message: String, report: &mut Report<'_>) {
    match report.profiles.contains(&Cf) {
        true => report.error(&[Cf], path, FindingCode::MissingValueForm, message),
        false => report.warning(&[Xarray], path, FindingCode::MissingValueForm, message),
    }
}

/// Whether an element type has a number.
fn has(kind: ElementKind, scalar: Scalar) -> bool {
    match kind {
        ElementKind::Number(of) => scalar.element(of).is_some(),
        _ => true,
    }
}

fn type_name(array: &Array<'_>) -> String {
    array.meta.document().data_type().to_string()
}

/// Whether the fill value of an array of format 2 makes zeros missing.
fn is_zero_missing(array: &Array<'_>) -> bool {
    let ElementKind::Number(of) = array.kind else { return false };
    let value = array.meta.document().fill_value();
    let is_mask = array.meta.format() != Format::V3 && !array.meta.fill_is_undefined();
    let read = |of: &DataType| fill::read(of, value, &mut Ignore).ok();
    let is_zero = |of: NumberType| {
        read(&of.into()).and_then(|fill| Scalar::load(of, fill.bytes())).and_then(Scalar::to_integer)
            == Some(0)
    };
    is_mask && !array.names().is_empty() && is_zero(of)
}

/// `scale_factor` and `add_offset`.
fn packing(array: &Array<'_>, report: &mut Report<'_>) {
    let (path, of) = (&array.path, &[Cf, Xarray]);
    let factors = ["scale_factor", "add_offset"].map(|name| (name, array.attributes.get(name)));
    if factors.iter().all(|(_, value)| value.is_none()) {
        return;
    }
    for (name, value) in &factors {
        let Some(value) = value else { continue };
        let found = number(&alone(value.clone())).and_then(Scalar::to_f64);
        if !found.is_some_and(f64::is_finite) {
            report.error(
                of,
                path,
                FindingCode::FactorForm,
                format!("{name} is {value}, not a finite number"),
            );
        } else if value.elements().is_some() {
            report.warning(of, path, FindingCode::FactorForm, format!("{name} is the list {value}"));
        }
    }
    let [(_, scale), (_, offset)] = &factors;
    let is_integer = |value: &Value| matches!(number(value), Some(Scalar::Integer(_)));
    if offset.is_none() && scale.as_ref().is_some_and(is_integer) {
        report.warning(
            of,
            path,
            FindingCode::FactorForm,
            "scale_factor is a JSON integer: write a fraction, as in 2.0",
        );
    }
    let may_pack = match array.kind {
        ElementKind::Number(of) => of.is_integer() && of.size() <= 4,
        _ => false,
    };
    if !may_pack {
        let message = format!("{} is packed; CF packs integers of up to 32 bits", type_name(array));
        report.error(&[Cf], path, FindingCode::PackedType, message);
    }
    let document = array.meta.document();
    let codecs = ["scale_offset", "fixedscaleoffset", "numcodecs.fixedscaleoffset"];
    if let Some(codec) = document.codecs().iter().find(|codec| codecs.contains(&codec.name())) {
        let message = format!("the codec {:?} and the attributes both pack the elements", codec.name());
        report.warning(&[Cf, Nz], path, FindingCode::TwoPackings, message);
    }
}

/// `units` and `calendar` of time axes.
fn times(array: &Array<'_>, report: &mut Report<'_>) {
    let (path, of) = (&array.path, &[Cf, Xarray]);
    let Some(units) = array.text("units").filter(|units| TimeUnits::are_meant_by(units)) else { return };
    let named = array.text("calendar");
    let calendar = named.as_deref().map_or(Some(Calendar::Standard), Calendar::from_name);
    let Some(calendar) = calendar else {
        let message = format!("calendar {:?} is unknown", named.unwrap_or_default());
        return report.error(of, path, FindingCode::CalendarForm, message);
    };
    let mut found = Vec::new();
    match TimeUnits::parse(&units, calendar, &mut found) {
        Err(error) => report.error(of, path, FindingCode::TimeUnitsForm, format!("{error:#}")),
        Ok(parsed) if named.is_none() && parsed.reference().date.year < REFORM => {
            let message = format!("{units:?} begins before {REFORM}, and no calendar is named");
            report.warning(of, path, FindingCode::CalendarForm, message);
        }
        Ok(_) => {}
    }
    for finding in found {
        report.warning(of, path, FindingCode::TimeUnitsForm, finding.message);
    }
}

/// Checks for values that xarray reads differently, and for attributes that make the variable unreadable. Other checks
/// have named what they cover.
fn xarray(group: &Group<'_>, array: &Array<'_>, report: &mut Report<'_>) {
    let above = group.attributes.clone();
    let Ok(plan) = DatasetPlan::new(above, [(array.name, array.meta)], &DecodeOptions::default()) else {
        return;
    };
    for (_, finding) in plan.findings {
        let (code, of): (_, &[_]) = match finding.code {
            FindingCode::BrokenVariable => {
                let is_named = report.found.iter().any(|known| known.path == array.path);
                if !is_named {
                    report.error(&[Xarray, Cf], &array.path, finding.code, finding.message);
                }
                continue;
            }
            // xarray does not open the dataset.
            FindingCode::CoordinatesList | FindingCode::NetcdfNames => {
                report.error(&[Xarray], &array.path, finding.code, finding.message);
                continue;
            }
            FindingCode::SeveralMissing
            | FindingCode::DecimalMissing
            | FindingCode::LargeMissing
            | FindingCode::NanForIntegers
            | FindingCode::UnsignedMissing => (FindingCode::MissingValueForm, &[Cf, Xarray]),
            FindingCode::HiddenAttribute => (FindingCode::HiddenAttribute, LABELLED),
            FindingCode::UnsignedIgnored
            | FindingCode::SpanResolution
            | FindingCode::MissingTimes
            | FindingCode::EmptyTimes => (finding.code, &[Xarray]),
            // The other checks of this file report these.
            _ => continue,
        };
        report.warning(of, &array.path, code, finding.message);
    }
}
