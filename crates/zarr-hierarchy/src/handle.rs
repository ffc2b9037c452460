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
