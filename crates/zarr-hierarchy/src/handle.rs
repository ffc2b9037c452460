//! The methods that both handles have alike: everything that neither reads nor writes the store.

/// Defines them in an `impl` block, of [`Group`](crate::Group) and of [`blocking::Group`](crate::blocking::Group), so that each
/// handle has methods and documentation of its own and neither dereferences to the other. `inner` in that block borrows the
/// async handle.
macro_rules! common_methods {
    () => {
        /// The path of the group in the store, for example `/` or `/a/b`.
        pub fn path(&self) -> String {
            self.inner().prefix.node_path()
        }

        /// The prefix of the group in the store.
        pub fn prefix(&self) -> &Prefix {
            &self.inner().prefix
        }

        /// The version of the format.
        pub fn format(&self) -> Format {
            self.inner().meta.format()
        }

        /// The metadata: the documents as they are stored.
        pub fn metadata(&self) -> &GroupMeta {
            &self.inner().meta
        }

        /// The attributes; empty when there are none.
        pub fn attributes(&self) -> Object {
            self.inner().meta.attributes()
        }

        /// The attributes as a Rust type.
        ///
        /// ```
        /// # use zarr_hierarchy::{HierarchyResult, blocking::Group, zarr_array::standard};
        /// #[derive(serde::Deserialize)]
        /// struct Attributes {
        ///     title: String,
        /// }
        /// # let mut root = Group::create(zarr_store::MemoryStore::new(), "/", &standard())?;
        /// root.set_attribute("title", "weather")?;
        /// assert_eq!(root.attributes_as::<Attributes>()?.title, "weather");
        /// # HierarchyResult::Ok(())
        /// ```
        ///
        /// # Errors
        /// [`InvalidArgument`](zarr_array::ArrayErrorKind::InvalidArgument) when the attributes are no such value, with the
        /// JSON pointer to the member. Attributes of format 2 are a document of their own: its error, when that cannot be
        /// read.
        pub fn attributes_as<T: DeserializeOwned>(&self) -> HierarchyResult<T> {
            let attributes = self.metadata().attributes_as();
            attributes.map_err(|e| HierarchyError::from(e).at(&self.path()))
        }

        /// Deviations from the specification that were tolerated when the group was opened.
        pub fn diagnostics(&self) -> &[Diagnostic] {
            &self.inner().diagnostics
        }

        /// The storage that nodes below the group are read from. Where consolidated metadata is used, it answers for their
        /// documents.
        pub fn storage(&self) -> &Storage {
            &self.inner().shared.storage
        }

        /// The storage itself, without consolidated metadata.
        pub fn store(&self) -> &Storage {
            self.inner().shared.store()
        }

        /// The registry that arrays are opened with.
        pub fn registry(&self) -> &Registry {
            &self.inner().shared.registry
        }

        /// The options that the group was opened with.
        pub fn options(&self) -> &GroupOptions {
            &self.inner().shared.options
        }

        /// Whether nodes below are found in consolidated metadata, and not by asking the store.
        pub fn is_consolidated(&self) -> bool {
            self.inner().shared.layer.is_some()
        }
    };
}
pub(crate) use common_methods;
