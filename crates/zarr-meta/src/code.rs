//! The table of codes: every tolerated deviation and every piece of advice, with an explanation.

/// The weight of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Valid, but unwise: some implementation cannot read it, or reads it wrongly.
    Warning,
    /// A violation of the specification or of the conventions. A tolerant reader goes on because the meaning is
    /// certain; [`Strict`](crate::Strict) stops.
    Error,
}

/// Generates an enum of codes from its name and a table. It is exported for crates of this workspace with their own
/// tables.
#[doc(hidden)]
#[macro_export]
macro_rules! codes {
    ($code:ident; $($name:ident $id:literal $severity:ident $title:literal $explanation:literal;)*) => {
        /// The code of a deviation or piece of advice. Codes are stable: the meaning of a code never changes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $code {
            $(#[doc = concat!($id, ": ", $title, ".\n\n", $explanation)] $name,)*
        }

        impl $code {
            /// All codes in ascending order.
            pub const ALL: &'static [$code] = &[$($code::$name),*];

            /// Returns the stable id, such as `ZM001`.
            pub const fn id(self) -> &'static str {
                match self { $($code::$name => $id,)* }
            }

            /// Returns a title of a few words.
            pub const fn title(self) -> &'static str {
                match self { $($code::$name => $title,)* }
            }

            /// Returns an explanation: how a reader treats the deviation, and how to write it correctly.
            pub const fn explanation(self) -> &'static str {
                match self { $($code::$name => $explanation,)* }
            }

            /// Returns the severity.
            pub const fn severity(self) -> $crate::Severity {
                match self { $($code::$name => $crate::Severity::$severity,)* }
            }
        }

        impl std::fmt::Display for $code {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.id())
            }
        }
    };
}

