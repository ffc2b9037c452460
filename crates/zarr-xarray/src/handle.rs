//! The methods that the async and the blocking handles share: those that do not access the store.

/// Defines the shared methods of [`Dataset`](crate::Dataset) and [`blocking::Dataset`](crate::blocking::Dataset). The
/// block must define `inner`, which borrows the async handle, and `with`, which derives another handle.
macro_rules! dataset_methods {
    () => {
        /// The length of each dimension, after selections.
        pub fn dimensions(&self) -> BTreeMap<String, u64> {
            self.inner().view.lengths(&self.inner().shared.dimensions)
        }

        /// Returns the selected positions along a stored dimension; `None` if it is whole.
        pub fn selected(&self, dimension: &str) -> Option<Picked> {
            let (shared, view) = (&self.inner().shared, &self.inner().view);
            let length = *shared.dimensions.get(dimension)?;
            (!view.is_whole(dimension)).then(|| view.picked(dimension, length))
        }

        /// The attributes of the group that the user sees.
        pub fn attributes(&self) -> &Object {
            &self.inner().shared.attributes
        }

        /// The names of all variables, also of broken ones, in order.
        pub fn variables(&self) -> impl Iterator<Item = &str> {
            self.inner().shared.names().map(String::as_str)
        }

        /// The names of the variables that are coordinates, in order.
        pub fn coordinates(&self) -> impl Iterator<Item = &str> {
            let shared = &self.inner().shared;
            shared.names().map(String::as_str).filter(|name| shared.is_coordinate(name))
        }

        /// The names of the variables that are not coordinates, in order.
        pub fn data_variables(&self) -> impl Iterator<Item = &str> {
            let shared = &self.inner().shared;
            shared.names().map(String::as_str).filter(|name| !shared.is_coordinate(name))
        }

        /// The names of the coordinates that are the index of a dimension, in order. A selection of one position drops
        /// the index.
        pub fn indexes(&self) -> impl Iterator<Item = &str> {
            let (shared, view) = (&self.inner().shared, &self.inner().view);
            let is_there = |name: &&str| !matches!(view.picked(name, 0), Picked::One(_));
            shared.names().map(String::as_str).filter(|name| shared.is_index(name)).filter(is_there)
        }

        /// The names of the coordinates that come from groups above, in a dataset of a [`DataTree`](crate::DataTree).
        pub fn inherited(&self) -> impl Iterator<Item = &str> {
            self.inner().shared.inherited.keys().map(String::as_str)
        }

        /// The variables that cannot be decoded, with the reasons.
        pub fn broken(&self) -> impl Iterator<Item = (&str, &XarrayError)> {
            let plans = self.inner().shared.plans.iter();
            plans.filter_map(|(name, plan)| Some((name.as_str(), plan.as_ref().err()?)))
        }

        /// Where this crate and xarray treat the dataset differently, and odd attributes: each with the name of its
        /// variable.
        pub fn findings(&self) -> &[(String, Finding)] {
            &self.inner().shared.findings
        }

        /// Selects positions along dimensions. Makes no request. Positions along several dimensions are independent.
        ///
        /// ```
        /// # use zarr_xarray::{Positions, XarrayResult, blocking::Dataset};
        /// # fn example(dataset: Dataset) -> XarrayResult<()> {
        /// let north_up = Positions::step(.., -1);
        /// let last_day = dataset.isel([("time", Positions::from(-24..)), ("lat", north_up)])?;
        /// # Ok(())
        /// # }
        /// ```
        ///
        /// # Errors
        /// [`Invalid`](crate::XarrayErrorKind::Invalid) for an unknown dimension and for positions outside of it;
        /// [`Unsupported`](crate::XarrayErrorKind::Unsupported) for a dimension that one variable has twice.
        pub fn isel<N: AsRef<str>, P: Into<Positions>>(
            &self,
            positions: impl IntoIterator<Item = (N, P)>,
        ) -> XarrayResult<Self> {
            self.with(|dataset| dataset.at(positions))
        }
    };
}

/// Defines the shared methods of [`Variable`](crate::Variable) and [`blocking::Variable`](crate::blocking::Variable).
/// The block must define `inner`, which borrows the async handle, and `with`, which derives another handle.
macro_rules! variable_methods {
    () => {
        /// The name.
        pub fn name(&self) -> &str {
            &self.inner().name
        }

        /// The names of the dimensions, after selections.
        pub fn dimensions(&self) -> &[String] {
            &self.inner().seen.names
        }

        /// The length of each dimension, after selections.
        pub fn shape(&self) -> &[u64] {
            &self.inner().seen.shape
        }

        /// The attributes that the user sees.
        pub fn attributes(&self) -> &Object {
            &self.inner().plan.attributes
        }

        /// The attributes that decoding uses, as they are stored.
        pub fn encoding(&self) -> &Object {
            &self.inner().plan.encoding
        }

        /// How the elements are decoded.
        pub fn decoding(&self) -> &Decoding {
            &self.inner().plan.decoding
        }

        /// The type of the decoded elements.
        pub fn data_type(&self) -> DecodedType {
            self.inner().decoded_type()
        }

        /// The metadata of the stored array.
        pub fn metadata(&self) -> &ArrayMeta {
            &self.inner().stored.meta
        }

        /// Returns the words for the numbers of categories or bits, from the attributes `flag_meanings`, `flag_values`
        /// and `flag_masks`, or `None` if there are no such attributes.
        ///
        /// # Errors
        /// [`Invalid`](crate::XarrayErrorKind::Invalid) if the attributes do not fit each other.
        pub fn flags(&self) -> XarrayResult<Option<Flags>> {
            Flags::of(self.attributes()).map_err(|error| error.with_variable(self.name()))
        }

        /// Returns decoded elements as the variable stores them: packed, in its units. They are the bytes of all elements in
        /// C order and in the byte order of the machine; of texts, the UTF-8 of one behind the other.
        ///
        /// # Errors
        /// [`Invalid`](crate::XarrayErrorKind::Invalid) for elements of another type or calendar;
        /// [`OutOfRange`](crate::XarrayErrorKind::OutOfRange) for an element that the stored type or the stored units do
        /// not have; [`Unsupported`](crate::XarrayErrorKind::Unsupported) for encodings that are not written.
        pub fn encode(&self, values: impl Into<Decoded>) -> XarrayResult<Vec<u8>> {
            let elements = self.inner().encode_part(values.into());
            elements.map(Elements::into_bytes).map_err(|error| error.with_variable(self.name()))
        }

        /// Selects positions along dimensions of the variable. Makes no request.
        ///
        /// # Errors
        /// As [`Dataset::isel`](crate::Dataset::isel).
        pub fn isel<N: AsRef<str>, P: Into<Positions>>(
            &self,
            positions: impl IntoIterator<Item = (N, P)>,
        ) -> XarrayResult<Self> {
            self.with(|variable| variable.at(positions))
        }
    };
}

pub(crate) use {dataset_methods, variable_methods};
