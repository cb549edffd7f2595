//! `supple bake` as its users meet it, and what other commands make of what it stored.

use super::common::{changed_bar, fails, folder, move_a_vertex, notes_of, npy_rows, succeeds};

#[test]
fn baked_centers_are_used_as_long_as_they_fit() {
    let folder = folder();
    let bake = |more: &[&str]| {
        let arguments = [&["bake", "@bar:2000", "-m", "cor"], more].concat();
        notes_of(&arguments, folder.path())
    };
    let said = bake(&["-o", "bar.gltf"]);
    assert!(said.contains("have a center of rotation"), "{said}");
    assert!(said.contains("_CENTER_OF_ROTATION"), "{said}");
    assert!(said.contains("follow one joint"), "{said}");
    bake(&["--sigma", "0.3", "-o", "wide.glb"]);
    let moved = folder.path().join("moved.gltf");
    move_a_vertex(&folder.path().join("bar.gltf"), &moved);

    let deform = |file: &str, method: &str| {
        let moment = ["--clip", "bend-120", "--time", "1", "-o", "out.npy"];
        let arguments = [&["deform", file, "-m", method], &moment[..]].concat();
        let said = notes_of(&arguments, folder.path());
        (said, npy_rows(&folder.path().join("out.npy")))
    };
    let (said, expected) = deform("@bar:2000", "cor");
    assert_eq!(said, "");
    let (said, found) = deform("bar.gltf", "cor");
    assert_eq!(said, "note: using the centers of rotation in the file\n");
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-6));
    let (said, wide) = deform("wide.glb", "cor");
    assert_eq!(
        said,
        "note: using the centers of rotation in the file (sigma 0.3, epsilon 0.1, accuracy \
         0.00003)\n"
    );
    assert_ne!(wide, expected);
    let (said, _) = deform("moved.gltf", "cor");
    assert_eq!(said, stale("computing new ones"));
    assert_eq!(deform("bar.gltf", "linear").0, "", "of no interest here");
    let options = "(sigma 0.3, epsilon 0.1, accuracy 0.00003)\n";
    let (said, wide) = deform("wide.glb", "cor-procrustes");
    assert!(said.ends_with(options), "{said}");
    let (said, narrow) = deform("bar.gltf", "cor-procrustes");
    assert_eq!(said, "", "the options are the usual ones");
    assert_ne!(wide, narrow);

    let using = "note: using the centers of rotation in the file\n";
    let render = [
        "render", "bar.gltf", "-m", "cor", "--size", "16x16", "-o", "bar.png",
    ];
    assert_eq!(notes_of(&render, folder.path()), using);
    let methods = "linear,cor,cor:per-joint";
    let compare = [
        "compare", "bar.gltf", "-m", methods, "--size", "24x24", "-o", "page",
    ];
    assert_eq!(notes_of(&compare, folder.path()), using);

    // Cleaning weights changes none; a pose has no use for centers.
    let convert = ["convert", "moved.gltf", "-o", "clean.glb"];
    assert_eq!(notes_of(&convert, folder.path()), stale("kept as they are"));
    succeeds(&["convert", "bar.gltf", "-o", "clean.glb"], folder.path());
    assert_eq!(deform("clean.glb", "cor").0, using);
    let pose = ["deform", "bar.gltf", "--time", "1", "-o", "posed.gltf"];
    succeeds(&pose, folder.path());
    let posed = std::fs::read_to_string(folder.path().join("posed.gltf")).expect("written");
    assert!(!posed.contains("_CENTER_OF_ROTATION") && !posed.contains("centerOfRotation"));

    let info = |file: &str| {
        let json = succeeds(&["info", file, "--json"], folder.path());
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let text = succeeds(&["info", file], folder.path());
        (json["stored_centers"].clone(), text)
    };
    assert_eq!(info("@bar:2000").0, serde_json::Value::Null);
    let (json, text) = info("wide.glb");
    assert_eq!(
        (&json["state"], &json["sigma"]),
        (&"fit".into(), &0.3.into())
    );
    assert!(
        text.contains(": fit") && text.contains("sigma 0.3"),
        "{text}"
    );
    let (json, text) = info("moved.gltf");
    assert_eq!(json["state"], "stale");
    assert!(text.contains("stale, bake again"), "{text}");
    assert!(text.contains("centers of rotation are stale"), "{text}");
}

/// What is said of centers that do not fit any more.
fn stale(done: &str) -> String {
    format!(
        "note: the centers of rotation in the file are stale \
         (the surface or the weights have changed since they were computed); {done}; \
         'supple bake -m cor' stores new ones\n"
    )
}

