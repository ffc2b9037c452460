//! Gives back the ranges that dead writers have reserved.

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::ConsolidatedPolicy;

use crate::dataset::Dataset;
use crate::encode::AT_ONCE;
use crate::error::{XarrayError, XarrayResult};

impl Dataset {
    /// Gives back the ranges along a dimension that dead writers of shared appends have reserved: the documents of all
    /// variables with the dimension get the length that this dataset shows, and elements beyond it are deleted.
    ///
    /// Call it if an append says that an earlier one does not end, and no writer is alive: a writer that still appends
    /// fails or loses its elements. Open the dataset again before, so that it has its present length.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, Group, XarrayResult};
    /// # async fn example(group: Group) -> XarrayResult<()> {
    /// Dataset::open(group).await?.release("time").await
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) if no variable has the dimension, and after a selection;
    /// [`Access`](crate::XarrayErrorKind::Access) for errors of the store. It may be called again then.
    pub async fn release(&self, dimension: &str) -> XarrayResult<()> {
        self.check_unselected()?;
        let planned = self.shared.plans.iter().filter_map(|(name, plan)| {
            let axis = plan.as_ref().ok()?.dimensions.iter().position(|own| own == dimension)?;
            Some((name, axis))
        });
        let grown: Vec<_> = planned.collect();
        if grown.is_empty() {
            return Err(XarrayError::invalid(format!("no variable has the dimension {dimension:?}")));
        }
        let released = grown.into_iter().map(|(name, axis)| self.shorten(name, axis));
        stream::iter(released).buffer_unordered(AT_ONCE).try_collect().await
    }

    /// Stores the length that the dataset shows in the document of a variable.
    async fn shorten(&self, name: &str, axis: usize) -> XarrayResult<()> {
        let shortened = async {
            let variable = self.variable(name)?;
            // Consolidated metadata has the length already.
            let mut array = variable.reader()?.array.clone().with_consolidated(ConsolidatedPolicy::Keep);
            let shape = array.shape().to_vec();
            // Reserves nothing, and so tells the stored length.
            array.extend(axis, 0).await?;
            if array.shape() != shape {
                array.resize(shape).await?;
            }
            Ok(())
        };
        shortened.await.map_err(|error: XarrayError| error.with_variable(name))
    }
}
