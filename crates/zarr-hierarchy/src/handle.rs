//! The methods that both handles share: those that neither read nor write the store.

/// Defines these methods in an `impl` block of [`Group`](crate::Group) and of
/// [`blocking::Group`](crate::blocking::Group). So each handle has its own methods and documentation, and neither
/// dereferences to the other. The block must define `inner`, which borrows the async handle.
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

        /// The format of the group.
        pub fn format(&self) -> Format {
            self.inner().meta.format()
        }

        /// The metadata, as in the stored documents.
        pub fn metadata(&self) -> &GroupMeta {
            &self.inner().meta
        }

        /// The attributes; empty if there are none.
        #[doc(alias = "attrs")]
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
        /// [`InvalidArgument`](zarr_array::ArrayErrorKind::InvalidArgument) if the attributes do not match the type,
        /// with the JSON pointer to the member. In format 2 also the error of a broken attributes document.
        pub fn attributes_as<T: DeserializeOwned>(&self) -> HierarchyResult<T> {
            let attributes = self.metadata().attributes_as();
            attributes.map_err(|e| HierarchyError::from(e).at(self.unconsolidated(), &self.path()))
        }

        /// The deviations from the specification that were tolerated when the group was opened.
        pub fn diagnostics(&self) -> &[Diagnostic] {
            &self.inner().diagnostics
        }

        /// The storage that nodes below the group are read from. If consolidated metadata is used, it serves their
        /// documents.
        pub fn storage(&self) -> &Storage {
            &self.inner().shared.storage
        }

        /// The storage without consolidated metadata.
        pub fn unconsolidated(&self) -> &Storage {
            self.inner().shared.unconsolidated()
        }

        /// The registry for opening arrays.
        pub fn registry(&self) -> &Registry {
            &self.inner().shared.registry
        }

        /// The options that the group was opened with.
        pub fn options(&self) -> &GroupOptions {
            &self.inner().shared.options
        }

        /// Whether nodes below are found in consolidated metadata instead of the store.
        pub fn is_consolidated(&self) -> bool {
            self.inner().shared.layer.is_some()
        }
    };
}
pub(crate) use common_methods;
