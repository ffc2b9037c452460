//! The handle on a dataset.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::try_join_all;
use zarr_array::{Array, Located, Registry};
use zarr_hierarchy::Group;
use zarr_meta::json::Object;

use crate::conventions::DecodeOptions;
use crate::error::{XarrayError, XarrayResult};
use crate::finding::Finding;
use crate::handle::dataset_methods;
use crate::index::Index;
use crate::labels::Labels;
use crate::open::{Above, Members};
use crate::positions::{Picked, Positions};
use crate::shared::Shared;
use crate::variable::Variable;
use crate::view::View;

/// A group of Zarr as a dataset: variables with named dimensions, coordinates and decoded elements.
///
/// Opening reads documents only. A variable that cannot be decoded is broken, and the others can be read. Selections by
/// position make no request. Selections by label read the indexes that they need, each once.
///
/// Cheap to clone. [`blocking::Dataset`](crate::blocking::Dataset) has the same methods for programs without async.
///
/// ```
/// # use zarr_xarray::{Dataset, Labels, XarrayResult};
/// # async fn example(group: zarr_hierarchy::Group) -> XarrayResult<()> {
/// let dataset = Dataset::open(group).await?;
/// let january = [("time", Labels::from("2020-01")), ("lat", Labels::nearest(41.3))];
/// let t2m = dataset.sel(january).await?.variable("t2m")?.read::<f64>().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Dataset {
    pub(crate) shared: Arc<Shared>,
    pub(crate) view: View,
    /// Whether a blocking handle wraps this handle, so that calls may block their thread.
    pub(crate) may_block: bool,
}

impl Dataset {
    dataset_methods!();

    /// The group of the dataset.
    pub fn group(&self) -> &Group {
        &self.shared.group
    }