#[test]
fn pictures_show_the_centers_that_are_stored() {
    let folder = folder();
    for (sigma, file) in [("0.1", "narrow.gltf"), ("3", "wide.glb")] {
        let bake = [
            "bake",
            "@arm:2000",
            "-m",
            "cor",
            "--sigma",
            sigma,
            "-o",
            file,
        ];
        notes_of(&bake, folder.path());
    }
    move_a_vertex(
        &folder.path().join("narrow.gltf"),
        &folder.path().join("moved.gltf"),
    );
    let draw = |file: &str, method: &str| {
        let picture = ["--overlay", "centers", "--size", "96x96", "-o", "o.png"];
        let arguments = [&["render", file, "-m", method], &picture[..]].concat();
        let said = notes_of(&arguments, folder.path());
        let picture = std::fs::read(folder.path().join("o.png")).expect("written");
        (said, picture)
    };
    for method in ["cor", "linear"] {
        let (said, narrow) = draw("narrow.gltf", method);
        assert!(said.starts_with("note: using the centers"), "{said}");
        assert_ne!(draw("wide.glb", method).1, narrow, "{method}");
        assert_eq!(draw("moved.gltf", method).0, stale("computing new ones"));
    }
    assert_eq!(draw("@arm:2000", "linear").0, "");

    // The page shows them, too.
    let page = |file: &str| {
        let options = ["-m", "cor", "--clip", "0", "--size", "24x24", "-o", "page"];
        notes_of(&[&["compare", file], &options[..]].concat(), folder.path());
        let page = std::fs::read_to_string(folder.path().join("page/index.html"));
        let page = page.expect("written");
        let (_, centers) = page
            .split_once("<h3>Centers of rotation")
            .expect("the section exists");
        // At rest, where the surface is the same about any center.
        let (at_rest, _) = centers.split_once("</figure>").expect("a picture");
        at_rest.to_owned()
    };
    assert_ne!(page("narrow.gltf"), page("wide.glb"));
}

/// The accessor of an attribute of the first primitive.
fn accessor<'a>(json: &'a mut serde_json::Value, name: &str) -> &'a mut serde_json::Value {
    let index = json["meshes"][0]["primitives"][0]["attributes"][name].as_u64();
    &mut json["accessors"][index.expect("an index") as usize]
}

#[test]
fn broken_centers_do_not_make_a_file_unreadable() {
    let folder = folder();
    changed_bar(folder.path(), |json| {
        accessor(json, "_CENTER_OF_ROTATION")["type"] = "VEC2".into();
    });
    let info = succeeds(&["info", "bar.gltf"], folder.path());
    for phrase in ["broken, bake again", "are broken: accessors[", "Vec2"] {
        assert!(info.contains(phrase), "{info}");
    }
    let json = succeeds(&["info", "bar.gltf", "--json"], folder.path());
    assert!(json.contains("\"state\": \"broken\""), "{json}");
    succeeds(&["deform", "bar.gltf", "-o", "o.npy"], folder.path());
    let deform = ["deform", "bar.gltf", "-m", "cor", "-o", "o.npy"];
    let said = notes_of(&deform, folder.path());
    assert!(
        said.contains("are broken (accessors[") && said.contains("computing new ones"),
        "{said}"
    );
    notes_of(
        &["bake", "bar.gltf", "-m", "cor", "-o", "mended.glb"],
        folder.path(),
    );
    let info = succeeds(&["info", "mended.glb"], folder.path());
    assert!(info.contains(": fit"), "{info}");
}

/// Makes all numbers of an attribute zero, which they are without a view.
fn zero(json: &mut serde_json::Value, name: &str) {
    let accessor = accessor(json, name).as_object_mut().expect("an object");
    accessor.remove("bufferView");
}

#[test]
fn where_there_is_no_center_the_reason_is_reported() {
    type Change = fn(&mut serde_json::Value);
    let changes: [(Change, &str); 3] = [
        (
            |json| json["meshes"][0]["primitives"][0]["mode"] = 0.into(),
            "no area to compute centers from",
        ),
        (
            |json| zero(json, "POSITION"),
            "no area to compute centers from",
        ),
        (
            |json| zero(json, "JOINTS_0"),
            "each vertex follows a single joint",
        ),
    ];
    for (change, reason) in changes {
        let folder = folder();
        changed_bar(folder.path(), change);
        let bake = ["bake", "bar.gltf", "-m", "cor", "-o", "o.glb"];
        let said = notes_of(&bake, folder.path());
        assert!(said.starts_with("note: 0 of "), "{said}");
        assert!(said.contains(reason), "{said}");
        let render = [
            "render",
            "o.glb",
            "--overlay",
            "centers",
            "--size",
            "9x9",
            "-o",
            "o.png",
        ];
        let said = notes_of(&render, folder.path());
        let expected = "no vertex has a center of rotation: ";
        assert!(said.contains(expected) && said.contains(reason), "{said}");
    }
}

