//! `supple render` and `supple compare` as their users meet them.

use super::common::{fails, folder, listing, succeeds};
use std::path::Path;
use supple::characters::{self, Character};
use supple::clip::{Channel, Clip, Curve, Interpolation, Track};
use supple_io::gltf::Document;

#[test]
fn pictures_are_the_same_to_the_bit_every_time() {
    let folder = folder();
    for name in ["a.png", "b.png"] {
        let arguments = [
            "render",
            "@bar:2000",
            "--size",
            "64x48",
            "--overlay",
            "skeleton,weights,wireframe,centers",
            "-o",
            name,
        ];
        succeeds(&arguments, folder.path());
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
    assert_eq!(read("a.png"), read("b.png"));
    assert!(read("a.png").starts_with(b"\x89PNG"));
    succeeds(
        &[
            "render",
            "@bar:2000",
            "--clip",
            "twist-90",
            "--size",
            "40x40",
            "--fps",
            "4",
            "--overlay",
            "centers",
            "-o",
            "c.gif",
        ],
        folder.path(),
    );
    assert!(read("c.gif").starts_with(b"GIF89a"));
}

/// Every tag that needs an end has one, in the right order.
fn assert_well_formed(page: &str) {
    const WITHOUT_END: [&str; 6] = ["!DOCTYPE", "meta", "link", "img", "br", "input"];
    let mut open: Vec<&str> = Vec::new();
    // What is between style and script tags is no HTML.
    let mut rest = page;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, behind) = after.split_once('>').expect("a tag ends");
        rest = behind;
        let name = tag.split([' ', '/']).find(|part| !part.is_empty());
        let name = name.expect("a tag has a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "…{}", &tag);
        } else if !WITHOUT_END.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
        if matches!(tag, "style" | "script") {
            let end = format!("</{tag}>");
            rest = &rest[rest.find(&end).expect("it ends")..];
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
}

#[test]
fn render_frames_the_skin_around_a_joint() {
    let folder = folder();
    let picture = |focus: &str, out: &str| {
        let arguments = [
            "render",
            "@arm:2000",
            "--size",
            "40x40",
            "--focus",
            focus,
            "-o",
            out,
        ];
        succeeds(&arguments, folder.path());
        std::fs::read(folder.path().join(out)).expect("written")
    };
    let [all, hand, forearm] = [("all", "a.png"), ("hand", "b.png"), ("forearm", "c.png")]
        .map(|(focus, out)| picture(focus, out));
    assert!(all != hand && hand != forearm && all != forearm);
    let (status, error) = fails(
        &["render", "@arm:2000", "--focus", "wing", "-o", "no.png"],
        folder.path(),
    );
    assert!(status == 2 && error.contains("wing"), "{error}");
}

/// The pixels per row and the rows of a PNG.
fn size_of(png: &[u8]) -> [u32; 2] {
    [16, 20].map(|at| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]))
}

#[test]
fn pictures_keep_the_camera_of_earlier_ones() {
    let folder = folder();
    let picture = |arguments: &[&str], out: &str| {
        let usual = ["render", "@bar:2000", "--size", "48x40", "-o", out];
        succeeds(&[&usual[..], arguments].concat(), folder.path());
        std::fs::read(folder.path().join(out)).expect("written")
    };
    let twist = ["--clip", "twist-90", "--time", "1"];
    let bend = ["--clip", "bend-120", "--time", "1"];
    let first = picture(&[&twist[..], &["--view", "20,15"]].concat(), "first.png");
    let alone = picture(&bend, "alone.png");
    let aligned = picture(
        &[&bend[..], &["--camera", "first.png"]].concat(),
        "aligned.png",
    );
    assert_ne!(alone, aligned);
    // Through another pose and a GIF, back to the same picture to the bit.
    let clip = ["--clip", "bend-90", "--fps", "3", "--camera", "aligned.png"];
    picture(&clip, "clip.gif");
    let back = picture(
        &[&twist[..], &["--camera", "clip.gif"]].concat(),
        "back.png",
    );
    assert_eq!(back, first);
    let several = ["-m", "linear,cor", "--camera", "first.png"];
    picture(&[&twist[..], &several].concat(), "several.png");
    let back = picture(
        &[&twist[..], &["--camera", "several.png"]].concat(),
        "back.png",
    );
    assert_eq!(back, first);

    std::fs::write(folder.path().join("text.png"), "no picture").expect("written");
    for (arguments, status, part) in [
        (&["--camera", "text.png"][..], 1, "has no camera"),
        (&["--camera", "missing.png"], 1, "missing.png"),
        (
            &["--camera", "first.png", "--view", "front"],
            2,
            "cannot be used with",
        ),
        (
            &["--camera", "first.png", "--focus", "second"],
            2,
            "cannot be used with",
        ),
    ] {
        let arguments = [&["render", "@bar:2000", "-o", "no.png"], arguments].concat();
        let (found, error) = fails(&arguments, folder.path());
        assert!(found == status && error.contains(part), "{error}");
    }
}