codes! {
    Code;

    ByteOrderMark "ZM001" Error "byte order mark"
        "The document starts with a UTF-8 byte order mark. RFC 8259 forbids writing one and lets readers skip it. It is skipped, and not written back.";
    BareNonFinite "ZM002" Error "bare NaN or Infinity"
        "JSON has no token NaN, Infinity or -Infinity. Python's json module writes them, so documents of zarr-python have them in attributes and fill values. They are kept as they are. Write fill values as the strings \"NaN\", \"Infinity\", \"-Infinity\".";
    DuplicateMember "ZM003" Error "duplicate member"
        "An object has two members of the same name. The last one counts, as in most JSON readers; zarrs refuses the document.";
    LoneSurrogate "ZM004" Error "lone surrogate escape"
        "A string contains an escape such as \\ud800, which is half of a UTF-16 pair and not a character. The string is kept as it is spelled; only reading it as text fails.";

    FormatSpelling "ZM010" Error "zarr_format is not spelled as an integer"
        "zarr_format is a number equal to 3 with a fraction or an exponent, such as 3.0. Write 3.";
    NullAttributes "ZM011" Error "attributes is null"
        "attributes must be an object. null is read as {}. Write {}.";
    IntegerSpelling "ZM012" Error "integer with a fraction or an exponent"
        "A number that must be an integer is spelled like 4.0 or 1e2. It is read as the integer that it equals. Write it without fraction and exponent.";
    NullDimensionNames "ZM013" Error "dimension_names is null"
        "dimension_names must be an array. null is read as if the member were absent. Omit the member.";
    NullTransformers "ZM014" Error "storage_transformers is null"
        "storage_transformers must be an array. null is read as []. Omit the member.";
    NullMember "ZM015" Error "unknown member is null"
        "The document has a member that the specification does not define and that is not waived by must_understand: false. Its value is null and carries no meaning, so it is ignored.";
    NullConsolidated "ZM016" Error "consolidated_metadata is null"
        "zarr-python 3.0.0 to 3.1.3 wrote null into groups that have no consolidated metadata. It is read as if the member were absent.";
    ConsolidatedForm "ZM017" Error "consolidated_metadata is not of the specified form"
        "The specification requires exactly kind: \"inline\", must_understand: false and metadata. A missing must_understand and additional members are tolerated; an unknown kind with must_understand: false is ignored.";
    ConsolidatedKey "ZM018" Error "path in consolidated metadata"
        "A key of consolidated metadata must be the path of a node below the group, without a slash at either end, and must be unique. A slash at an end is removed, the last of several equal keys counts, and a key that cannot be a path is ignored. zarr-python says that the group does not exist.";
    ImplicitGroup "ZM019" Error "group without a document"
        "There are nodes below a path that has no document of its own. Pre-release software treated such a path as a group; since 3.1 it is not a node. It is reported, and the nodes below it can be opened by their paths.";

    ExtensionMember "ZM020" Error "unknown member of an extension object"
        "An extension object has only the members name, configuration and must_understand. The additional member is ignored.";
    MeaninglessWaiver "ZM021" Error "must_understand: false where it has no meaning"
        "A data type, a chunk grid and a chunk key encoding must be understood to read an array. This one is known, so the waiver is ignored.";
    ConfigurationMember "ZM022" Error "unknown member of a configuration"
        "The configuration of a known extension has a member that its specification does not define. It is ignored.";
    MisplacedSeparator "ZM023" Error "separator outside of configuration"
        "Drafts of Zarr v3 had the member separator next to name in chunk_key_encoding; it belongs in configuration. It is read as if it were there.";
    AliasName "ZM024" Error "obsolete name of an extension"
        "The extension has a name that is not registered, or not any more, but is known as an alias of the registered name.";

    ZeroChunk "ZM030" Error "chunk length 0"
        "A chunk length is 0 in a dimension of length 0: zarr-python 3.1.6 and others wrote this, specification 3.0 allowed it, 3.1 does not. It is read as 1.";

    IntegerFill "ZM040" Error "integer fill value with a fraction or an exponent"
        "The fill value of an integer type is spelled like 1.0 or 1e2. It is read as the integer that it equals.";
    BoolFill "ZM041" Error "bool fill value 0 or 1"
        "The fill value of a bool array is a number. 0 is read as false and 1 as true; nothing else is accepted.";
    NumericStringFill "ZM042" Error "number in a string as fill value"
        "The fill value of a floating-point type is a decimal number in a string. It is read as that number.";
    Base64Fill "ZM043" Error "base64 fill value"
        "The fill value of an r* type must be an array of N/8 integers, that of a struct an object with all fields. TensorStore (r*) and zarr-python (struct) also read base64, so it is accepted.";

    CodecConfiguration "ZM050" Error "tolerated codec configuration"
        "The configuration of a codec does not have the specified form, but the codec knows its meaning. The message says what was found and how it was read.";
    SkippedCodec "ZM051" Warning "unknown codec skipped"
        "The codec is unknown and has must_understand: false, so reading skips it. Writing is refused, because the written chunks would lack the work of the codec.";
    SkippedTransformer "ZM052" Warning "unknown storage transformer ignored"
        "The storage transformer is unknown and has must_understand: false, so it is ignored.";

    ReservedName "ZM060" Error "reserved node name"
        "Names that start with __ are reserved. xarray writes __xarray_dataarray_variable__. A node with such a name is listed and can be opened, but not created.";
    OddName "ZM061" Error "node name that must not be created"
        "The name breaks a rule of the specification (it is zarr.json, or has a character that some store cannot hold). The node is listed and can be opened, but not created.";

    RepeatedDimensionName "ZM070" Warning "repeated dimension name"
        "Two dimensions have the same name. The specification only recommends distinct names, but TensorStore refuses the array.";
    ShortHand "ZM071" Warning "short-hand extension"
        "A chunk grid, key encoding, codec or storage transformer is given as a plain string. This is allowed since 3.1; zarr-python, TensorStore and zarrita refuse it. Write an object with name.";
    ObjectDataType "ZM072" Warning "core data type as an object"
        "A core data type is given as an object with only a name. zarr-python and TensorStore refuse it. Write the plain string.";
    ExplicitWaiver "ZM073" Warning "must_understand is written"
        "TensorStore and readers of version 3.0 refuse must_understand in a chunk grid, key encoding or codec, even if it is true.";
    LargeInteger "ZM074" Warning "integer beyond 2^53 in attributes"
        "JavaScript readers store numbers as doubles, which cannot represent every integer beyond 2^53.";
    UnregisteredName "ZM075" Warning "name that cannot be registered"
        "A registered name starts with a lower-case letter, followed by at least one lower-case letter, digit, '-', '_' or '.'. Other names, including URIs, are permitted but discouraged.";
    RareDataType "ZM076" Warning "data type that few implementations read"
        "zarr-python and zarrita do not read r* types, nor the types of few bits or of machine learning, such as int4, bfloat16 and float8_e4m3.";
    AdditionalMember "ZM077" Warning "additional member"
        "A member that the specification does not define is discouraged, even with must_understand: false; zarr-python up to 3.1.6 refuses it in groups. Put it into attributes.";
    NulInText "ZM078" Warning "U+0000 in a name"
        "A member name or dimension name contains the character U+0000, at which many programs cut or refuse the name.";
    RareChunkGrid "ZM079" Warning "chunk grid that few implementations read"
        "The chunk grid is rectilinear: its chunks differ in length. TensorStore and zarrita refuse it. zarr-python reads it since 3.2 if array.rectilinear_chunks is enabled.";

    TwoFormats "ZM080" Error "documents of two formats"
        "A node has a zarr.json and a document of format 2. The zarr.json is read, as in zarr-python; other readers may read the other document.";
    ArrayAndGroup "ZM081" Error "array and group at one path"
        "A node of format 2 is both an array and a group. It is read as an array.";
    GroupMember "ZM082" Error "additional member in a group of format 2"
        "The document of a group of format 2 has only the member zarr_format; netCDF-C and zarr-python add members of their own. They are kept and ignored.";
    BrokenAttributes "ZM083" Error "attributes that cannot be read"
        "The document with the attributes of a node of format 1 or 2 is not a JSON object. The node is opened without attributes, which cannot be changed.";
    MissingMember "ZM084" Error "missing member of an array of format 2"
        "compressor, filters, fill_value and order are required in an array of format 2. Missing ones are read as null, null, null and \"C\".";
    NullSeparator "ZM085" Error "dimension_separator is null"
        "dimension_separator must be \".\" or \"/\". null is read as if it were absent: \".\".";
    DtypeSpelling "ZM086" Error "unusual spelling of a dtype"
        "The dtype does not have the specified form, for example float32 in place of a type string, or a number of several bytes without a byte order, which is read as little-endian.";
    OldFill "ZM087" Error "fill value in an unusual form"
        "The fill value of an array of format 1 or 2 does not have the form that the specification requires for its dtype, for example a short base64 string, 0 for a string, \"NaT\", a bool for a number. The message says how it was read.";
    UndefinedFill "ZM088" Warning "fill value null"
        "The fill value is null, so elements of chunks that are not stored are undefined. They are read as zero, an empty string or NaT.";
    OrderOfVersion1 "ZM089" Warning "order F in format 1"
        "zarr-python 1 stored arrays of order \"F\" in C order unless the compression was blosc, against the specification. They are read as they were written; an option reads them according to the specification.";
    CompressionAlias "ZM090" Error "compression under another name"
        "In format 1 the compression gzip means zlib, and null means none. Do not write either in a document.";
    MissingAttributes "ZM091" Error "no attributes in format 1"
        "An array of format 1 must have a document with its attributes, even if they are empty. They are read as empty.";

    UnlistedName "ZM092" Warning "name that is not registered"
        "The name of an extension is not in the registry zarr-extensions as of 2026-07-14, so readers cannot look up its meaning. Register the name, or use it only for data that you do not share.";
}

impl Code {
    /// Returns the code with this id, such as `ZM001`.
    pub fn from_id(id: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|c| c.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_sorted_and_explained() {
        let ids: Vec<&str> = Code::ALL.iter().map(|c| c.id()).collect();
        assert!(ids.windows(2).all(|w| w[0] < w[1]), "{ids:?}");
        for c in Code::ALL {
            assert!(c.id().len() == 5 && !c.title().is_empty() && c.explanation().ends_with('.'), "{c}");
            assert_eq!(Code::from_id(c.id()), Some(*c));
        }
        assert_eq!(Code::from_id("ZM999"), None);
    }
}
