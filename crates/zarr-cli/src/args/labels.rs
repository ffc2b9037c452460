//! `-s` by label, and the dataset around an array, whose coordinates have the labels.

use std::path::Path;
use std::str::FromStr;

use zarr_array::blocking::Array;
use zarr_xarray::blocking::{Dataset, Variable};
use zarr_xarray::{FindingCode, Picked, Selectors, XarrayError, XarrayErrorKind};

use crate::args::select::Select;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, say};
use crate::pick::Pick;
use crate::visit::Source;

/// The option of the verbs that work on a part of an array.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Part {
    /// The part of the array, as in NumPy: for each dimension an index, which drops it, a slice such as `0:24` or
    /// `::-1`, a list of indices such as `[1,5]`, a mask such as `[true,false]`, or `@PATH` for the list or mask in
    /// another array of the store. Several lists select all combinations. Or labels of
    /// coordinates: `time=2020-01:2020-02,lat=~41.3,level@0`.
    #[arg(
        short,
        long,
        value_name = "SELECTION",
        default_value = "...",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub(crate) select: Chosen,
}

/// A selection as given: by position, or by the names of dimensions and coordinates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chosen {
    Positions(Select),
    Labels(Selectors),
}

impl Default for Chosen {
    fn default() -> Self {
        Self::Positions(Select::default())
    }
}

impl FromStr for Chosen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match Selectors::are_meant_by(text) {
            true => text.parse().map(Self::Labels).map_err(|e: XarrayError| format!("{e:#}")),
            false => text.parse().map(Self::Positions),
        }
    }
}

impl Part {
    /// Whether no part was chosen, so that all elements are meant.
    pub(crate) fn is_all(&self) -> bool {
        matches!(&self.select, Chosen::Positions(select) if select.is_all())
    }

    /// Resolves the selection for the array that was found at `given`. Labels are looked up in the coordinates of the
    /// group around it.
    ///
    /// # Errors
    /// If the selection does not fit the shape, or an array or a label that it names is not there.
    pub(crate) fn picks(
        &self,
        given: &Path,
        target: &Target,
        array: &Array,
        stores: &Stores,
    ) -> Result<Vec<Pick>, Failure> {
        let in_array = |e: Failure| target.fail(e.within(format_args!("array {:?}", array.path())));
        match &self.select {
            Chosen::Positions(select) => select.loaded(target)?.resolve(array.shape()).map_err(in_array),
            Chosen::Labels(selectors) => {
                let around = Around::of(given, target, stores).map_err(in_array)?;
                let mut picks = around.picks(selectors).map_err(in_array)?;
                // An array of characters has one more dimension than the variable of texts.
                let rest = array.shape().iter().skip(picks.len());
                picks.extend(rest.map(|count| Pick::range(0..*count)));
                Ok(picks)
            }
        }
    }
}

/// An array as a variable of the dataset around it.
#[derive(Debug)]
pub(crate) struct Around {
    pub(crate) dataset: Dataset,
    pub(crate) name: String,
}

impl Around {
    /// Opens the group around an array. Its root is looked for above a URL.
    pub(crate) fn of(given: &Path, target: &Target, stores: &Stores) -> Result<Self, Failure> {
        let around = if target.path == "/" { Target::to_change(given, stores)? } else { target.clone() };
        let Some((group, name)) = around.path.rsplit_once('/').filter(|(_, name)| !name.is_empty()) else {
            let form = match around.url() {
                Some(_) => "; name a group as the store, as in 'URL|zarr:t2m'",
                None => "",
            };
            return Err(Failure::usage(format!(
                "the array is the root of its store, so no group around it has coordinates and attributes: select by \
                 position, without --decode{form}"
            )));
        };
        let group = if group.is_empty() { "/" } else { group };
        let group = around.at_path(group).group(Source::default())?;
        Ok(Self { dataset: Dataset::open(group)?, name: name.to_owned() })
    }

    /// Returns the variable of the array, to be decoded. A note says if its missing value is ignored.
    pub(crate) fn variable(&self) -> Result<Variable, Failure> {
        let variable = self.dataset.variable(&self.name)?;
        let findings = self.dataset.findings().iter().filter(|(name, _)| *name == self.name);
        for (name, finding) in findings.filter(|(_, finding)| finding.code == FindingCode::MissingValueType) {
            say(&format!("note: variable {name:?}: {finding}"));
        }
        Ok(variable)
    }

    /// Returns what labels select of the variable.
    pub(crate) fn picks(&self, selectors: &Selectors) -> Result<Vec<Pick>, Failure> {
        let selected = select(&self.dataset, selectors)?;
        let variable = selected.variable(&self.name)?;
        for name in selectors.names() {
            self.check_dimension(name, &variable)?;
        }
        Ok(variable.selected().into_iter().map(pick).collect())
    }

    /// Fails if the variable does not have the dimension that labels of a name select along.
    fn check_dimension(&self, name: &str, variable: &Variable) -> Result<(), Failure> {
        let own = variable.stored_dimensions();
        let dimension = match self.dataset.dimensions().contains_key(name) {
            true => name.to_owned(),
            false => self.dataset.variable(name)?.dimensions().concat(),
        };
        if own.contains(&dimension) {
            return Ok(());
        }
        let known = own.join(", ");
        Err(Failure::usage(format!("the array has no dimension {dimension:?}: its dimensions are {known}")))
    }
}

/// Selects by label.
pub(crate) fn select(dataset: &Dataset, selectors: &Selectors) -> Result<Dataset, Failure> {
    let selected = dataset.select(selectors).map_err(|e| {
        let is_label = e.kind() == XarrayErrorKind::Invalid && e.variable().is_none();
        if is_label { Failure::usage(format!("{e:#}{}", meant(&format!("{e:#}")))) } else { e.into() }
    })?;
    dataset.far_labels(selectors)?.iter().for_each(|note| say(&format!("note: {note}")));
    Ok(selected)
}

/// Returns what a text that is not a label may have meant, from the message about it: `… "10..20" is not a …`.
fn meant(message: &str) -> &'static str {
    let Some(label) = message.split('"').nth(3) else { return "" };
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let two = |(a, b): (&str, &str)| is_number(a) && is_number(b);
    let is_time = message.contains("is not a time");
    match () {
        () if label.starts_with('=') => "; one `=` selects",
        () if label.split_once("..").is_some_and(two) => "; a range is 10:20",
        () if !is_time && label.split_once('-').is_some_and(two) => "; a range is 10:20",
        () if is_time && (label == "last" || label == "first") => "; positions are time@-1 and time@0",
        () if is_time && is_number(label) => "; positions are time@0",
        () if label.ends_with(['N', 'S', 'E', 'W']) => "; labels have signs, as lat=-48 in the south",
        () => "",
    }
}

/// Returns selected positions as a pick.
pub(crate) fn pick(picked: Picked) -> Pick {
    match picked {
        Picked::One(position) => Pick::index(position),
        Picked::Steps { start, count, step } => Pick::steps(start, count, step),
        Picked::List(positions) => Pick::list(positions),
    }
}

impl From<XarrayError> for Failure {
    fn from(e: XarrayError) -> Self {
        let exit = match (e.kind(), e.hierarchy_error()) {
            (_, Some(e)) => e.kind().into(),
            (XarrayErrorKind::NotFound, _) => Exit::NotFound,
            (XarrayErrorKind::Unsupported, _) => Exit::Unsupported,
            _ => Exit::Invalid,
        };
        Self::new(exit, format!("{e:#}"))
    }
}