#[test]
fn several_methods_are_drawn_beside_each_other() {
    let folder = folder();
    let twist = ["--clip", "twist-90", "--time", "1", "--size", "60x50"];
    let picture = |methods: &str, out: &str| {
        let arguments = [
            &["render", "@bar:2000", "-m", methods, "-o", out],
            &twist[..],
        ]
        .concat();
        succeeds(&arguments, folder.path());
        std::fs::read(folder.path().join(out)).expect("written")
    };
    assert_eq!(size_of(&picture("linear", "one.png")), [60, 50]);
    assert_eq!(size_of(&picture("linear,dqs", "two.png")), [121, 50]);
    assert_eq!(
        size_of(&picture("linear,dqs,cor,ddm,rigid", "five.png")),
        [304, 50]
    );
    let clip = ["--clip", "twist-90", "--fps", "3", "--size", "60x50"];
    let arguments = [
        &["render", "@bar:2000", "-m", "linear,cor", "-o", "two.gif"],
        &clip[..],
    ];
    succeeds(&arguments.concat(), folder.path());
    let gif = std::fs::read(folder.path().join("two.gif")).expect("written");
    assert_eq!([gif[6], gif[7], gif[8], gif[9]], [121, 0, 50, 0]);
    let large = [
        "render",
        "@bar:2000",
        "--size",
        "8192x8192",
        "-o",
        "large.png",
    ];
    let methods = ["-m", "linear,dqs,cor,ddm,rigid"];
    let (status, error) = fails(&[&large[..], &methods].concat(), folder.path());
    assert!(
        status == 2 && error.contains("5 pictures of 8192"),
        "{error}"
    );
}

#[test]
fn stretch_is_an_overlay_of_its_own() {
    let folder = folder();
    let picture = |overlay: &str, out: &str| {
        let arguments = [
            "render",
            "@bar:2000",
            "--turn",
            "second=0,0,90",
            "--size",
            "60x60",
            "--overlay",
            overlay,
            "-o",
            out,
        ];
        succeeds(&arguments, folder.path());
        std::fs::read(folder.path().join(out)).expect("written")
    };
    assert_ne!(picture("stretch", "a.png"), picture("wireframe", "b.png"));
    picture("stretch,wireframe,skeleton", "c.png");
    let both = [
        "render",
        "@bar",
        "--overlay",
        "stretch,weights",
        "-o",
        "no.png",
    ];
    let (status, error) = fails(&both, folder.path());
    assert!(status == 2 && error.contains("choose one"), "{error}");
}

#[test]
fn a_file_of_another_format_is_refused_with_a_way_out() {
    let folder = folder();
    std::fs::write(folder.path().join("hero.obj"), "v 0 0 0\n").expect("written");
    let (status, error) = fails(&["info", "hero.obj"], folder.path());
    assert_eq!(status, 1);
    assert!(
        error.contains("not glTF") && error.contains("holds no skeleton"),
        "{error}"
    );
    let (_, error) = fails(&["info", "hero.fbx"], folder.path());
    assert!(error.contains("export it as .glb"), "{error}");
}

