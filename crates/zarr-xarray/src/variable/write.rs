//! Encodes elements as a variable stores them, and writes them.

use zarr_array::NdVec;
use zarr_array::traits::strided::bytes_of;

use super::Variable;
use crate::conventions::Decoding;
use crate::decoded::Decoded;
use crate::element_kind::ElementKind;
use crate::encode::{Elements, bytes_of_numbers, check_apart, present};
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::fill_value::Missing;
use crate::kernel::{Packing, TimeCoding, encode_booleans};
use crate::number::NumberType;
use crate::times::Times;
use crate::times::scale::Axis;
use crate::units::{TimeUnit, TimeUnits};

impl Variable {
    /// Encodes elements for the part of the array that the view shows.
    pub(crate) fn prepared(&self, values: Decoded) -> XarrayResult<Elements> {
        if self.shared.is_index(&self.name) {
            return Err(XarrayError::invalid("it is an index, and an index is not written in parts"));
        }
        if values.shape() != self.seen.shape {
            let (found, wanted) = (values.shape(), &self.seen.shape);
            return Err(XarrayError::invalid(format!(
                "the elements have shape {found:?}, expected {wanted:?}"
            )));
        }
        self.reader()?;
        self.encoded(values)
    }

    /// Writes encoded elements to the part of the array that the view shows.
    pub(crate) async fn write_prepared(&self, elements: Elements) -> XarrayResult<()> {
        elements.write(self.reader()?.array, self.seen.selection.clone()).await
    }

    /// Encodes elements of any shape as the variable stores them.
    pub(crate) fn encode_part(&self, values: Decoded) -> XarrayResult<Elements> {
        let mut part = self.clone();
        part.seen.shape = values.shape().to_vec();
        part.encoded(values)
    }

    fn encoded(&self, values: Decoded) -> XarrayResult<Elements> {
        match (&self.plan.decoding, &values) {
            (Decoding::Numbers(packing), Decoded::Numbers(numbers)) => {
                let (given, bytes) = bytes_of_numbers(numbers)?;
                self.packed(packing, given, &bytes)
            }
            (Decoding::Stored, Decoded::Numbers(numbers)) => {
                let (given, bytes) = bytes_of_numbers(numbers)?;
                match self.kind() {
                    ElementKind::Number(stored) if stored == given => Ok(Elements::Bytes(bytes.into_owned())),
                    _ => Err(self.another_type(given.name())),
                }
            }
            (Decoding::Stored, Decoded::Booleans(truths)) if self.kind() == ElementKind::Boolean => {
                Ok(Elements::Bytes(present(truths, "booleans")?.into_iter().map(u8::from).collect()))
            }
            (Decoding::Stored, Decoded::Texts(texts)) if self.kind() == ElementKind::Text => {
                let shape = texts.shape().to_vec();
                Ok(Elements::Texts(NdVec::new(shape, present(texts, "texts")?)?))
            }
            (Decoding::Times { packing, units, unit }, Decoded::Times { times, .. }) => {
                times_of(packing, units, *unit, times)
            }
            (Decoding::Spans { packing, stored, unit: wanted }, Decoded::Spans { spans, .. }) => {
                let unit = spans.unit().max(TimeUnit::dividing(stored.nanoseconds().into()));
                let counts = Times::new(crate::Calendar::Standard, spans.unit(), spans.values().to_vec());
                let coding = TimeCoding::spans(packing.clone(), *stored, *wanted, unit)?;
                counted(&coding, &counts, unit)
            }
            (Decoding::Booleans(packing), Decoded::Booleans(truths)) if !packing.is_scaled() => {
                let truths: Vec<u8> = present(truths, "booleans")?.into_iter().map(u8::from).collect();
                let mut encoded = self.memory::<u8>(packing.stored.size())?;
                encode_booleans(packing.stored, &truths, &mut encoded)?;
                Ok(Elements::Bytes(encoded))
            }
            (Decoding::Nullable(missing), Decoded::Texts(texts)) if self.kind() == ElementKind::Text => {
                let first = missing.iter().find_map(|one| match one {
                    Missing::Text(text) => Some(text),
                    _ => None,
                });
                let texts = texts.clone();
                let (shape, texts) = texts.into_parts();
                let texts = texts.into_iter().map(|text| text.or_else(|| first.cloned()));
                let texts = present(&NdVec::new(shape.clone(), texts.collect())?, "texts")?;
                Ok(Elements::Texts(NdVec::new(shape, texts)?))
            }
            (Decoding::Texts { .. } | Decoding::Nullable(_), _)
            | (Decoding::Booleans(_), Decoded::Booleans(_)) => Err(XarrayError::new(
                XarrayErrorKind::Unsupported,
                "elements of this encoding are not written: characters, byte strings with a missing value, and \
                     packed booleans",
            )),
            _ => Err(self.another_type("that of the given elements")),
        }
    }

    /// Packs numbers of the decoded type, or floats of another width if they become other numbers anyhow.
    fn packed(&self, packing: &Packing, given: NumberType, bytes: &[u8]) -> XarrayResult<Elements> {
        let is_packed = packing.is_scaled() || packing.stored.is_integer();
        if given != packing.decoded && !(is_packed && given.is_float()) {
            return Err(self.another_type(given.name()));
        }
        let stored = packing.stored;
        let mut encoded = self.memory::<u8>(stored.size())?;
        packing.encode(given, bytes, &mut encoded)?;
        for missing in packing.missing.iter().filter(|_| packing.is_scaled()) {
            check_apart(stored, *missing, &encoded, given, bytes)?;
        }
        Ok(Elements::Bytes(encoded))
    }
}

fn times_of(packing: &Packing, units: &TimeUnits, wanted: TimeUnit, times: &Times) -> XarrayResult<Elements> {
    let are_both_civil = times.calendar().is_civil() && units.calendar().is_civil();
    let times = match are_both_civil {
        true => &times.in_calendar(units.calendar())?,
        false => times,
    };
    if times.calendar() != units.calendar() {
        let (given, stored) = (times.calendar().name(), units.calendar().name());
        return Err(XarrayError::invalid(format!(
            "the times have the calendar {given}, the variable {stored}"
        )));
    }
    let unit = times.unit().max(Axis::times(units).resolution());
    counted(&TimeCoding::times(packing.clone(), units, wanted, unit)?, times, unit)
}

/// Encodes counts in `unit`, which is not coarser than that of the times.
fn counted(coding: &TimeCoding, times: &Times, unit: TimeUnit) -> XarrayResult<Elements> {
    let too_far = || XarrayError::out_of_range(format!("a time is out of the range of {}", unit.name()));
    let times = times.in_unit(unit).ok_or_else(too_far)?;
    let mut encoded = vec![0; times.len() * coding.stored().size()];
    coding.encode(bytes_of(times.values()), &mut encoded)?;
    if coding.stored().is_integer() {
        coding.check_exact(&encoded, times.values())?;
    }
    Ok(Elements::Bytes(encoded))
}
