//! Compares the encoding that is given with new elements to the stored one.

use std::fmt::{Debug, Display};

use zarr_array::Limits;
use zarr_meta::{ArrayBuilder, ArrayMeta};

use super::Variable;
use crate::attribute::{alone, number};
use crate::calendar::Calendar;
use crate::conventions::Decoding;
use crate::error::{XarrayError, XarrayResult};
use crate::kernel::Packing;
use crate::new_variable::{Encoding, MissingValue};
use crate::number::Scalar;
use crate::units::{TimeUnits, Unit};

/// What messages show where nothing is stored or given.
const NONE: &str = "none";

impl Variable {
    /// Checks that elements with this encoding are stored as the others are. Everything that it does not set is as
    /// stored.
    ///
    /// # Errors
    /// `Invalid` names the first setting that differs.
    pub(crate) fn check_encoding(&self, given: &Encoding) -> XarrayResult<()> {
        if *given == Encoding::default() {
            return Ok(());
        }
        self.check_packing(given)?;
        self.check_times(given)?;
        if let Some(names) = &given.coordinates {
            let stored = self.stored.meta.attributes().get("coordinates");
            let stored =
                stored.and_then(|names| Some(names.to_text().ok()?.into_owned())).unwrap_or_default();
            let is_same = stored.split_whitespace().eq(names);
            same("coordinates", names.join(" "), Some(stored), is_same)?;
        }
        let are_bytes = matches!(self.plan.decoding, Decoding::Texts { charset: Some(_), .. });
        if given.texts_as_bytes {
            same("texts_as_bytes", true, Some(are_bytes), are_bytes)?;
        }
        self.check_chunks(given)
    }

    fn check_packing(&self, given: &Encoding) -> XarrayResult<()> {
        if let Some(wanted) = given.data_type {
            let stored = self.reader()?.array.data_type();
            same("data_type", wanted.name(), Some(stored.name()), wanted.name() == stored.name())?;
        }
        let packing = match &self.plan.decoding {
            Decoding::Numbers(packing) | Decoding::Booleans(packing) => Some(packing),
            Decoding::Times { packing, .. } | Decoding::Spans { packing, .. } => Some(packing),
            _ => None,
        };
        let of = |factor: fn(&Packing) -> Option<f64>| packing.and_then(factor);
        for (name, wanted, stored) in [
            ("scale", given.scale, of(|packing| packing.scale)),
            ("offset", given.offset, of(|packing| packing.offset)),
        ] {
            if let Some(wanted) = wanted {
                same(name, wanted, stored, stored == Some(wanted))?;
            }
        }
        let stored = packing.and_then(|packing| packing.missing.first().copied());
        let element = |scalar: Scalar| packing.map_or(Some(scalar), |packing| scalar.element(packing.stored));
        match given.missing {
            MissingValue::ByType => {}
            MissingValue::None => same("missing", NONE, stored, stored.is_none())?,
            // NaN stays NaN where no other element is missing.
            MissingValue::Number(wanted) if wanted.is_nan() => {
                same("missing", wanted, stored, stored.is_none())?;
            }
            MissingValue::Number(wanted) => {
                same("missing", wanted, stored, stored.is_some() && stored == element(wanted))?;
            }
        }
        let Some(wanted) = given.missing_value else { return Ok(()) };
        let stored = self.plan.encoding.get("missing_value").and_then(|value| number(&alone(value)));
        let is_same = stored.is_some_and(|stored| element(stored) == element(wanted));
        same("missing_value", wanted, stored, is_same)
    }

    fn check_times(&self, given: &Encoding) -> XarrayResult<()> {
        // Units that are too coarse for the first elements were replaced by finer ones.
        let is_refined = |wanted: Unit, stored: Unit| wanted.nanoseconds() >= stored.nanoseconds();
        let (stored, calendar) = match &self.plan.decoding {
            Decoding::Times { units, .. } => (Some(units.to_string()), Some(units.calendar())),
            Decoding::Spans { stored, .. } => (Some(stored.name().to_owned()), None),
            _ => (None, None),
        };
        if let Some(wanted) = &given.calendar {
            let stored = calendar.map(Calendar::name);
            let is_same = calendar.is_some() && Calendar::from_name(wanted) == calendar;
            same("calendar", wanted, stored, is_same)?;
        }
        let Some(wanted) = &given.units else { return Ok(()) };
        let is_same = match &self.plan.decoding {
            Decoding::Times { units, .. } => TimeUnits::parse(wanted, units.calendar(), &mut Vec::new())
                .is_ok_and(|wanted| {
                    wanted.nanoseconds() == units.nanoseconds() && is_refined(wanted.unit(), units.unit())
                }),
            Decoding::Spans { stored, .. } => {
                Unit::of_spans(wanted).is_some_and(|wanted| is_refined(wanted, *stored))
            }
            _ => false,
        };
        same("units", wanted, stored, is_same)
    }

    fn check_chunks(&self, given: &Encoding) -> XarrayResult<()> {
        let meta = &self.stored.meta;
        let like = || Ok::<_, XarrayError>(meta.to_builder(self.reader()?.array.data_type().clone()));
        if let Some(chunks) = &given.chunks {
            self.check_built("chunks", chunks, like()?.chunks(chunks.clone()))?;
        }
        if let Some(shards) = &given.shards {
            self.check_built("shards", shards, like()?.shards(shards.clone()))?;
        }
        if let Some(codecs) = &given.codecs {
            let names: Vec<&str> = codecs.iter().map(zarr_meta::v3::Extension::name).collect();
            self.check_built("codecs", &names, like()?.codecs(codecs.iter().cloned()))?;
        }
        Ok(())
    }

    /// Checks that an array like the stored one, with one setting as given, has the same chunks.
    fn check_built(&self, name: &str, given: &dyn Debug, builder: ArrayBuilder) -> XarrayResult<()> {
        let refused = |error: zarr_meta::MetaError| XarrayError::invalid(format!("{name}: {error:#}"));
        let built: ArrayMeta = builder.build().map_err(refused)?;
        let registry = self.shared.group.registry();
        match built.has_same_chunks(&self.stored.meta, registry, &Limits::default()).map_err(refused)? {
            true => Ok(()),
            false => Err(XarrayError::invalid(format!(
                "its stored encoding is kept, which has other {name} than the given {given:?}"
            ))),
        }
    }
}

/// Returns an error that names a setting if it is not the stored one.
fn same(name: &str, given: impl Display, stored: Option<impl Display>, is_same: bool) -> XarrayResult<()> {
    if is_same {
        return Ok(());
    }
    let stored = stored.map_or_else(|| NONE.to_owned(), |stored| stored.to_string());
    let message = format!("its stored encoding is kept: {name} is {stored}, and {given} is given");
    Err(XarrayError::invalid(message))
}