#[test]
fn what_cannot_be_baked_is_explained() {
    let folder = folder();
    succeeds(&["deform", "@bar:2000", "-o", "static.glb"], folder.path());
    let cases: &[(i32, &[&str], &str)] = &[
        (
            2,
            &["@bar", "-m", "linear", "-o", "o.glb"],
            "'linear' has nothing to bake; methods that do: cor, ddm, ddm-v1, ddm-v2, ddm-v3, \
             ddm-v4, ddm-v5",
        ),
        (
            2,
            &["@bar", "-m", "wobbly", "-o", "o.glb"],
            "[possible values: cor, ddm, ddm-v1, ddm-v2, ddm-v3, ddm-v4, ddm-v5]",
        ),
        (
            2,
            &["@bar", "-m", "cor", "-o", "o.npy"],
            "the extension must be .glb or .gltf",
        ),
        (
            2,
            &["@bar", "-m", "cor", "--sigma", "-1", "-o", "o.glb"],
            "sigma is -1, but must be from 0.001",
        ),
        (
            2,
            &["@bar", "-m", "cor", "--accuracy", "nan", "-o", "o.glb"],
            "accuracy is NaN",
        ),
        (2, &["@bar", "-o", "o.glb"], "--method"),
        (
            2,
            &["@bar", "-m", "cor:per-joint", "-o", "o.glb"],
            "affects deforming, which is not stored; bake with -m cor",
        ),
        (
            1,
            &["static.glb", "-m", "cor", "-o", "o.glb"],
            "no mesh of the file has a skin",
        ),
        (
            1,
            &["static.glb", "-m", "ddm", "-o", "o.glb"],
            "no mesh of the file has a skin",
        ),
        (
            2,
            &["@bar", "-m", "ddm", "--as-skin", "-o", "o.glb"],
            "--as-skin is for 'ddm-v5'",
        ),
        (
            2,
            &["@bar", "-m", "cor", "--check", "-o", "o.glb"],
            "--check is for bakes of direct delta mush",
        ),
        (
            2,
            &["@bar", "-m", "cor", "--rigid", "-o", "o.glb"],
            "--rigid has no effect on 'cor'",
        ),
        (
            2,
            &["@bar", "-m", "ddm", "--alpha", "1", "-o", "o.glb"],
            "alpha is 1, but must be from 0 up to, but not including, 1",
        ),
    ];
    for (expected, arguments, phrase) in cases {
        let arguments = [&["bake"], *arguments].concat();
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, *expected, "{arguments:?}: {error}");
        assert!(error.contains(phrase), "{arguments:?}: {error}");
    }
}

