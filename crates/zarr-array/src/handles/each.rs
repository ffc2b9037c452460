//! Reads of one selection after the other, some of them ahead of the caller.

use futures_util::stream::{self, Stream, StreamExt};

use crate::element::Element;
use crate::error::ArrayResult;
use crate::handles::array::Array;
use crate::select::Selection;
use crate::values::NdVec;

impl Array {
    /// Reads one selection after the other: a stream of values in the order of `selections`. Up to `ahead` further ones
    /// are read while the caller works on one; they are the memory that the stream takes.
    ///
    /// The selections may be an iterator without end. They are taken from it when their turn comes.
    ///
    /// ```
    /// # use futures_util::TryStreamExt;
    /// # use zarr_array::{Array, ArrayResult, NdVec};
    /// # async fn example(array: Array) -> ArrayResult<()> {
    /// let hours = (0..array.shape()[0]).map(|hour| (hour, ..));
    /// let mut frames = std::pin::pin!(array.read_each(hours, 2));
    /// while let Some(frame) = frames.try_next().await? {
    ///     let frame: NdVec<f32> = frame;
    ///     println!("{:?}", frame.shape());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// An item is an error as in [`read`](Self::read). The stream goes on behind it.
    #[doc(alias("stream", "prefetch"))]
    pub fn read_each<T: Element, S: Into<Selection>, I: IntoIterator<Item = S>>(
        &self,
        selections: I,
        ahead: usize,
    ) -> impl Stream<Item = ArrayResult<NdVec<T>>> + use<T, S, I> {
        let array = self.clone();
        let reads = selections.into_iter().map(move |selection| {
            let (array, selection) = (array.clone(), selection.into());
            async move { array.read::<T>(selection).await }
        });
        stream::iter(reads).buffered(ahead.saturating_add(1))
    }
}