    /// Opens a group as a dataset. Reads no chunk.
    ///
    /// Costs the requests of [`Group::children`]: none with consolidated metadata.
    ///
    /// # Errors
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) if a dimension has two lengths, or a scalar has the name of a dimension;
    /// [`Access`](crate::XarrayErrorKind::Access) if the arrays cannot be listed.
    #[doc(alias = "open_dataset")]
    pub async fn open(group: Group) -> XarrayResult<Self> {
        Self::open_with(group, &DecodeOptions::default()).await
    }

    /// Opens the group that a URL names as a dataset, in the format that the URL asks for, if any.
    ///
    /// # Errors
    /// As [`open`](Self::open) and [`Group::open_at`].
    #[doc(alias = "open_url")]
    pub async fn open_at(located: &Located, registry: &Registry) -> XarrayResult<Self> {
        Self::open(Group::open_at(located, registry).await?).await
    }

    /// Opens a group as a dataset with options.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_with(group: Group, options: &DecodeOptions) -> XarrayResult<Self> {
        let members = Members::of(&group).await?;
        Ok(Self::new(members.into_shared(group, options, &Above::default())?))
    }

    /// Returns the dataset of one array alone, as a variable with this name: for an array without a group, or whose own
    /// attributes say enough. Makes no request. A dimension without a name, or with the name of one before it, is `dim_N`
    /// with its number.
    ///
    /// # Errors
    /// [`Access`](crate::XarrayErrorKind::Access) if the path of the array is not one of the storage. A variable that cannot
    /// be decoded is broken, as in [`open`](Self::open).
    pub fn of_array(name: &str, array: Array, registry: &Registry) -> XarrayResult<Self> {
        let above = array.path().rsplit_once('/').map_or("/", |(above, _)| above);
        let group = Group::unread(array.storage().clone(), above, registry)?;
        Ok(Self::new(Members::alone(group, name, array)?))
    }

    pub(crate) fn new(shared: Shared) -> Self {
        Self { shared: shared.into(), view: View::default(), may_block: false }
    }

    /// Returns a variable.
    ///
    /// # Errors
    /// [`NotFound`](crate::XarrayErrorKind::NotFound) if there is no variable of this name; the reason if the variable is
    /// broken.
    pub fn variable(&self, name: &str) -> XarrayResult<Variable> {
        let shared = self.shared.owner(name);
        Variable::new(shared, name, self.view.clone(), self.may_block)
    }

    /// Selects labels along dimensions, by the name of the dimension or of a coordinate with one dimension. Loads the
    /// indexes that it needs, all at once and each only the first time. In a dimension without an index, positions are
    /// the labels.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, Labels, XarrayResult};
    /// # async fn example(dataset: Dataset) -> XarrayResult<()> {
    /// let point = dataset.sel([("lat", 40.0), ("lon", 15.5)]).await?;
    /// let winter = dataset.sel([("time", Labels::between("2020-12", "2021-02"))]).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`NotFound`](crate::XarrayErrorKind::NotFound) for a label that is not in the index;
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) for an unknown dimension, a label of another type, and an index whose
    /// order does not allow the selection; those of [`isel`](Self::isel), and of reading the index.
    pub async fn sel<N: AsRef<str>, L: Into<Labels>>(
        &self,
        labels: impl IntoIterator<Item = (N, L)>,
    ) -> XarrayResult<Self> {
        let labels = owned(labels);
        let found = try_join_all(labels.iter().map(|(name, labels)| self.find(name, labels))).await?;
        self.at(found)
    }

    /// Selects points: the first labels of all lists are the first point, and so on. The dimensions become one dimension
    /// with the name `dimension`.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, Labels, Method, XarrayResult};
    /// # async fn example(dataset: Dataset) -> XarrayResult<()> {
    /// let lat = Labels::list_near([52.5, 48.1], Method::Nearest);
    /// let lon = Labels::list_near([13.4, 11.6], Method::Nearest);
    /// let cities = dataset.sel_points("city", [("lat", lat), ("lon", lon)]).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`sel`](Self::sel). [`Invalid`](crate::XarrayErrorKind::Invalid) if the labels are not lists of the same length,
    /// or the name is taken;
    /// [`Unsupported`](crate::XarrayErrorKind::Unsupported) if points were selected already.
    pub async fn sel_points<N: AsRef<str>, L: Into<Labels>>(
        &self,
        dimension: &str,
        labels: impl IntoIterator<Item = (N, L)>,
    ) -> XarrayResult<Self> {
        let labels = owned(labels);
        if let Some((name, _)) = labels.iter().find(|(_, labels)| !labels.is_list()) {
            return Err(XarrayError::invalid(format!("the labels of points along {name:?} are not a list")));
        }
        let found = try_join_all(labels.iter().map(|(name, labels)| self.find(name, labels))).await?;
        let lengths = self.dimensions();
        let mut points = Vec::with_capacity(found.len());
        for (name, positions) in found {
            self.shared.check_single(&name)?;
            let chosen = positions.resolve(lengths.get(&name).copied().unwrap_or(0))?;
            let list = (0..chosen.len()).map(|position| chosen.at(position)).collect();
            points.push((name, list));
        }
        let mut selected = self.clone();
        selected.view.select_points_of(&self.shared.dimensions, dimension, points)?;
        Ok(selected)
    }

    /// Returns the index of a coordinate with one dimension, after selections. Reads it the first time.
    ///
    /// # Errors
    /// [`NotFound`](crate::XarrayErrorKind::NotFound) if there is no such coordinate;
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) if it does not have one dimension, or its elements cannot be labels; those of reading it.
    pub async fn index(&self, coordinate: &str) -> XarrayResult<Arc<Index>> {
        let variable = self.variable(coordinate)?;
        let ([dimension], [length]) = (&*variable.plan.dimensions, &*variable.plan.shape) else {
            let message = format!("it has {} dimensions, an index has one", variable.plan.dimensions.len());
            return Err(XarrayError::invalid(message).with_variable(coordinate));
        };
        let all = variable.shared.index(coordinate, self.may_block).await?;
        if self.view.is_whole(dimension) {
            return Ok(all);
        }
        Ok(all.pick(&self.view.picked(dimension, *length)).into())
    }

    /// Returns the dimension that labels of this name select along, and their positions.
    async fn find(&self, name: &str, labels: &Labels) -> XarrayResult<(String, Positions)> {
        let named = |error: XarrayError| error.within(&format!("selection along {name:?}"));
        let is_label = self.shared.is_coordinate(name)
            && self.shared.owner(name).planned(name).is_ok_and(|plan| plan.dimensions.len() == 1);
        if !is_label {
            let positions = match self.dimensions().contains_key(name) {
                true => labels.as_positions(),
                false => Err(XarrayError::invalid(
                    "there is neither a dimension nor a coordinate with one dimension of this name",
                )),
            };
            return Ok((name.to_owned(), positions.map_err(named)?));
        }
        let variable = self.variable(name)?;
        let [dimension] = variable.dimensions() else {
            return Err(named(XarrayError::invalid(
                "one position was selected before, so the dimension is gone",
            )));
        };
        let index = self.index(name).await?;
        Ok((dimension.clone(), labels.positions(&index).map_err(named)?))
    }

    /// Returns the dataset at positions.
    pub(crate) fn at<N: AsRef<str>, P: Into<Positions>>(
        &self,
        positions: impl IntoIterator<Item = (N, P)>,
    ) -> XarrayResult<Self> {
        let mut selected = self.clone();
        for (dimension, positions) in positions {
            self.shared.check_single(dimension.as_ref())?;
            selected.view.select(&self.shared.dimensions, dimension.as_ref(), &positions.into())?;
        }
        Ok(selected)
    }

    fn inner(&self) -> &Self {
        self
    }

    fn with(&self, change: impl FnOnce(&Self) -> XarrayResult<Self>) -> XarrayResult<Self> {
        change(self)
    }
}

fn owned<N: AsRef<str>, L: Into<Labels>>(labels: impl IntoIterator<Item = (N, L)>) -> Vec<(String, Labels)> {
    labels.into_iter().map(|(name, labels)| (name.as_ref().to_owned(), labels.into())).collect()
}

impl Shared {
    /// Returns the index of a variable of one dimension. Reads it the first time.
    async fn index(self: &Arc<Self>, name: &str, may_block: bool) -> XarrayResult<Arc<Index>> {
        let variable = Variable::new(self.clone(), name, View::default(), may_block)?;
        let Some(loaded) = self.loaded.get(name) else {
            return Err(XarrayError::invalid("it has not one dimension").with_variable(name));
        };
        let mut loaded = loaded.lock().await;
        if let Some(index) = &*loaded {
            return Ok(index.clone());
        }
        let index = Index::of(variable.read_any().await?).map_err(|error| error.with_variable(name))?;
        Ok(loaded.insert(index.into()).clone())
    }
}
