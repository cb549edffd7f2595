//! What a file stores for methods: used where it fits, with a note where it does not.

use crate::args::mush::MushArguments;
use crate::console;
use crate::failure::Failure;
use crate::source::Source;
use crate::wording;
use supple::Method;
use supple::centers::CenterOptions;
use supple::deform::CenterSource;
use supple_io::gltf::{StoredCenters, StoredState};

impl Source {
    /// Gives methods what they need beside the rig, from the file where it has what fits, and tells
    /// what came of it.
    pub(crate) fn prepare(
        &self,
        methods: &mut [Method],
        mush: &MushArguments,
    ) -> Result<(), Failure> {
        self.tell_of_binds();
        self.prepare_centers(methods);
        self.prepare_mush(methods, mush)
    }

    /// Warns of bind matrices that do not tell where their joints were bound: the first of them,
    /// why, and how many more there are.
    fn tell_of_binds(&self) {
        let skeleton = self.asset.rig.skeleton();
        let joints = 0..skeleton.joints().len();
        let mut faults = joints.filter_map(|joint| Some((joint, skeleton.bind_fault(joint)?)));
        let Some((joint, fault)) = faults.next() else {
            return;
        };
        let joint = wording::numbered_joint(skeleton, joint);
        let more = match faults.count() {
            0 => String::new(),
            1 => "; so is that of another joint".to_owned(),
            more => format!("; {more} other joints have faulty bind matrices, too"),
        };
        console::tell(&format!(
            "warning: the bind matrix of {joint} {fault}{more}"
        ));
    }

    /// Gives the methods that turn about centers those of the file, if they fit.
    fn prepare_centers(&self, methods: &mut [Method]) {
        let Some(stored) = &self.stored_centers else {
            return;
        };
        let takes = |method: &Method| matches!(method, Method::CentersOfRotation(_));
        let computes = |method: &Method| matches!(method, Method::CorProcrustes(_));
        if methods.iter().any(takes) {
            self.tell_of_centers();
        } else if methods.iter().any(computes) {
            self.tell_of_center_options();
        }
        for method in methods {
            *method = stored.prepare(method);
        }
    }

    /// The centers to draw beside a prepared method: those that it turns about, else those of the
    /// file, if they fit.
    pub(crate) fn centers_beside(&self, method: &Method) -> CenterSource {
        match method {
            Method::CentersOfRotation(options) => options.centers.clone(),
            _ => {
                self.tell_of_centers();
                let stored = self.stored_centers.as_ref();
                stored.map(StoredCenters::source).unwrap_or_default()
            }
        }
    }

    /// Tells whether the centers of the file are used, and why not.
    fn tell_of_centers(&self) {
        let Some(stored) = &self.stored_centers else {
            return;
        };
        let by = unusual_options(stored);
        match stored.state {
            StoredState::Fit => console::tell(&format!(
                "note: using the centers of rotation stored in the file{by}"
            )),
            _ => self.tell_of_unusable_centers(&format!("computed anew{by}")),
        }
    }

    /// Where the centers of the file are of no use, tells why, what is done instead, and how to
    /// mend that.
    pub(crate) fn tell_of_unusable_centers(&self, done: &str) {
        let stored = self.stored_centers.as_ref();
        let unusable = stored.and_then(|stored| wording::unusable(&stored.state));
        if let Some((word, why)) = unusable {
            console::tell(&format!(
                "note: the centers of rotation stored in the file are {word} ({why}); {done}; 'supple bake -m cor' stores new ones"
            ));
        }
    }

    /// Tells by which options a method computes centers of its own, where these are not the usual
    /// ones.
    fn tell_of_center_options(&self) {
        let by = self.stored_centers.as_ref().map(unusual_options);
        if let Some(by) = by.filter(|by| !by.is_empty()) {
            console::tell(&format!(
                "note: computing with the options of the centers of rotation stored in the file{by}"
            ));
        }
    }
}

/// By which options stored centers were computed, where these are not the usual ones.
fn unusual_options(stored: &StoredCenters) -> String {
    let unusual = |options: &CenterOptions| *options != CenterOptions::PAPER;
    let options = stored.options.filter(unusual);
    let written = options.map(|options| format!(" ({})", wording::center_options(&options)));
    written.unwrap_or_default()
}