#[test]
fn compare_writes_one_page_that_needs_nothing_else() {
    let folder = folder();
    let arguments = [
        "compare",
        "@bar:2000",
        "-m",
        "linear,rigid",
        "--size",
        "60x60",
        "-o",
        "report",
    ];
    let said = succeeds(&arguments, folder.path());
    let index = Path::new("report").join("index.html");
    assert_eq!(said, format!("open {}\n", index.display()));
    assert_eq!(listing(&folder.path().join("report")).len(), 1);

    let page = std::fs::read_to_string(folder.path().join(index)).expect("written");
    assert_well_formed(&page);
    for attribute in ["src=\"", "href=\""] {
        for (place, _) in page.match_indices(attribute) {
            let value = &page[place + attribute.len()..];
            assert!(value.starts_with("data:"), "{:.40}", value);
        }
    }
    assert!(
        !page.contains("http:")
            || page.matches("http:").count() == page.matches("http://www.w3.org/2000/svg").count()
    );
    for expected in [
        "Linear blending",
        "Rigid",
        "-m linear",
        "-m rigid",
        "Twist 150",
        "Second joint",
        "Time per vertex",
        "<svg",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    // Pictures may spell anything.
    let words = page.split("base64,");
    let words: String = words
        .map(|part| &part[part.find('"').unwrap_or(0)..])
        .collect();
    for unwanted in ["NaN", "inf ", "{{", "}}\"", "Dual quaternions</h3>"] {
        assert!(!words.contains(unwanted), "{unwanted}");
    }
}

/// The pose that render and deform show is one that methods can be compared in.
#[test]
fn compare_takes_a_pose() {
    let folder = folder();
    let pose = ["--move", "second+=0,0.1,0"];
    let compare = [
        "compare",
        "@bar:2000",
        "-m",
        "linear,dqs",
        "--size",
        "40x40",
    ];
    let compare = [&compare[..], &pose].concat();
    succeeds(&[&compare[..], &["-o", "."]].concat(), folder.path());
    let page = std::fs::read_to_string(folder.path().join("index.html")).expect("written");
    let heading = page
        .split("<div class=\"clip\"><h4><bdi>")
        .nth(1)
        .expect("a heading");
    assert!(heading.starts_with("Pose<") && page.contains("single pose"));
    assert!(!page.contains("Bend 90") && !page.contains("Twist 90"));
    let still = [
        "compare",
        "@bar:2000",
        "-m",
        "linear,dqs",
        "--size",
        "40x40",
    ];
    let moved = page.len();
    succeeds(&[&still[..], &["-o", "."]].concat(), folder.path());
    let page = std::fs::read_to_string(folder.path().join("index.html")).expect("written");
    assert!(!page.contains("single pose") && page.len() != moved);

    let both = [&compare[..], &["--clip", "0", "-o", "no"]].concat();
    let (status, error) = fails(&both, folder.path());
    assert!(
        status == 2 && error.contains("cannot be used with"),
        "{error}"
    );
}

#[test]
fn compare_shows_the_clips_that_are_asked_for() {
    let folder = folder();
    let arguments = [
        "compare",
        "@bar:2000",
        "-m",
        "linear,dqs",
        "--clip",
        "Twist_90,0",
        "--size",
        "40x40",
        "-o",
        ".",
    ];
    succeeds(&arguments, folder.path());
    let page = std::fs::read_to_string(folder.path().join("index.html")).expect("written");
    let headings: Vec<&str> = page
        .split("<div class=\"clip\"><h4><bdi>")
        .skip(1)
        .map(|heading| &heading[..8])
        .collect();
    assert_eq!(headings[..2], ["Twist 90", "Bend 90<"]);

    let missing = ["compare", "@bar:2000", "--clip", "fly", "-o", "elsewhere"];
    let (status, error) = fails(&missing, folder.path());
    assert_eq!(status, 1);
    assert!(error.contains("there is no clip 'fly'"), "{error}");
    assert!(!folder.path().join("elsewhere").exists());
    std::fs::write(folder.path().join("taken"), "").expect("written");
    let (status, error) = fails(&["compare", "@bar", "-o", "taken"], folder.path());
    assert_eq!(status, 1);
    assert!(error.contains("cannot write taken"), "{error}");
}

#[test]
fn pictures_and_animations_that_are_too_large_are_refused_with_the_limit() {
    let folder = folder();
    for size in ["8193x1", "1x8193", "0x5"] {
        let arguments = ["render", "@bar:2000", "--size", size, "-o", "o.png"];
        let (status, error) = fails(&arguments, folder.path());
        assert_eq!(status, 2, "{error}");
        let expected = "expected WIDTHxHEIGHT with sides from 1 to 8192";
        assert!(error.contains(expected), "{error}");
    }
    for size in ["8192x1", "1x8192"] {
        let arguments = ["render", "@bar:2000", "--size", size, "-o", "o.png"];
        succeeds(&arguments, folder.path());
    }
    // A clip of 200.5 seconds: a GIF holds 50 frames a second at most.
    let mut bar = characters::build(Character::Bar, 2_000).expect("built in");
    let curve = Curve::new(vec![0.0, 200.5], vec![1.0; 6], 3, Interpolation::Linear);
    bar.clips = vec![Clip {
        name: "long".to_owned(),
        tracks: vec![Track {
            channel: Channel::Scale { node: 0 },
            curve: curve.expect("two keys"),
        }],
    }];
    let document = Document::from_asset(&bar).expect("finite");
    let bytes = document.to_glb().expect("small");
    std::fs::write(folder.path().join("long.glb"), bytes).expect("writable");
    let arguments = ["render", "long.glb", "--fps", "1000", "-o", "o.gif"];
    let (status, error) = fails(&arguments, folder.path());
    assert_eq!(status, 1);
    assert!(
        error.contains("the clip 'long' lasts 200.5") && error.contains("than 10000 frames"),
        "{error}"
    );
}
