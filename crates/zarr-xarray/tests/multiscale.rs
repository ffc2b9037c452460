//! Images and grids in several resolutions.

use zarr_hierarchy::zarr_array::traits::Key;
use zarr_hierarchy::zarr_array::{DataType, Storage, block_on, standard};
use zarr_hierarchy::{ArrayMeta, Format, GroupOptions, blocking::Group};
use zarr_meta::json::{Value, json};
use zarr_store::MemoryStore;
use zarr_xarray::{
    AxisKind, Multiscale, MultiscaleFormat, OmeVersion, XarrayErrorKind, XarrayResult, blocking,
};

/// Creates a group with these attributes, and arrays of 16-bit integers.
fn group(format: Format, attributes: &Value, arrays: &[(&str, &[u64])]) -> Group {
    let storage = Storage::from(MemoryStore::new());
    let options = GroupOptions::new().format(format);
    let meta = zarr_meta::GroupMeta::new(format).unwrap().with_attributes(attributes.clone()).unwrap();
    let group = Group::create_with(storage, "/", meta, &standard(), &options).unwrap();
    for (path, shape) in arrays {
        let names = ["t", "c", "z", "y", "x"][5 - shape.len()..].iter().copied();
        let meta = match format {
            Format::V2 => ArrayMeta::builder_v2(shape.to_vec(), "<u2").build(),
            _ => ArrayMeta::builder(shape.to_vec(), DataType::UInt16).dimension_names(names).build(),
        };
        group.create_array(path, meta.unwrap()).unwrap();
    }
    group
}

fn read(format: Format, attributes: &Value, arrays: &[(&str, &[u64])]) -> XarrayResult<Option<Multiscale>> {
    blocking::multiscale(&group(format, attributes, arrays))
}

fn axes(names: &[&str]) -> Value {
    let axis = |name: &&str| match *name {
        "t" => json!({ "name": "t", "type": "time", "unit": "second" }),
        "c" => json!({ "name": "c", "type": "channel" }),
        name => json!({ "name": name, "type": "space", "unit": "micrometer" }),
    };
    names.iter().map(axis).collect()
}

fn dataset(path: &str, scale: &[f64], translation: &[f64]) -> Value {
    let mut transforms = vec![json!({ "type": "scale", "scale": scale })];
    if !translation.is_empty() {
        transforms.push(json!({ "type": "translation", "translation": translation }));
    }
    json!({ "path": path, "coordinateTransformations": transforms })
}

const THREE: [(&str, &[u64]); 3] = [("s0", &[2, 40, 60]), ("s1", &[2, 20, 30]), ("s2", &[2, 10, 15])];

/// An image of version 0.4 or 0.5.
fn image() -> Value {
    json!({
        "name": "cells", "type": "mean", "axes": axes(&["c", "y", "x"]),
        "datasets": [
            dataset("s0", &[1.0, 0.5, 0.5], &[]),
            dataset("s1", &[1.0, 1.0, 1.0], &[0.0, 0.25, 0.25]),
            dataset("s2", &[1.0, 2.0, 2.0], &[0.0, 0.75, 0.75]),
        ],
    })
}

