//! The places that references of a store may name, and the storages that serve them.

mod target;

use std::fmt;
use std::sync::{Arc, Mutex};

use zarr_traits::lock::unpoisoned;
use zarr_traits::store::Drive;
use zarr_traits::{BoxFuture, Key, Storage, StoreError, StoreErrorKind, StoreResult};

pub use target::Target;
#[cfg(feature = "references")]
pub(crate) use target::cut;
pub(crate) use target::shown;

/// The places that references of a store may name. Everything else is refused without a request.
///
/// A place is allowed with all places below it, by whole segments of its path: `file:///data` does not allow
/// `/data-secret`. Of several allowed places the one with the longest path serves a reference.
///
/// ```
/// # use zarr_store::{Access, MemoryStore, Targets};
/// let targets = Targets::none()
///     .allow("s3://era5-pds/")?
///     .serve("file:///old/place/", MemoryStore::new())?;
/// let access = Access::new().targets(targets);
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Clone, Default)]
pub struct Targets {
    allowed: Vec<Arc<Allowed>>,
    opener: Option<Arc<dyn Opener>>,
}

struct Allowed {
    place: Target,
    /// Where it is opened.
    root: String,
    /// The storage of the place: given by the caller, or opened at the first use.
    below: Mutex<Option<Storage>>,
    /// The storage and the key of the place itself, if it is an object.
    itself: Mutex<Option<(Storage, Key)>>,
}

/// What opens places: schemes and settings.
pub(crate) trait Opener: Send + Sync {
    /// Opens a URL or path as a store.
    fn folder<'a>(&'a self, root: &'a str) -> BoxFuture<'a, StoreResult<Storage>>;

    /// Opens the store that holds the object at a URL or path.
    fn object<'a>(&'a self, root: &'a str) -> BoxFuture<'a, StoreResult<(Storage, Key)>>;
}

impl Targets {
    /// Allows nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Allows a place, such as `s3://bucket/`, `https://host/data/` or `/data`, to be opened with the settings of the
    /// caller.
    ///
    /// # Errors
    /// As [`Target::parse`].
    pub fn allow(self, place: impl Into<String>) -> StoreResult<Self> {
        let place = place.into();
        self.with(&place.clone(), place, None)
    }

    /// Allows a place whose content is at another URL or path now, such as a mirror.
    ///
    /// # Errors
    /// As [`Target::parse`].
    pub fn moved(self, place: &str, to: impl Into<String>) -> StoreResult<Self> {
        self.with(place, to.into(), None)
    }

    /// Allows a place that `storage` serves: a moved folder, a mirror, or a store that is no service.
    ///
    /// # Errors
    /// As [`Target::parse`].
    pub fn serve(self, place: impl Into<String>, storage: impl Into<Storage>) -> StoreResult<Self> {
        let place = place.into();
        self.with(&place.clone(), place, Some(storage.into()))
    }

    fn with(mut self, place: &str, root: String, storage: Option<Storage>) -> StoreResult<Self> {
        let place = Target::of_url(place)?;
        self.allowed.retain(|allowed| allowed.place != place);
        let below = Mutex::new(storage);
        self.allowed.push(Arc::new(Allowed { place, root, below, itself: Mutex::default() }));
        Ok(self)
    }

    /// Sets what opens allowed places.
    pub(crate) fn opened_by(self, opener: Arc<dyn Opener>) -> Self {
        Self { opener: Some(opener), ..self }
    }

    /// Returns the storage that serves a place, and the key of the place in it.
    ///
    /// # Errors
    /// [`StoreErrorKind::PermissionDenied`] for a place that is not allowed; and those of the store that is opened.
    pub async fn find(&self, place: &Target) -> StoreResult<(Storage, Key)> {
        let covering = self.allowed.iter().filter(|allowed| allowed.place.key_of(place).is_some());
        let Some(allowed) = covering.max_by_key(|allowed| allowed.place.depth()) else {
            let message = "references may not name this place: allow it, or a folder above it";
            return Err(StoreError::new(StoreErrorKind::PermissionDenied, message));
        };
        if allowed.place == *place {
            return self.itself(allowed).await;
        }
        let key = allowed.place.key_of(place).unwrap_or_else(|| Key::new(""))?;
        Ok((self.below(allowed).await?, key))
    }

    /// Whether references may name a place and everything below it. Nothing is opened.
    ///
    /// ```
    /// # use zarr_store::{PathEncoding, Target, Targets};
    /// let targets = Targets::none().allow("s3://era5-pds/2020/")?;
    /// let place = |text| Target::parse(text, PathEncoding::Plain);
    /// assert!(targets.allows(&place("s3://era5-pds/2020/t2m.nc")?));
    /// assert!(!targets.allows(&place("s3://era5-pds/")?) && targets.allows_below(&place("s3://era5-pds/")?));
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    pub fn allows(&self, place: &Target) -> bool {
        self.allowed.iter().any(|allowed| allowed.place.key_of(place).is_some())
    }

    /// Whether references may name a place below this one, or this one itself. Nothing is opened.
    pub fn allows_below(&self, place: &Target) -> bool {
        self.allowed.iter().any(|allowed| place.key_of(&allowed.place).is_some())
    }

