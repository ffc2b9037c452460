//! Missing values and packing of numbers: `_FillValue`, `missing_value`, `_Unsigned`, `scale_factor`, `add_offset`.

use zarr_meta::json::{Value, ValueKind};

use super::Work;
use crate::attribute::{alone, number};
use crate::error::{XarrayError, XarrayResult};
use crate::fill_value::Missing;
use crate::finding::FindingCode;
use crate::kernel::Packing;
use crate::number::{NumberType, Scalar, twin, with_missing};

/// The limit on missing values, because every element is compared with each of them.
const MOST_MISSING: usize = 64;

/// Integers beyond this limit are not all exact in float64.
const LARGE: i128 = 1 << 53;

impl Work<'_> {
    /// Returns how numbers of a type are packed. `fill` is the missing value from `_FillValue` or the array's fill
    /// value.
    pub(super) fn packing(&mut self, of: NumberType, fill: Option<Missing>) -> XarrayResult<Packing> {
        let stored = self.unsigned(of);
        let missing = self.missing_values(fill, scalar);
        let (scale, offset) = self.factors()?;
        let is_scaled = scale.is_some() || offset.is_some();
        if is_scaled && !(of.is_integer() || of.is_float()) {
            return Err(XarrayError::invalid(format!(
                "scale_factor and add_offset do not apply to data type {}",
                of.name()
            )));
        }
        let has_nan = missing.iter().any(Missing::is_nan);
        let scalars: Vec<Scalar> =
            missing.iter().filter_map(real).filter(|scalar| !scalar.is_nan()).collect();
        if has_nan && of.is_integer() {
            self.found(
                FindingCode::NanForIntegers,
                "the missing value is NaN, but the elements are integers",
            );
        }
        self.report(of, stored, &scalars);
        let decoded = match scalars.is_empty() {
            // NaN alone masks nothing and does not change floats.
            true if !is_scaled || has_nan && of.is_float() => stored,
            false if !is_scaled => with_missing(stored),
            _ => NumberType::Float64,
        };
        let missing = distinct(scalars.iter().filter_map(|scalar| element(of, stored, *scalar)))?;
        if missing.len() > 1 {
            self.found(FindingCode::SeveralMissing, format!("{} values are missing", missing.len()));
        }
        Ok(Packing { stored, missing, scale, offset, decoded })
    }

    /// The type of the elements after `_Unsigned`.
    fn unsigned(&mut self, of: NumberType) -> NumberType {
        let Some(value) = self.take("_Unsigned") else { return of };
        let wanted = value.as_bool().or_else(|| match &*value.to_text().ok()? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        });
        match (wanted, twin(of)) {
            (Some(_), None) => self
                .found(FindingCode::UnsignedIgnored, "_Unsigned is set, but the elements are not integers"),
            (None, _) => self.found(FindingCode::UnsignedIgnored, format!("_Unsigned is {value}")),
            (Some(unsigned), Some(twin)) if unsigned != of.is_unsigned() => {
                if value.kind() == ValueKind::Bool || self.attributes.contains("missing_value") {
                    self.found(FindingCode::UnsignedMissing, format!("_Unsigned is {value}"));
                }
                return twin;
            }
            _ => {}
        }
        of
    }

    /// Returns `fill` and the values of `missing_value`, which is one value or a list.
    pub(super) fn missing_values(
        &mut self,
        fill: Option<Missing>,
        read: impl Fn(&Value) -> Option<Missing>,
    ) -> Vec<Missing> {
        let value = self.take("missing_value").filter(|value| !value.is_null());
        let mut missing: Vec<Missing> = fill.into_iter().collect();
        if value.as_ref().and_then(Value::elements).is_some_and(|mut elements| elements.next().is_none()) {
            self.found(FindingCode::MissingValueType, "missing_value is an empty list");
        }
        let elements = value.map_or_else(Vec::new, |value| match value.elements() {
            Some(elements) => elements.collect(),
            None => vec![value],
        });
        for value in elements {
            match read(&value) {
                Some(element) => missing.push(element),
                None => self
                    .found(FindingCode::MissingValueType, format!("missing_value is {value}: it is ignored")),
            }
        }
        missing
    }

    /// `scale_factor` and `add_offset`.
    fn factors(&mut self) -> XarrayResult<(Option<f64>, Option<f64>)> {
        let scale = self.factor("scale_factor")?;
        let offset = self.factor("add_offset")?;
        if let (Some(Scalar::Integer(integer)), None) = (scale, offset) {
            self.found(FindingCode::IntegerFactor, format!("scale_factor is {integer}"));
        }
        Ok((scale.and_then(Scalar::to_f64), offset.and_then(Scalar::to_f64)))
    }

    fn factor(&mut self, name: &str) -> XarrayResult<Option<Scalar>> {
        let Some(value) = self.take(name).map(alone) else { return Ok(None) };
        let in_text = || value.to_text().ok()?.trim().parse().ok().map(Scalar::Float);
        let finite = |factor: &Scalar| factor.to_f64().is_some_and(f64::is_finite);
        let factor = number(&value).or_else(in_text).filter(finite);
        if factor.is_none() && !value.is_null() {
            return Err(XarrayError::invalid(format!("{name} is {value}, expected a finite number")));
        }
        if value.is_null() || value.kind() == ValueKind::String {
            self.found(FindingCode::FactorSpelling, format!("{name} is {value}"));
        }
        Ok(factor)
    }

    /// Reports missing values that xarray compares differently.
    fn report(&mut self, of: NumberType, stored: NumberType, scalars: &[Scalar]) {
        for scalar in scalars {
            let is_rounded = of.is_float() && scalar.element(of).and_then(Scalar::to_f64) != scalar.to_f64();
            let is_large = of.size() == 8 && scalar.to_integer().is_some_and(|integer| integer.abs() > LARGE);
            if is_rounded {
                self.found(FindingCode::DecimalMissing, format!("{scalar} is rounded to {}", of.name()));
            } else if is_large && of.is_integer() {
                self.found(FindingCode::LargeMissing, format!("{scalar} is missing"));
            } else if of != stored && scalar.element(of).is_none() && scalar.element(stored).is_some() {
                let message = format!("{scalar} is missing, a number of {}", stored.name());
                self.found(FindingCode::UnsignedMissing, message);
            }
        }
    }
}

/// Returns the stored element for a missing value, after `_Unsigned` is applied. The value may be signed or unsigned.
fn element(of: NumberType, stored: NumberType, scalar: Scalar) -> Option<Scalar> {
    let wrapped = || (of != stored).then(|| scalar.wrapped(stored))?;
    scalar.element(stored).or_else(wrapped)
}

/// Returns the missing values in order, without repetitions.
///
/// # Errors
/// When there are more than [`MOST_MISSING`].
pub(super) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> XarrayResult<Vec<T>> {
    let mut distinct = Vec::new();
    for value in values {
        if distinct.contains(&value) {
            continue;
        }
        if distinct.len() == MOST_MISSING {
            return Err(XarrayError::invalid(format!("more than {MOST_MISSING} missing values are named")));
        }
        distinct.push(value);
    }
    Ok(distinct)
}

/// Returns a missing value as a number.
fn real(missing: &Missing) -> Option<Scalar> {
    match missing {
        Missing::Number(scalar) => Some(*scalar),
        Missing::Boolean(truth) => Some(Scalar::Integer((*truth).into())),
        Missing::Text(_) | Missing::Bytes(_) => None,
    }
}

fn scalar(value: &Value) -> Option<Missing> {
    let truth = value.as_bool().map(Missing::Boolean);
    truth.or_else(|| number(value).map(Missing::Number))
}
