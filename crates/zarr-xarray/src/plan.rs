//! Plans a group as a dataset: the role of each array, and how it is decoded. Only documents are read.

use std::collections::{BTreeMap, BTreeSet};

use zarr_meta::json::Object;
use zarr_meta::{ArrayMeta, DataType, Format, Ignore, fill};

use crate::conventions::{
    CoordinateNames, DecodeOptions, FillIsMissing, Stored, VariablePlan, decode_variable,
};
use crate::coordinates::{ByName, by_name, named_by_group, named_by_variable};
use crate::dimensions::{
    Dimensions, dimensions, lengths, numbered, report, visible_attributes, without_netcdf,
};
use crate::element_kind::ElementKind;
use crate::error::{XarrayError, XarrayResult};
use crate::fill_value::{Missing, read_fill_value};
use crate::finding::{Finding, FindingCode};
use crate::number::Scalar;
use crate::units::TimeUnits;

/// The attribute of the missing value.
const FILL_VALUE: &str = "_FillValue";

/// A dataset before any element is read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DatasetPlan {
    /// The length of each dimension.
    pub dimensions: BTreeMap<String, u64>,
    /// Each variable, or the error that makes it undecodable.
    pub variables: BTreeMap<String, XarrayResult<VariablePlan>>,
    /// The names of the variables that are coordinates.
    pub coordinates: BTreeSet<String>,
    /// The names of the coordinates that are the index of a dimension.
    pub indexes: BTreeSet<String>,
    /// The attributes of the group that the user sees.
    pub attributes: Object,
    /// The findings, each with the name of its variable.
    pub findings: Vec<(String, Finding)>,
}

impl DatasetPlan {
    /// Plans the dataset of a group with these attributes and arrays. A variable with unusable attributes is an error
    /// in `variables` and does not affect other variables.
    ///
    /// # Errors
    /// `Invalid` if a dimension has two lengths, or if a scalar has the name of a dimension.
    pub fn new<'a>(
        attributes: Object,
        arrays: impl IntoIterator<Item = (&'a str, &'a ArrayMeta)>,
        options: &DecodeOptions,
    ) -> XarrayResult<Self> {
        Self::of(attributes, arrays.into_iter().map(|(name, meta)| Array::new(name, meta)).collect(), options)
    }

    /// Plans the dataset of one array alone. Dimensions without a name of their own are named by their number.
    pub(crate) fn alone(name: &str, meta: &ArrayMeta, options: &DecodeOptions) -> XarrayResult<Self> {
        let mut array = Array::new(name, meta);
        array.dimensions = Ok(numbered(meta));
        Self::of(Object::new(), vec![array], options)
    }

    fn of(attributes: Object, mut arrays: Vec<Array<'_>>, options: &DecodeOptions) -> XarrayResult<Self> {
        if options.times.is_some() {
            inherit_units(&mut arrays);
        }
        let mut plan = Self {
            dimensions: BTreeMap::new(),
            variables: BTreeMap::new(),
            coordinates: BTreeSet::new(),
            indexes: BTreeSet::new(),
            attributes: without_netcdf(attributes),
            findings: Vec::new(),
        };
        let unjoined = unjoined(&arrays);
        for array in &arrays {
            plan.variable(array, &unjoined, options);
        }
        plan.measure()?;
        plan.name_coordinates(options.coordinates);
        Ok(plan)
    }

    /// Plans one variable.
    fn variable(&mut self, array: &Array<'_>, unjoined: &BTreeSet<&str>, options: &DecodeOptions) {
        let mut findings = Vec::new();
        let planned =
            array.plan(unjoined, options, &mut findings).map_err(|error| error.with_variable(array.name));
        if let Err(error) = &planned {
            findings.push(Finding::new(FindingCode::BrokenVariable, format!("{error:#}")));
        }
        self.found(array.name, findings);
        self.variables.insert(array.name.to_owned(), planned);
    }

    /// Finds the lengths of dimensions. Broken variables are ignored.
    fn measure(&mut self) -> XarrayResult<()> {
        let of = |variable: &VariablePlan| Dimensions {
            names: variable.dimensions.clone(),
            shape: variable.shape.clone(),
        };
        let known =
            self.variables.iter().filter_map(|(name, plan)| Some((name.as_str(), of(plan.as_ref().ok()?))));
        let known: Vec<_> = known.collect();
        self.dimensions = lengths(known.iter().map(|(name, dimensions)| (*name, dimensions)))?;
        let scalar =
            known.iter().find(|(name, own)| own.names.is_empty() && self.dimensions.contains_key(*name));
        scalar.map_or(Ok(()), |(name, _)| {
            Err(XarrayError::invalid("a scalar must not have the name of a dimension").with_variable(name))
        })
    }

    /// Finds the coordinates, by their own names and by attributes.
    fn name_coordinates(&mut self, which: CoordinateNames) {
        let names: BTreeSet<String> = self.variables.keys().cloned().collect();
        let exists = |name: &str| names.contains(name);
        let mut found = Vec::new();
        for (name, variable) in &mut self.variables {
            let own = variable.as_ref().map_or(&[][..], |variable| &variable.dimensions);
            match by_name(name, own, &self.dimensions) {
                ByName::Index => _ = self.indexes.insert(name.clone()),
                ByName::Coordinate => _ = self.coordinates.insert(name.clone()),
                ByName::No => {}
            }
            if let Ok(variable) = variable {
                let mut findings = Vec::new();
                self.coordinates.extend(named_by_variable(variable, which, exists, &mut findings));
                found.push((name.clone(), findings));
            }
        }
        if which != CoordinateNames::Off {
            self.coordinates
                .extend(named_by_group(&mut self.attributes).into_iter().filter(|name| exists(name)));
        }
        self.coordinates.extend(self.indexes.iter().cloned());
        found.into_iter().for_each(|(name, findings)| self.found(&name, findings));
    }

    fn found(&mut self, variable: &str, findings: Vec<Finding>) {
        self.findings.extend(findings.into_iter().map(|finding| (variable.to_owned(), finding)));
    }
}

