//! Every file that is written has the bytes that `pins.txt` says, on 1, 2 and 7 threads.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use supple::bind::{BindMethod, bind_groups};
use supple::centers::{CenterOptions, Centers};
use supple::characters::{self, Character};
use supple::exec;
use supple::mush::{Mush, MushOptions};
use supple::point_handles::{HandleOptions, place_handles};
use supple::twist::{TwistOptions, split};
use supple::{Asset, Method, Normals, Player, Pose, Rig};
use supple_io::gltf::{self, Document, Loaded};
use supple_io::{npy, obj, ply};
use supple_pins::{Numbers, Pins};

/// A row of joints, a hand with fingers, and a whole figure.
const SUBJECTS: [Character; 3] = [Character::Bar, Character::Arm, Character::Figure];

#[test]
fn files_have_their_pinned_bytes_on_any_number_of_threads() {
    let pins = Pins::on_threads(&[1, 2, 7], |threads| exec::on_threads(threads, pins));
    pins.check(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/pins/pins.txt"
    )));
}

fn pins() -> Pins {
    let mut pins = Pins::default();
    for character in SUBJECTS {
        let asset = characters::build(character, characters::MIN_VERTICES).unwrap();
        let document = Document::from_asset(&asset).unwrap();
        let mut files = Files {
            pins: &mut pins,
            folder: character.name(),
        };
        files.pin("glb", &document.to_glb().unwrap());
        files.pin("gltf", &document.to_gltf());
        let loaded = gltf::from_slice(&document.to_glb().unwrap(), character.name()).unwrap();
        files.pin_read(&loaded);
        files.pin_posed(&loaded);
        files.pin_bakes(&loaded);
        files.pin_bindings(&loaded);
    }
    pins
}

/// The files of one character.
struct Files<'a> {
    pins: &'a mut Pins,
    folder: &'static str,
}

impl Files<'_> {
    fn pin(&mut self, name: &str, bytes: &[u8]) {
        self.pins.pin(format!("{}/{name}", self.folder), bytes);
    }

    fn pin_document(&mut self, name: &str, document: &Document) {
        self.pin(&format!("{name}.glb"), &document.to_glb().unwrap());
    }

    /// The character as it is read from a file.
    fn pin_read(&mut self, loaded: &Loaded) {
        let Asset { rig, clips, .. } = &loaded.asset;
        let (mesh, skeleton, weights) = (rig.mesh(), rig.skeleton(), rig.weights());
        let name = |what: &str| format!("{}/read/{what}", self.folder);
        let surface = (mesh.positions(), mesh.normals(), mesh.triangles());
        self.pins.pin(name("mesh"), &surface);
        self.pins.pin(name("skeleton"), &Numbers(skeleton));
        self.pins.pin(name("clips"), &Numbers(clips));
        let rows: Vec<_> = (0..weights.vertex_count())
            .map(|vertex| {
                let (joints, weights) = weights.row(vertex);
                (joints.to_vec(), weights.to_vec())
            })
            .collect();
        self.pins.pin(name("weights"), &rows);
    }

    /// Surfaces in a pose, in every format.
    fn pin_posed(&mut self, loaded: &Loaded) {
        let asset = &loaded.asset;
        let pose = some_pose(asset);
        let mut player = Player::new(asset, &Method::Linear, Normals::Transported).unwrap();
        player.pose(&pose).unwrap();
        let (positions, normals) = (player.positions(), player.normals());
        let triangles = player.triangles();
        let mut out = Vec::new();
        obj::write(&mut out, positions, normals, &triangles).unwrap();
        self.pin("posed.obj", &out);
        out.clear();
        ply::write(&mut out, positions, normals, &triangles).unwrap();
        self.pin("posed.ply", &out);
        out.clear();
        npy::write_positions(&mut out, positions).unwrap();
        self.pin("posed.npy", &out);
        let frozen = loaded.document.posed(&player, &pose).unwrap();
        self.pin_document("frozen", &frozen);
        let mut document = loaded.document.clone();
        document.set_pose(asset, &pose).unwrap();
        self.pin_document("opens-posed", &document);
    }

    fn pin_bakes(&mut self, loaded: &Loaded) {
        let rig = &loaded.asset.rig;
        let options = CenterOptions::PAPER;
        let centers = Centers::bake(rig.mesh(), rig.weights(), &options).unwrap();
        let mut document = loaded.document.clone();
        document.set_centers(rig, &centers, &options).unwrap();
        self.pin_document("centers", &document);
        let options = MushOptions::default();
        let mush = Mush::bake(rig, &options).unwrap().mush;
        let mut document = loaded.document.clone();
        document.set_mush(rig, &mush, &options, 4).unwrap();
        self.pin_document("mush", &document);
        let mut document = loaded.document.clone();
        document.set_skin_of_mush(rig, &mush, 4).unwrap();
        self.pin_document("skin-of-mush", &document);
        let joints = 0..rig.skeleton().joints().len();
        let mut splits = joints.map(|joint| split(&loaded.asset, joint, &TwistOptions::default()));
        if let Some(twisted) = splits.find_map(Result::ok) {
            let mut document = loaded.document.clone();
            document.add_twist_joint(&twisted).unwrap();
            self.pin_document("twist", &document);
        }
    }

    fn pin_bindings(&mut self, loaded: &Loaded) {
        let rig = &loaded.asset.rig;
        let (mesh, skeleton) = (rig.mesh(), rig.skeleton());
        let envelope = BindMethod::Envelope(Default::default());
        let groups = loaded.document.bind_groups(mesh, skeleton).unwrap();
        let bound = bind_groups(mesh, skeleton, &groups, &envelope, &|_| {}).unwrap();
        let bound = Rig::new(mesh.clone(), skeleton.clone(), bound.weights).unwrap();
        let mut document = loaded.document.clone();
        document.set_binding(&bound).unwrap();
        self.pin_document("bound", &document);
        let mut document = loaded.document.clone();
        document.set_weights(&rig.weights().limited(2)).unwrap();
        self.pin_document("limited", &document);
        let surface = loaded.document.surface_at_rest(rig).unwrap();
        let handles = place_handles(&surface, &HandleOptions::default()).unwrap();
        let weights = handles.bind(&surface, &BindMethod::Rigid, &|_| {}).unwrap();
        let held = loaded
            .document
            .with_point_handles(rig, &handles, &weights.weights);
        self.pin_document("handles", &held.unwrap().document);
    }
}

/// Somewhere within the first clip.
fn some_pose(asset: &Asset) -> Pose {
    let clip = &asset.clips[0];
    asset.pose_at(clip, 0.37 * clip.duration())
}
