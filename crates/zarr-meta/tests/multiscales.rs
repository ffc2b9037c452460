//! Documents of images in several resolutions, and of plates.

use zarr_meta::json::{Object, Value, json};
use zarr_meta::multiscale::{
    AxisKind, MultiscaleDocument, MultiscaleFormat, OmeVersion, PlateDocument, WellDocument, labels,
};
use zarr_meta::{Format, MetaErrorKind};

fn object(value: &Value) -> Object {
    value.as_object().unwrap()
}

/// An image of OME-Zarr 0.5 or, with coordinate systems, 0.6.
fn image(version: &str) -> Value {
    let axes = json!([
        { "name": "t", "type": "time" }, { "name": "q" },
        { "name": "y", "type": "space", "unit": "micrometer" }, { "name": "x", "type": "space" },
    ]);
    let transforms = json!([
        { "type": "scale", "scale": [1.0, 1.0, 0.5, 0.25] },
        { "type": "translation", "translation": [0.0, 0.0, 2.0, 4.0] },
    ]);
    let omero = json!({
        "channels": [{ "label": "a", "color": "00FF00", "window": { "start": 1, "end": 9, "min": 0, "max": 99 } }],
        "rdefs": { "defaultT": 1, "defaultZ": 2 },
    });
    let image = match version {
        "0.6" => json!({
            "coordinateSystems": [{ "name": "other", "axes": [] }, { "name": "own", "axes": axes }],
            "datasets": [{ "path": "s0", "coordinateTransformations": [{
                "type": "sequence", "transformations": transforms, "input": { "path": "s0" }, "output": { "name": "own" },
            }] }],
        }),
        _ => json!({
            "axes": axes, "datasets": [{ "path": "s0", "coordinateTransformations": transforms }],
            "coordinateTransformations": [{ "type": "scale", "scale": [1.0, 1.0, 2.0, 2.0] }],
        }),
    };
    json!({ "ome": {
        "version": version, "multiscales": [image], "omero": omero, "image-label": { "colors": [] }, "labels": ["a/b"],
    } })
}

fn grid() -> Value {
    json!({
        "multiscales": { "resampling_method": "average", "layout": [
            { "asset": "0", "transform": { "scale": [1.0, 1.0], "translation": [0.0, 0.0] } },
            { "asset": "1", "derived_from": "0", "transform": { "scale": [2.0, 3.0] }, "spatial:transform": [20.0, 0.0, 5.0, 0.0, -20.0, 7.0] },
        ] },
        "spatial:dimensions": ["y", "x"],
    })
}

fn plate() -> Value {
    json!({ "ome": {
        "version": "0.5",
        "plate": { "name": "p", "rows": [{ "name": "A" }], "columns": [{ "name": "1" }], "wells": [{ "path": "A/1" }] },
        "well": { "images": [{ "path": "0" }, { "path": "1" }] },
    } })
}

#[test]
fn images_of_0_5_and_0_6_say_the_same() {
    for (version, wanted) in [("0.5", OmeVersion::V05), ("0.6", OmeVersion::V06)] {
        let image = MultiscaleDocument::read(&object(&image(version)), Format::V3).unwrap().unwrap();
        assert_eq!(image.format, MultiscaleFormat::Ome(wanted));
        let kinds: Vec<AxisKind> = image.axes.iter().map(|axis| axis.kind).collect();
        assert_eq!(kinds, [AxisKind::Time, AxisKind::Other, AxisKind::Space, AxisKind::Space]);
        let place = image.levels[0].place.clone().unwrap();
        assert_eq!((&place.scale[2..], &place.translation[2..]), (&[0.5, 0.25][..], &[2.0, 4.0][..]));
        // That of the image is apart, so that a writer can keep it.
        assert_eq!(
            image.after.map(|after| place.then(&after).translation[3]),
            (version == "0.5").then_some(8.0)
        );
        assert_eq!((image.default_time, image.is_label, image.channels.len()), (Some(1), true, 1));
    }
}