/// An array of the group.
struct Array<'a> {
    name: &'a str,
    meta: &'a ArrayMeta,
    kind: ElementKind,
    dimensions: XarrayResult<Dimensions>,
    attributes: Object,
}

impl<'a> Array<'a> {
    fn new(name: &'a str, meta: &'a ArrayMeta) -> Self {
        Self {
            name,
            meta,
            kind: ElementKind::of(meta.document().data_type()),
            dimensions: dimensions(meta),
            attributes: visible_attributes(meta),
        }
    }

    fn plan(
        &self,
        unjoined: &BTreeSet<&str>,
        options: &DecodeOptions,
        findings: &mut Vec<Finding>,
    ) -> XarrayResult<VariablePlan> {
        if let Some(error) = self.meta.attributes_error() {
            return Err(XarrayError::invalid(format!("the attributes cannot be read: {error:#}")));
        }
        let Dimensions { names, shape } = self.dimensions.clone()?;
        report(self.meta, findings);
        self.report_names(&names, findings);
        let mut attributes = self.attributes.clone();
        let fill = match options.mask_and_scale {
            true => self.fill(&mut attributes, options.fill_is_missing, findings)?,
            false => {
                self.own_fill(&mut attributes, options.fill_is_missing);
                None
            }
        };
        let may_join = names.last().is_some_and(|last| !unjoined.contains(&**last));
        let stored = Stored { kind: self.kind, dimensions: names, shape, attributes, fill, may_join };
        decode_variable(stored, options, findings)
    }

    fn report_names(&self, names: &[String], findings: &mut Vec<Finding>) {
        if self.name.contains(char::is_whitespace) {
            findings
                .push(Finding::new(FindingCode::OddName, format!("the name {:?} has a blank", self.name)));
        }
        let repeated = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
        if let Some((_, name)) = repeated {
            findings.push(Finding::new(
                FindingCode::RepeatedDimension,
                format!("two dimensions are named {name:?}"),
            ));
        }
    }