#[test]
fn a_baked_mush_is_used_as_long_as_it_fits() {
    let folder = folder();
    let bake = |more: &[&str]| {
        let arguments = [&["bake", "@bar:2000", "-m", "ddm", "--rigid"], more].concat();
        notes_of(&arguments, folder.path())
    };
    let notes = bake(&["-o", "bar.gltf"]);
    for words in [
        "in the extension SUPPLE_direct_delta_mush",
        "the ordinary skin is now that of 'ddm-v5' with at most 2 joints per vertex",
    ] {
        assert!(notes.contains(words), "{notes}");
    }
    assert!(!notes.contains("16 bits"), "{notes}");
    let notes = bake(&["--check", "-o", "bar.gltf"]);
    for words in [
        "in the extension SUPPLE_direct_delta_mush",
        "rounding to 16 bits moves the surface by at most 0.00",
        "16 poses of bend-90, bend-120, ",
        "the ordinary skin is now that of 'ddm-v5' with at most 2 joints per vertex",
    ] {
        assert!(notes.contains(words), "{notes}");
    }
    let moment = ["--clip", "bend-120", "--time", "1.0", "-o"];
    let deform = |file: &str, more: &[&str], out: &str| {
        let arguments = [&["deform", file], more, &moment, &[out]].concat();
        let notes = notes_of(&arguments, folder.path());
        (notes, npy_rows(&folder.path().join(out)))
    };
    let how = "20 iterations, lambda 3, kappa 1, alpha 0.8, radius from bones, from a rigid bind";
    let using = format!("note: using the bake of direct delta mush in the file ({how})\n");
    for variant in ["ddm", "ddm-v1", "ddm-v2", "ddm-v3", "ddm-v4", "ddm-v5"] {
        let (before, expected) = deform("@bar:2000", &["-m", variant, "--rigid"], "a.npy");
        let (notes, found) = deform("bar.gltf", &["-m", variant], "b.npy");
        assert_eq!(notes, format!("{using}{before}"), "{variant}");
        let pairs = expected.iter().flatten().zip(found.iter().flatten());
        let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 2e-4, "{variant}: {off}");
    }
    // The options that it was baked by, asked for by name.
    let (notes, _) = deform(
        "bar.gltf",
        &["-m", "ddm", "--radius-from-bones", "on"],
        "b.npy",
    );
    assert_eq!(notes, using);
    let (notes, _) = deform("bar.gltf", &["-m", "ddm", "--alpha", "0.5"], "b.npy");
    let other =
        format!("in the file has other options ({how}); baking again with the given ones\n");
    assert!(notes.ends_with(&other), "{notes}");
    // The ordinary skin is what any program shows.
    let (_, v5) = deform("bar.gltf", &["-m", "ddm-v5"], "v5.npy");
    let (notes, linear) = deform("bar.gltf", &["-m", "linear"], "linear.npy");
    assert_eq!((notes.as_str(), linear), ("", v5));
    // Baking it once more changes nothing that matters.
    let again = ["bake", "bar.gltf", "-m", "ddm", "-o", "again.gltf"];
    let notes = notes_of(&again, folder.path());
    assert!(
        notes.contains("the file holds this bake already"),
        "{notes}"
    );

    move_a_vertex(
        &folder.path().join("bar.gltf"),
        &folder.path().join("moved.gltf"),
    );
    let stale = |done: &str| {
        format!(
            "note: the bake of direct delta mush in the file is stale (the surface or the weights \
             have changed since they were computed); {done}; 'supple bake -m ddm' stores a new \
             one\n"
        )
    };
    let (notes, _) = deform("moved.gltf", &["-m", "ddm-v2"], "b.npy");
    assert_eq!(notes, stale(&format!("baking again ({how})")));
    let convert = ["convert", "moved.gltf", "-o", "converted.glb"];
    assert_eq!(notes_of(&convert, folder.path()), stale("kept as they are"));

    let info = |file: &str| {
        let json = succeeds(&["info", file, "--json"], folder.path());
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        (json["stored_mush"].clone(), json["odd"].clone())
    };
    let (mush, _) = info("bar.gltf");
    assert_eq!(mush["state"], "fit");
    assert_eq!(mush["options"]["rigid"], true);
    assert!(mush["bytes"].as_u64() > Some(10_000) && mush["mean_influences"].as_f64() > Some(1.0));
    let (mush, odd) = info("moved.gltf");
    assert_eq!(mush["state"], "stale");
    assert!(odd.to_string().contains("unusable_mush"), "{odd}");
    let text = succeeds(&["info", "bar.gltf"], folder.path());
    let row = format!("direct delta mush, baked ({how}): fits; ");
    assert!(text.contains(&row), "{text}");
}

#[test]
fn the_skin_alone_is_baked_where_it_is_asked_for() {
    let folder = folder();
    let bake = ["bake", "@bar:2000", "-m", "ddm-v5", "--as-skin", "--rigid"];
    let notes = notes_of(&[&bake[..], &["-o", "skin.glb"]].concat(), folder.path());
    assert_eq!(
        notes,
        "note: the skin is now that of 'ddm-v5' with at most 2 joints per vertex; nothing else is \
         stored\n"
    );
    let moment = ["--clip", "bend-120", "--time", "1.0", "-o"];
    for (file, method, out) in [
        ("skin.glb", &["linear"][..], "a.npy"),
        ("@bar:2000", &["ddm-v5", "--rigid"], "b.npy"),
    ] {
        succeeds(
            &[&["deform", file, "-m"], method, &moment, &[out]].concat(),
            folder.path(),
        );
    }
    let rows = |name: &str| npy_rows(&folder.path().join(name)).concat();
    let off = rows("a.npy")
        .iter()
        .zip(rows("b.npy"))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
    assert!(off < 1e-5, "{off}");
    let text = succeeds(&["info", "skin.glb", "--json"], folder.path());
    assert!(text.contains("\"stored_mush\": null"), "{text}");
}
