//! The bake of direct delta mush that all variants share: the stored one, or a new one.

use crate::args::mush::{AlphaAt, MushArguments, smooths};
use crate::console;
use crate::failure::Failure;
use crate::joints::find_joints;
use crate::progress;
use crate::source::Source;
use crate::wording::{many, mush_options, unusable};
use std::sync::Arc;
use supple::mush::{Baked, Connections, Mush, MushOptions};
use supple::{Method, Rig};

/// Bakes direct delta mush, and prints a note about connected pieces.
pub(crate) fn bake(rig: &Rig, options: &MushOptions) -> Result<Mush, Failure> {
    let spinner = progress::spinner("baking direct delta mush");
    let baked = Mush::bake(rig, options);
    spinner.finish_and_clear();
    let Baked { mush, connections } = baked?;
    report_connections(&connections);
    Ok(mush)
}

/// Prints a note about the pieces of a surface, unless there is only one.
fn report_connections(connections: &Connections) {
    let Connections {
        pieces,
        pieces_left,
        links,
    } = *connections;
    match (pieces, links) {
        (0 | 1, _) => {}
        (_, 0) => console::eprint(&format!(
            "note: the surface has {pieces} pieces; none are close enough to be connected"
        )),
        _ => console::eprint(&format!(
            "note: the surface has {pieces} pieces; {} connected, which leaves {}",
            many(links, "pair") + " of close points",
            many(pieces_left, "piece")
        )),
    }
}

impl Source {
    /// Gives the methods that smooth their options. For the variants of direct delta mush, returns
    /// the bake of the file, if it fits and has these options, else a new one.
    pub(crate) fn prepare_mush(
        &self,
        methods: &mut [Method],
        wanted: &MushArguments,
    ) -> Result<Option<Arc<Mush>>, Failure> {
        if !methods.iter().any(smooths) {
            return Ok(None);
        }
        let options = self.mush_options(wanted)?;
        let is_direct = |method: &Method| matches!(method, Method::DirectDeltaMush(_));
        let direct = methods.iter().any(is_direct);
        let mush = match direct {
            true => Some(self.stored_or_baked(&options)?),
            false => None,
        };
        if !direct {
            self.report_mush_options(&options);
            report_connections(&Connections::of(&self.asset.rig, &options)?);
        }
        for method in methods {
            match method {
                Method::DeltaMush(delta_mush) => delta_mush.smoothing = options.clone(),
                Method::DirectDeltaMush(direct) => direct.smoothing = options.clone(),
                _ => {}
            }
        }
        Ok(mush)
    }

    /// The given options; without any, those of the bake in the file. If that bake started from a
    /// rigid bind, so does any other: the weights of the file are its result now, and only their
    /// heaviest joints still show the bind.
    pub(crate) fn mush_options(&self, wanted: &MushArguments) -> Result<MushOptions, Failure> {
        let given = self.options_by_joints(wanted)?;
        let stored = self.stored_mush.as_ref();
        let Some(recorded) = stored.and_then(|stored| stored.options.as_ref()) else {
            return Ok(given);
        };
        Ok(match wanted.given().is_empty() {
            true => recorded.clone(),
            false => MushOptions {
                rigid: given.rigid || recorded.rigid,
                ..given
            },
        })
    }

    /// The given options, with the joints of this character.
    fn options_by_joints(&self, wanted: &MushArguments) -> Result<MushOptions, Failure> {
        let mut by_joint = Vec::new();
        for AlphaAt { joint, share } in &wanted.alpha_at {
            let joints = find_joints(self, joint)?;
            by_joint.extend(joints.into_iter().map(|joint| (joint, *share)));
        }
        Ok(wanted.with_alpha_at(by_joint))
    }

    /// The bake of the file if it fits and has these options, else a new one; prints which.
    fn stored_or_baked(&self, options: &MushOptions) -> Result<Arc<Mush>, Failure> {
        if let Some(stored) = &self.stored_mush {
            match stored.fitting().filter(|_| stored.is_by(options)) {
                Some(mush) => {
                    let how = unusual(options);
                    console::eprint(&format!(
                        "note: using the bake of direct delta mush in the file{how}"
                    ));
                    return Ok(mush.clone());
                }
                None if stored.fitting().is_some() => console::eprint(&format!(
                    "note: the bake of direct delta mush in the file has other options ({}); \
                     baking again with the given ones",
                    stored
                        .options
                        .as_ref()
                        .map(mush_options)
                        .unwrap_or_default()
                )),
                None => self.report_unusable_mush(&format!("baking again{}", unusual(options))),
            }
            self.report_smoothed_weights(options);
        }
        Ok(Arc::new(bake(&self.asset.rig, options)?))
    }

    /// Prints why the bake of the file cannot be used, what is done instead, and how to renew it.
    pub(crate) fn report_unusable_mush(&self, done: &str) {
        let stored = self.stored_mush.as_ref();
        let unusable = stored.and_then(|stored| unusable(&stored.state));
        if let Some((word, why)) = unusable {
            console::eprint(&format!(
                "note: the bake of direct delta mush in the file is {word} ({why}); {done}; \
                 'supple bake -m ddm' stores a new one"
            ));
        }
    }

    /// Prints the options of delta mush if they come from the bake of the file.
    fn report_mush_options(&self, options: &MushOptions) {
        let stored = self.stored_mush.as_ref();
        if stored.is_some_and(|stored| stored.is_by(options)) && *options != MushOptions::default()
        {
            console::eprint(&format!(
                "note: smoothing with the options of the bake in the file{}",
                unusual(options)
            ));
        }
    }

    /// Warns that the weights of the file were replaced by an earlier bake, which smooths them
    /// twice.
    pub(crate) fn report_smoothed_weights(&self, options: &MushOptions) {
        if self.stored_mush.is_some() && !options.rigid {
            console::eprint(
                "note: the weights of the file come from an earlier bake and are smoothed twice; \
                 bake the original file, or use --rigid",
            );
        }
    }
}

/// The options of a bake in parentheses, unless they are the defaults.
fn unusual(options: &MushOptions) -> String {
    match *options == MushOptions::default() {
        true => String::new(),
        false => format!(" ({})", mush_options(options)),
    }
}
