//! The entry of an extension in a registry, for all kinds of extension alike: its names, and what builds it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A named extension: its names, and what builds it from its configuration. That is a function `F`, so that tables of
/// entries are constants, or a shared closure `C`, which can have state of the run.
pub struct NamedEntry<F, C: ?Sized> {
    pub(super) names: Names,
    pub(super) build: Build<F, C>,
}

/// The names of an extension.
#[derive(Clone)]
pub(super) struct Names {
    written: Cow<'static, str>,
    aliases: &'static [&'static str],
    more: Vec<String>,
}

pub(super) enum Build<F, C: ?Sized> {
    Function(F),
    Shared(Arc<C>),
}

impl<F, C: ?Sized> NamedEntry<F, C> {
    /// The extension `name`, built by `build`.
    pub const fn new(name: &'static str, build: F) -> Self {
        Self::aliased(name, &[], build)
    }

    /// The extension `name`, built by `build`, with further names that are read but never written.
    pub const fn aliased(name: &'static str, aliases: &'static [&'static str], build: F) -> Self {
        Self {
            names: Names { written: Cow::Borrowed(name), aliases, more: Vec::new() },
            build: Build::Function(build),
        }
    }

    /// The extension `name`, built by a closure, which can have state: a key, a dictionary, an interpreter.
    pub fn shared(name: impl Into<Cow<'static, str>>, build: Arc<C>) -> Self {
        let names = Names { written: name.into(), aliases: &[], more: Vec::new() };
        Self { names, build: Build::Shared(build) }
    }

    /// Adds further names that are read but never written.
    #[must_use]
    pub fn also_read(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.names.more.extend(names);
        self
    }

    /// The name in metadata documents.
    pub fn name(&self) -> &str {
        &self.names.written
    }

    /// The further names that are read but never written.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.names.aliases()
    }
}

impl Names {
    /// Returns the name that is written, then the names that are only read.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.written).chain(self.aliases())
    }

    fn aliases(&self) -> impl Iterator<Item = &str> {
        self.aliases.iter().copied().chain(self.more.iter().map(String::as_str))
    }
}

impl<F: Clone, C: ?Sized> Clone for NamedEntry<F, C> {
    fn clone(&self) -> Self {
        let build = match &self.build {
            Build::Function(build) => Build::Function(build.clone()),
            Build::Shared(build) => Build::Shared(Arc::clone(build)),
        };
        Self { names: self.names.clone(), build }
    }
}

/// Shows the names.
impl<F, C: ?Sized> fmt::Debug for NamedEntry<F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names.all()).finish()
    }
}