#[test]
fn images_of_all_versions_have_the_same_levels() {
    let mut old = image().as_object().unwrap();
    old.set("version", "0.4");
    let system = json!({ "name": "physical", "axes": axes(&["c", "y", "x"]) });
    let end = |path: &str| json!({ "input": { "path": path }, "output": { "name": "physical" } });
    let joined = |path: &str, transform: Value| {
        let mut transform = transform.as_object().unwrap();
        for member in end(path).as_object().unwrap().members() {
            transform.set(&member.name().unwrap(), member.value());
        }
        json!({ "path": path, "coordinateTransformations": [transform.to_value()] })
    };
    let sequence = |scale: f64, at: f64| {
        json!({ "type": "sequence", "transformations": [
            { "type": "scale", "scale": [1.0, scale, scale] },
            { "type": "translation", "translation": [0.0, at, at] },
        ] })
    };
    let new = json!({
        "name": "cells", "type": "mean", "coordinateSystems": [system],
        "datasets": [
            joined("s0", json!({ "type": "scale", "scale": [1.0, 0.5, 0.5] })),
            joined("s1", sequence(1.0, 0.25)),
            joined("s2", sequence(2.0, 0.75)),
        ],
    });
    for (format, attributes, wanted) in [
        (Format::V2, json!({ "multiscales": [old.to_value()] }), MultiscaleFormat::Ome(OmeVersion::V04)),
        (
            Format::V3,
            json!({ "ome": { "version": "0.5", "multiscales": [image()] } }),
            MultiscaleFormat::Ome(OmeVersion::V05),
        ),
        (
            Format::V3,
            json!({ "ome": { "version": "0.6", "multiscales": [new] } }),
            MultiscaleFormat::Ome(OmeVersion::V06),
        ),
    ] {
        let image = read(format, &attributes, &THREE).unwrap().unwrap();
        assert_eq!(image.format, wanted);
        assert_eq!((image.name.as_deref(), image.method.as_deref()), (Some("cells"), Some("mean")));
        let kinds: Vec<AxisKind> = image.axes.iter().map(|axis| axis.kind).collect();
        assert_eq!(kinds, [AxisKind::Channel, AxisKind::Space, AxisKind::Space]);
        assert_eq!(image.axes[1].unit.as_deref(), Some("micrometer"));
        let levels: Vec<_> = image.levels.iter().map(|level| (level.path.as_str(), level.shape[2])).collect();
        assert_eq!(levels, [("s0", 60), ("s1", 30), ("s2", 15)]);
        assert_eq!(image.levels[2].scale, [1.0, 2.0, 2.0]);
        assert_eq!(image.levels[2].translation, [0.0, 0.75, 0.75]);
        assert_eq!(image.sides(), [1, 2]);
        assert_eq!(image.axis(AxisKind::Channel), Some(0));
        for (pixels, path) in [(0, "s2"), (15, "s2"), (16, "s1"), (31, "s0"), (1000, "s0")] {
            assert_eq!(image.level_for(pixels).path, path, "{pixels}");
        }
    }
}

#[test]
fn transformations_of_the_image_follow_those_of_the_level() {
    let mut image = image().as_object().unwrap();
    let after = [
        json!({ "type": "scale", "scale": [1.0, 2.0, 2.0] }),
        json!({ "type": "translation", "translation": [0.0, 10.0, 20.0] }),
    ];
    image.set("coordinateTransformations", after);
    let attributes = json!({ "ome": { "version": "0.5", "multiscales": [image.to_value()] } });
    let image = read(Format::V3, &attributes, &THREE).unwrap().unwrap();
    assert_eq!(image.levels[1].scale, [1.0, 2.0, 2.0]);
    assert_eq!(image.levels[1].translation, [0.0, 10.5, 20.5]);
}