#[test]
fn a_group_can_have_an_image_and_a_grid() {
    let mut both = object(&image("0.5"));
    for member in object(&grid()).members() {
        both.set(&member.name().unwrap(), member.value());
    }
    assert!(MultiscaleDocument::read_ome(&both, Format::V3).unwrap().is_some());
    let grid = MultiscaleDocument::read_convention(&both).unwrap().unwrap();
    assert_eq!(grid.paths().collect::<Vec<_>>(), ["0", "1"]);
    assert_eq!(grid.levels[1].place.as_ref().unwrap().scale, [2.0, 3.0]);
    assert_eq!(grid.levels[1].pixels, Some([(-20.0, -3.0), (20.0, 15.0)]));
}

#[test]
fn plates_name_wells_and_wells_name_images() {
    let attributes = object(&plate());
    let plate = PlateDocument::read(&attributes, Format::V3).unwrap().unwrap();
    assert_eq!(
        (plate.rows, plate.columns, plate.wells),
        (vec!["A".into()], vec!["1".into()], vec!["A/1".into()])
    );
    assert_eq!(plate.version.as_deref(), Some("0.5"));
    let well = WellDocument::read(&attributes, Format::V3).unwrap().unwrap();
    assert_eq!(well.images, ["0", "1"]);
    // A text of this name in a dataset is no plate, and `ome` counts in format 3 only.
    assert_eq!(PlateDocument::read(&object(&json!({ "plate": "A12" })), Format::V2).unwrap(), None);
    assert_eq!(PlateDocument::read(&attributes, Format::V2).unwrap(), None);
    let listed = json!({ "labels": ["cells", "../up", 3, "a//b", ""] });
    assert_eq!(labels(&object(&listed), Format::V2), ["cells"]);
}

/// Returns the document with each of its values replaced by `by`.
fn replaced(of: &Value, by: &Value) -> Vec<Value> {
    let mut all = vec![by.clone()];
    if let Some(own) = of.as_object() {
        for member in own.members() {
            for value in replaced(&member.value(), by) {
                let mut copy = own.clone();
                copy.set(&member.name().unwrap(), value);
                all.push(copy.into());
            }
        }
    } else if let Some(elements) = of.elements() {
        let elements: Vec<Value> = elements.collect();
        for (at, element) in elements.iter().enumerate() {
            all.extend(replaced(element, by).into_iter().map(|value| {
                let place =
                    |(number, own): (usize, &Value)| if number == at { value.clone() } else { own.clone() };
                elements.iter().enumerate().map(place).collect()
            }));
        }
    }
    all
}

#[test]
fn hostile_documents_are_typed_errors() {
    let many: Value = (0..300).map(|_| json!({ "path": "s0" })).collect();
    let values = [
        json!(null),
        json!(-1),
        json!(1e308),
        json!(""),
        json!("../../x"),
        json!("/x"),
        json!("9.9"),
        json!([]),
        json!({}),
        json!([[]]),
        json!([1, 2, 3, 4]),
        json!({ "path": 1 }),
        json!([{ "type": "sequence" }]),
        many,
    ];
    let (mut read, mut refused) = (0, 0);
    for of in [image("0.5"), image("0.6"), grid(), plate()] {
        for by in &values {
            for document in replaced(&of, by).iter().filter_map(Value::as_object) {
                for format in [Format::V2, Format::V3] {
                    let results = [
                        MultiscaleDocument::read(&document, format).map(drop),
                        PlateDocument::read(&document, format).map(drop),
                        WellDocument::read(&document, format).map(drop),
                    ];
                    labels(&document, format);
                    for result in results {
                        let Err(e) = result else {
                            read += 1;
                            continue;
                        };
                        refused += 1;
                        use MetaErrorKind::{Invalid, LimitExceeded, Unsupported};
                        assert!([Invalid, LimitExceeded, Unsupported].contains(&e.kind()), "{e:#}");
                        assert!(e.pointer().starts_with('/'), "{e:#}");
                    }
                }
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} {refused}");
}
