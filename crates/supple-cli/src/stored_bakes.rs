//! Bakes stored in files: used where they fit, else reported.

use crate::args::mush::MushArguments;
use crate::console;
use crate::failure::Failure;
use crate::source::Source;
use crate::wording;
use std::sync::Arc;
use supple::Method;
use supple::centers::{CenterError, CenterOptions, Centers};
use supple::deform::BakedData;
use supple_io::gltf::{StoredCenters, StoredState};

impl Source {
    /// Gives methods the options of the file and of the arguments, and collects the data that they
    /// need beside the rig, from the file where they fit. Prints notes about both.
    pub(crate) fn prepare(
        &self,
        methods: &mut [Method],
        mush: &MushArguments,
    ) -> Result<BakedData, Failure> {
        self.report_bind_faults();
        Ok(BakedData {
            centers: self.prepare_centers(methods),
            mush: self.prepare_mush(methods, mush)?,
            ..BakedData::default()
        })
    }

    /// Warns about faulty bind matrices: the first one, and the number of others.
    pub(crate) fn report_bind_faults(&self) {
        let skeleton = self.asset.rig.skeleton();
        let joints = 0..skeleton.joints().len();
        let mut faults = joints.filter_map(|joint| Some((joint, skeleton.bind_fault(joint)?)));
        let Some((joint, fault)) = faults.next() else {
            return;
        };
        let joint = wording::numbered_joint(skeleton, joint);
        let more = match faults.count() {
            0 => String::new(),
            1 => "; that of one other joint is faulty as well".to_owned(),
            more => format!("; those of {more} other joints are faulty as well"),
        };
        console::eprint(&format!(
            "warning: the bind matrix of {joint} {fault}{more}"
        ));
    }

    /// Gives the methods that compute centers of rotation the options of the file, and returns the
    /// centers of the file, if they fit and a method uses them.
    fn prepare_centers(&self, methods: &mut [Method]) -> Option<Arc<Centers>> {
        let stored = self.stored_centers.as_ref()?;
        let takes = |method: &Method| matches!(method, Method::CentersOfRotation(_));
        let computes = |method: &Method| matches!(method, Method::CorProcrustes(_));
        let taken = methods.iter().any(takes);
        if taken {
            self.report_centers();
        } else if methods.iter().any(computes) {
            self.report_center_options();
        }
        for method in methods {
            *method = stored.with_stored_options(method);
        }
        stored.fitting().filter(|_| taken).cloned()
    }

    /// The centers to draw beside a prepared method: those that it turns about, else those of the
    /// file, if they fit; else they are computed.
    pub(crate) fn centers_beside(
        &self,
        method: &Method,
        baked: &BakedData,
    ) -> Result<Arc<Centers>, CenterError> {
        let (fitting, options) = match method {
            Method::CentersOfRotation(options) => (baked.centers.as_ref(), options.centers),
            _ => {
                self.report_centers();
                let stored = self.stored_centers.as_ref();
                let options = stored.and_then(|stored| stored.options);
                (
                    stored.and_then(StoredCenters::fitting),
                    options.unwrap_or_default(),
                )
            }
        };
        let rig = &self.asset.rig;
        match fitting {
            Some(centers) => Ok(centers.clone()),
            None => Centers::bake(rig.mesh(), rig.weights(), &options).map(Arc::new),
        }
    }

    /// Prints whether the centers of the file are used, and why not.
    fn report_centers(&self) {
        let Some(stored) = &self.stored_centers else {
            return;
        };
        let by = unusual_options(stored);
        match stored.state {
            StoredState::Fit => console::eprint(&format!(
                "note: using the centers of rotation in the file{by}"
            )),
            _ => self.report_unusable_centers(&format!("computing new ones{by}")),
        }
    }

    /// Prints why the centers of the file cannot be used, what is done instead, and how to renew
    /// them.
    pub(crate) fn report_unusable_centers(&self, done: &str) {
        let stored = self.stored_centers.as_ref();
        let unusable = stored.and_then(|stored| wording::unusable(&stored.state));
        if let Some((word, why)) = unusable {
            console::eprint(&format!(
                "note: the centers of rotation in the file are {word} ({why}); {done}; \
                 'supple bake -m cor' stores new ones"
            ));
        }
    }

    /// Prints the options with which a method computes its centers, unless they are the defaults.
    fn report_center_options(&self) {
        let by = self.stored_centers.as_ref().map(unusual_options);
        if let Some(by) = by.filter(|by| !by.is_empty()) {
            console::eprint(&format!(
                "note: computing centers with the options of those in the file{by}"
            ));
        }
    }
}

/// The options of stored centers in parentheses, unless they are the defaults.
fn unusual_options(stored: &StoredCenters) -> String {
    let unusual = |options: &CenterOptions| *options != CenterOptions::PAPER;
    let options = stored.options.filter(unusual);
    let written = options.map(|options| format!(" ({})", wording::center_options(&options)));
    written.unwrap_or_default()
}
