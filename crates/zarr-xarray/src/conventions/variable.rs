//! The plan of one variable: how its elements are decoded, and which of its attributes the user sees.

use zarr_meta::json::Object;

use super::Work;
use super::masking::distinct;
use super::options::DecodeOptions;
use super::time::Meaning;
use crate::element_kind::ElementKind;
use crate::error::{XarrayError, XarrayResult};
use crate::fill_value::Missing;
use crate::finding::Finding;
use crate::kernel::Packing;
use crate::number::NumberType;
use crate::text::Charset;
use crate::units::{TimeUnit, TimeUnits, Unit};

/// How a variable is decoded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VariablePlan {
    /// The names of the dimensions.
    pub dimensions: Vec<String>,
    /// The length of each dimension.
    pub shape: Vec<u64>,
    /// The attributes that the user sees.
    pub attributes: Object,
    /// The attributes that decoding has used, as they are stored.
    pub encoding: Object,
    /// How the elements are decoded.
    pub decoding: Decoding,
}

/// How the elements of a variable are decoded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Decoding {
    /// Elements stay as they are stored.
    Stored,
    /// Numbers are unpacked, and missing ones become NaN.
    Numbers(Packing),
    /// Numbers become booleans.
    Booleans(Packing),
    /// Elements other than numbers, with these missing values.
    Nullable(Vec<Missing>),
    /// Bytes become texts, or single bytes become byte strings.
    Texts {
        /// The character set; `None` for bytes that stay bytes.
        charset: Option<Charset>,
        /// If single bytes along the last dimension are joined, the number of bytes of a joined element.
        joined: Option<u64>,
        /// The missing elements.
        missing: Vec<Missing>,
    },
    /// Numbers become times.
    Times {
        /// How the numbers are packed.
        packing: Packing,
        /// The units of the stored numbers.
        units: TimeUnits,
        /// The unit of the result, unless [`decode_times`](crate::decode_times) needs a finer one.
        unit: TimeUnit,
    },
    /// Numbers become spans of time.
    Spans {
        /// How the numbers are packed.
        packing: Packing,
        /// The unit of the stored numbers.
        stored: Unit,
        /// The unit of the result, unless [`decode_spans`](crate::decode_spans) needs a finer one.
        unit: TimeUnit,
    },
}

/// A variable before it is decoded.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) kind: ElementKind,
    pub(crate) dimensions: Vec<String>,
    pub(crate) shape: Vec<u64>,
    /// The visible attributes, with `_FillValue` in the form of the format.
    pub(crate) attributes: Object,
    /// The missing value that `_FillValue` names.
    pub(crate) fill: Option<Missing>,
    /// Whether bytes along the last dimension may be joined, because no other variable needs that dimension.
    pub(crate) may_join: bool,
}

/// Plans the decoding of a variable.
///
/// # Errors
/// When an attribute makes its elements unreadable.
pub(crate) fn decode_variable(
    stored: Stored,
    options: &DecodeOptions,
    findings: &mut Vec<Finding>,
) -> XarrayResult<VariablePlan> {
    let Stored { kind, mut dimensions, mut shape, attributes, fill, may_join } = stored;
    let mut work = Work { attributes, encoding: Object::new(), findings };
    let fill = fill.filter(|_| options.mask_and_scale);
    if options.mask_and_scale {
        work.take("_FillValue");
    }
    let decoding = match kind {
        ElementKind::Number(of) => work.numbers(of, fill, shape.contains(&0), options)?,
        ElementKind::Boolean | ElementKind::Text => work.nullable(kind, fill, options)?,
        ElementKind::Bytes { length } => {
            let is_joined = options.texts && may_join && length == Some(1);
            let joined = if is_joined { shape.pop().zip(dimensions.pop()) } else { None };
            if let Some((_, dimension)) = &joined {
                work.encoding.set("char_dim_name", dimension);
            }
            work.texts(joined.map(|(length, _)| length), fill, options)?
        }
        ElementKind::NumpyTime | ElementKind::Other => Decoding::Stored,
    };
    Ok(VariablePlan { dimensions, shape, attributes: work.attributes, encoding: work.encoding, decoding })
}

impl Work<'_> {
    fn numbers(
        &mut self,
        of: NumberType,
        fill: Option<Missing>,
        is_empty: bool,
        options: &DecodeOptions,
    ) -> XarrayResult<Decoding> {
        let packing = if options.mask_and_scale { self.packing(of, fill)? } else { Packing::plain(of) };
        let is_real = of.is_integer() || of.is_float();
        let meaning = if is_real { self.meaning(options)? } else { Meaning::Numbers };
        Ok(match meaning {
            Meaning::Times(units, unit) => {
                self.report_model_calendar(units.calendar(), &packing, is_empty);
                Decoding::Times { packing, units, unit }
            }
            Meaning::Spans(stored, unit) => Decoding::Spans { packing, stored, unit },
            Meaning::Numbers if is_real && self.text("dtype").as_deref() == Some("bool") => {
                self.take("dtype");
                Decoding::Booleans(packing)
            }
            Meaning::Numbers if packing.is_plain() && packing.stored == of => Decoding::Stored,
            Meaning::Numbers => Decoding::Numbers(packing),
        })
    }

    fn nullable(
        &mut self,
        kind: ElementKind,
        fill: Option<Missing>,
        options: &DecodeOptions,
    ) -> XarrayResult<Decoding> {
        if !options.mask_and_scale {
            return Ok(Decoding::Stored);
        }
        let missing = self.missing_values(fill, |value| match kind {
            ElementKind::Boolean => value.as_bool().map(Missing::Boolean),
            _ => value.to_text().ok().map(|text| Missing::Text(text.into_owned())),
        });
        let missing = distinct(missing.into_iter().filter(|missing| !missing.is_nan()))?;
        Ok(if missing.is_empty() { Decoding::Stored } else { Decoding::Nullable(missing) })
    }

    fn texts(
        &mut self,
        joined: Option<u64>,
        fill: Option<Missing>,
        options: &DecodeOptions,
    ) -> XarrayResult<Decoding> {
        let missing = match options.mask_and_scale {
            true => self.missing_values(fill, |value| {
                Some(Missing::Bytes(value.to_text().ok()?.as_bytes().to_vec()))
            }),
            false => Vec::new(),
        };
        let missing = distinct(missing)?;
        let name = if options.texts { self.take("_Encoding") } else { None };
        let charset = name.map(|name| {
            let known = name.to_text().ok().and_then(|name| Charset::from_name(&name));
            known.ok_or_else(|| {
                XarrayError::invalid(format!("_Encoding is {name}, which is not a known character set"))
            })
        });
        let charset = charset.transpose()?;
        Ok(match (charset, joined) {
            (None, None) if missing.is_empty() => Decoding::Stored,
            (None, None) => Decoding::Nullable(missing),
            _ => Decoding::Texts { charset, joined, missing },
        })
    }
}