    /// Returns the missing value of the array, and sets the attribute to it.
    fn fill(
        &self,
        attributes: &mut Object,
        which: FillIsMissing,
        findings: &mut Vec<Finding>,
    ) -> XarrayResult<Option<Missing>> {
        if self.own_fill(attributes, which) {
            if self.meta.format() == Format::V3 {
                let message = format!("the missing value is {}", self.meta.document().fill_value());
                findings.push(Finding::new(FindingCode::FillAsMask, message));
            }
            return Ok(self.stored_fill());
        }
        let Some(value) = attributes.get(FILL_VALUE) else { return Ok(None) };
        let mut found = Vec::new();
        let fill = read_fill_value(self.kind, &value, &mut found);
        // Before format 3 all writers write a JSON number.
        found
            .retain(|finding| self.meta.format() == Format::V3 || finding.code != FindingCode::FillValueForm);
        findings.append(&mut found);
        fill
    }

    /// Returns whether the fill value of the array is its missing value. If so, it replaces the attribute.
    fn own_fill(&self, attributes: &mut Object, which: FillIsMissing) -> bool {
        let counts = match which {
            FillIsMissing::AsFormat => self.meta.format() != Format::V3,
            FillIsMissing::Always => true,
            FillIsMissing::Never => false,
        };
        let counts = counts && !self.meta.fill_is_undefined() && self.kind != ElementKind::NumpyTime;
        if counts {
            attributes.set(FILL_VALUE, self.meta.document().fill_value().clone());
        }
        counts
    }

    /// Returns the fill value of the array as an element, or `None` if it is not a value of the data type.
    fn stored_fill(&self) -> Option<Missing> {
        let value = self.meta.document().fill_value();
        let read = |data_type: &DataType| fill::read(data_type, value, &mut Ignore).ok();
        match self.kind {
            ElementKind::Number(of) => Scalar::load(of, read(&of.into())?.bytes()).map(Missing::Number),
            ElementKind::Boolean => Some(Missing::Boolean(read(&DataType::Bool)?.bytes() != [0])),
            ElementKind::Text => Some(Missing::Text(value.to_text().ok()?.into_owned())),
            ElementKind::Bytes { .. } => Some(Missing::Bytes(read(&DataType::Bytes)?.bytes().to_vec())),
            ElementKind::NumpyTime | ElementKind::Other => None,
        }
    }
}

/// Returns the dimensions along which single bytes are not joined: dimensions that have the name of a variable,
/// dimensions of arrays that do not hold bytes, and all but the last dimension of arrays of bytes.
fn unjoined<'a>(arrays: &'a [Array<'_>]) -> BTreeSet<&'a str> {
    let mut unjoined: BTreeSet<&str> = arrays.iter().map(|array| array.name).collect();
    for array in arrays {
        let Ok(Dimensions { names, .. }) = &array.dimensions else { continue };
        let is_bytes = matches!(array.kind, ElementKind::Bytes { .. });
        let others = if is_bytes { &names[..names.len().saturating_sub(1)] } else { names };
        unjoined.extend(others.iter().map(String::as_str));
    }
    unjoined
}

/// Copies the units and the calendar of a time axis to its bounds, unless the bounds have their own.
///
/// Specification: CF 1.12, section 7.1.
fn inherit_units(arrays: &mut [Array<'_>]) {
    let text = |array: &Array<'_>, name: &str| Some(array.attributes.get(name)?.to_text().ok()?.into_owned());
    let bounds: Vec<_> = arrays
        .iter()
        .filter(|array| text(array, "units").is_some_and(|units| TimeUnits::are_meant_by(&units)))
        .filter_map(|array| Some((text(array, "bounds")?, array.attributes.clone())))
        .collect();
    let mut places: BTreeMap<&str, &mut Object> =
        arrays.iter_mut().map(|array| (array.name, &mut array.attributes)).collect();
    for (name, given) in bounds {
        let Some(attributes) = places.get_mut(&*name) else { continue };
        for attribute in ["units", "calendar"] {
            if let Some(value) = given.get(attribute).filter(|_| !attributes.contains(attribute)) {
                attributes.set(attribute, value);
            }
        }
    }
}