#[test]
fn channels_labels_and_defaults_are_read() {
    let omero = json!({
        "channels": [
            { "label": "DAPI", "color": "0000ff", "window": { "min": 0, "max": 65535, "start": 10, "end": 900 } },
            { "color": "#00FF0080", "active": false, "window": { "start": 10 } },
            { "color": "red" },
        ],
        "rdefs": { "defaultT": 3, "defaultZ": 7 },
    });
    let attributes = json!({ "ome": { "version": "0.5", "multiscales": [image()], "omero": omero } });
    let group = group(Format::V3, &attributes, &THREE);
    let names = json!({ "ome": { "labels": ["nuclei", "../above", 3] } });
    group.create_group("labels").unwrap().set_attributes(names).unwrap();
    let image = blocking::multiscale(&group).unwrap().unwrap();
    let channels: Vec<_> =
        image.channels.iter().map(|of| (of.label.as_deref(), of.color, of.window)).collect();
    let wanted = [
        (Some("DAPI"), Some([0, 0, 255]), Some((10.0, 900.0))),
        (None, Some([0, 255, 0]), None),
        (None, None, None),
    ];
    assert_eq!(channels, wanted);
    assert_eq!(image.channels[0].limits, Some((0.0, 65535.0)));
    assert_eq!(
        image.channels.iter().map(|channel| channel.is_active).collect::<Vec<_>>(),
        [true, false, true]
    );
    assert_eq!((image.default_time, image.default_depth), (Some(3), Some(7)));
    assert_eq!((image.labels, image.is_label), (vec!["nuclei".to_owned()], false));

    let colors = json!({ "colors": [
        { "label-value": 1, "rgba": [255, 0, 0, 128] }, { "label-value": 2 }, { "label-value": 3, "rgba": [1, 2, 3, 400] },
    ] });
    let attributes =
        json!({ "ome": { "version": "0.5", "multiscales": [self::image()], "image-label": colors } });
    let image = read(Format::V3, &attributes, &THREE).unwrap().unwrap();
    let colors: Vec<_> = image.label_colors.iter().map(|color| (color.label, color.rgba)).collect();
    assert_eq!((colors, image.is_label), (vec![(1, [255, 0, 0, 128])], true));
}

#[test]
fn layouts_are_placed_by_pixels_or_by_relative_scales() {
    let layout = |spatial: bool| {
        let entry = |asset: &str, from: Option<&str>, step: f64| {
            let mut entry = json!({ "asset": asset }).as_object().unwrap();
            if let Some(from) = from {
                entry.set("derived_from", from);
                entry.set("transform", json!({ "scale": [2.0, 2.0], "translation": [0.0, 0.0] }));
            }
            if spatial {
                entry.set("spatial:transform", json!([step, 0.0, 500.0, 0.0, -step, 90.0]));
            }
            entry.to_value()
        };
        json!({
            "multiscales": { "resampling_method": "average", "layout": [
                entry("0", None, 10.0), entry("1", Some("0"), 20.0), entry("2", Some("1"), 40.0),
            ] },
            "spatial:dimensions": ["y", "x"],
        })
    };
    let arrays: [(&str, &[u64]); 3] = [("0", &[15, 18]), ("1", &[8, 9]), ("2", &[4, 5])];
    let grid = read(Format::V3, &layout(true), &arrays).unwrap().unwrap();
    assert_eq!((grid.format, grid.method.as_deref()), (MultiscaleFormat::Convention, Some("average")));
    assert_eq!(
        (&grid.levels[2].scale[..], &grid.levels[2].translation[..]),
        (&[-40.0, 40.0][..], &[70.0, 520.0][..])
    );
    let plain = read(Format::V3, &layout(false), &arrays).unwrap().unwrap();
    assert_eq!(
        (&plain.levels[2].scale[..], &plain.levels[2].translation[..]),
        (&[4.0, 4.0][..], &[1.5, 1.5][..])
    );
    // Without any transform the shapes say the place.
    let bare = json!({ "multiscales": { "layout": [{ "asset": "0" }, { "asset": "1" }] } });
    let bare = read(Format::V3, &bare, &arrays).unwrap().unwrap();
    assert_eq!(bare.levels[1].scale, [15.0 / 8.0, 2.0]);
}

#[test]
fn levels_that_are_groups_name_their_arrays() {
    let attributes = json!({ "multiscales": { "layout": [{ "asset": "0" }, { "asset": "1" }] } });
    let arrays: [(&str, &[u64]); 6] = [
        ("0/b04", &[8, 10]),
        ("0/b08", &[8, 10]),
        ("0/x", &[10]),
        ("1/b04", &[4, 5]),
        ("1/b08", &[4, 5]),
        ("1/small", &[2, 2]),
    ];
    let grid = read(Format::V3, &attributes, &arrays).unwrap().unwrap();
    assert_eq!(grid.levels[0].arrays, ["0/b04", "0/b08"]);
    assert_eq!(
        (&grid.levels[1].arrays[..], &grid.levels[1].shape[..]),
        (&["1/b04".into(), "1/b08".into()][..], &[4, 5][..])
    );
}