    /// Where the futures of the places may be polled, as far as it is known before they are opened.
    pub fn drive(&self) -> Drive {
        let drives = self.allowed.iter().map(|allowed| match &*unpoisoned(allowed.below.lock()) {
            Some(storage) => storage.capabilities().drive,
            None if allowed.place.is_local() => Drive::Inline,
            // As stores of services have it; this one is not opened yet.
            None => Drive::remote(64, 256 << 10),
        });
        drives.max_by_key(|drive| drive.in_flight()).unwrap_or(Drive::Inline)
    }

    async fn below(&self, allowed: &Allowed) -> StoreResult<Storage> {
        if let Some(storage) = unpoisoned(allowed.below.lock()).clone() {
            return Ok(storage);
        }
        let end = if allowed.root.ends_with('/') { "" } else { "/" };
        let storage = self.opener(allowed)?.folder(&format!("{}{end}", allowed.root)).await?;
        // Two callers may have opened it: both storages are right.
        Ok(unpoisoned(allowed.below.lock()).get_or_insert(storage).clone())
    }

    async fn itself(&self, allowed: &Allowed) -> StoreResult<(Storage, Key)> {
        if let Some(object) = unpoisoned(allowed.itself.lock()).clone() {
            return Ok(object);
        }
        let object = self.opener(allowed)?.object(&allowed.root).await?;
        Ok(unpoisoned(allowed.itself.lock()).get_or_insert(object).clone())
    }

    fn opener(&self, allowed: &Allowed) -> StoreResult<&dyn Opener> {
        self.opener.as_deref().ok_or_else(|| {
            let message =
                format!("no storage serves {}: give one, or the schemes that open it", shown(&allowed.root));
            StoreError::new(StoreErrorKind::Unsupported, message)
        })
    }
}

/// Lists where the allowed places are opened.
impl fmt::Debug for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.allowed.iter().map(|allowed| crate::redacted(&allowed.root))).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::url::PathEncoding;
    use crate::{Access, MemoryStore, OpenRootShared, Scheme, Schemes};
    use zarr_traits::block_on;

    use super::*;

    fn found(targets: &Targets, text: &str) -> String {
        let place = Target::parse(text, PathEncoding::Plain).unwrap();
        match block_on(targets.find(&place)) {
            Ok((storage, key)) => format!("{} {key}", storage.location().unwrap_or("?")),
            Err(e) => format!("{e:#}"),
        }
    }

    #[test]
    fn the_allowed_place_with_the_longest_path_serves_a_reference() {
        let named = |name: &str| Storage::from(MemoryStore::new()).with_location(Some(name));
        let targets = Targets::none().serve("s3://b", named("all")).unwrap();
        let targets =
            targets.serve("s3://b/d/e", named("deep")).unwrap().serve("s3://b/d", named("d")).unwrap();
        assert_eq!(found(&targets, "s3://b/x"), "all x");
        assert_eq!(found(&targets, "s3://b/d/x"), "d x");
        assert_eq!(found(&targets, "s3://b/d/e/x"), "deep x");
        for text in ["s3://c/x", "/etc/passwd"] {
            assert_eq!(
                found(&targets, text),
                "references may not name this place: allow it, or a folder above it"
            );
        }
        let targets = Targets::none().allow("s3://b").unwrap();
        assert_eq!(
            found(&targets, "s3://b/x"),
            "no storage serves \"s3://b\": give one, or the schemes that open it"
        );
    }

    #[test]
    fn an_allowed_place_is_opened_once_at_the_first_use() {
        let opened = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&opened);
        let open: Arc<OpenRootShared> = Arc::new(move |url, access| {
            assert!(access.confined && access.anonymous);
            count.fetch_add(1, Ordering::Relaxed);
            let storage = Storage::from(MemoryStore::new()).with_location(Some(url));
            Box::pin(async move { Ok(storage) })
        });
        let schemes = [Scheme::shared("s3", PathEncoding::Plain, open)];
        let targets = Targets::none().allow("s3://b/d").unwrap().allow("s3://b/one.nc").unwrap();
        let targets = targets.moved("https://old/place", "s3://b/new").unwrap();
        let targets = Schemes::new(&[&schemes]).targets(&Access::new().anonymous(true).targets(targets));
        assert_eq!(found(&targets, "https://old/place/x"), "s3://b/new/ x");
        assert_eq!(found(&targets, "s3://b/d/x"), "s3://b/d/ x");
        assert_eq!(found(&targets.clone(), "s3://b/d/y/z"), "s3://b/d/ y/z");
        assert_eq!(opened.load(Ordering::Relaxed), 2);
        // A place may be an object.
        assert_eq!(found(&targets, "s3://b/one.nc"), "s3://b/ one.nc");
        assert_eq!(found(&targets, "s3://b/one.nc"), "s3://b/ one.nc");
        assert_eq!(opened.load(Ordering::Relaxed), 3);
        assert!(found(&targets, "s3://b/one.nc.secret").starts_with("references may not"));
    }
}