#[test]
fn a_level_with_an_unknown_codec_is_listed() {
    let attributes = json!({ "multiscales": { "layout": [{ "asset": "0" }] } });
    let group = group(Format::V3, &attributes, &[("0", &[8, 10])]);
    let key: Key = "0/zarr.json".parse().unwrap();
    let text = block_on(group.storage().get(&key, 1 << 20)).unwrap().unwrap();
    let text = String::from_utf8(text.to_vec()).unwrap();
    let other = text.replace("\"zstd\"", "\"unheard\"");
    assert_ne!(text, other);
    block_on(group.storage().put(&key, other.into_bytes())).unwrap();
    assert!(group.array("0").is_err());
    assert_eq!(blocking::multiscale(&group).unwrap().unwrap().levels[0].shape, [8, 10]);
}

#[test]
fn wrong_documents_are_typed_errors() {
    use XarrayErrorKind::{Invalid, Unsupported};
    let ome = |version: &str, image: Value| json!({ "ome": { "version": version, "multiscales": [image] } });
    let with = |member: &str, value: Value| {
        let mut image = image().as_object().unwrap();
        image.set(member, value);
        ome("0.5", image.to_value())
    };
    let level = |dataset: Value| with("datasets", json!([dataset]));
    let many: Value = (0..300).map(|_| dataset("s0", &[1.0, 1.0, 1.0], &[])).collect();
    for (attributes, kind) in [
        (ome("0.7", image()), Unsupported),
        (ome("0.5", json!(3)), Invalid),
        (with("axes", json!([])), Invalid),
        (with("axes", json!([{ "type": "space" }])), Invalid),
        (with("axes", axes(&["y", "x"])), Invalid),
        (with("datasets", json!([])), Invalid),
        (with("datasets", many), Unsupported),
        (level(json!({ "path": 0 })), Invalid),
        (level(json!({ "path": "../s0" })), Invalid),
        (level(json!({ "path": "/s0" })), Invalid),
        (level(json!({ "path": "absent" })), Invalid),
        (level(dataset("s0", &[1.0, 0.0, 1.0], &[])), Invalid),
        (level(dataset("s0", &[1.0, 1.0], &[])), Invalid),
        (level(json!({ "path": "s0", "coordinateTransformations": [{ "type": "affine" }] })), Unsupported),
        (
            level(json!({ "path": "s0", "coordinateTransformations": [{ "type": "scale", "path": "p" }] })),
            Unsupported,
        ),
        (json!({ "multiscales": { "layout": [] } }), Invalid),
        (
            json!({ "multiscales": { "layout": [{ "asset": "s0", "transform": { "scale": [1, "a"] } }] } }),
            Invalid,
        ),
        (
            json!({ "multiscales": { "layout": [{ "asset": "s0", "transform": { "scale": [2, 2] } }] } }),
            Invalid,
        ),
    ] {
        let error = read(Format::V3, &attributes, &THREE).unwrap_err();
        assert_eq!(error.kind(), kind, "{attributes}: {error:#}");
        let starts = ["level \"", "multiscales: ", "attributes: member \"/"];
        assert!(starts.into_iter().any(|start| error.to_string().starts_with(start)), "{error}");
    }
    for nothing in
        [json!({}), json!({ "multiscales": 3 }), json!({ "multiscales": [] }), json!({ "ome": {} })]
    {
        assert_eq!(read(Format::V3, &nothing, &THREE), Ok(None), "{nothing}");
    }
}
