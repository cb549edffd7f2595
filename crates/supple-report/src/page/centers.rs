//! The chapter about centers of rotation, where a method that has them is compared.

use super::elements::{aside, named, picture};
use super::section::{PORTRAIT, Writer};
use crate::ReportError;
use crate::methods::Entry;
use crate::names::clip_title;
use crate::phrases::grouped;
use maud::{Markup, html};
use supple::{Asset, Method};
use supple_render::Look;

/// What is needed to show centers of rotation.
pub(super) struct CenterPictures {
    method: usize,
    look: Look,
}

impl CenterPictures {
    /// Of the first method that has centers; `None` if there is none.
    pub fn of(asset: &Asset, look: &Look, entries: &[Entry]) -> Option<CenterPictures> {
        let mut methods = entries.iter().enumerate();
        methods.find_map(|(method, entry)| match &entry.method {
            Method::CentersOfRotation(options) => Some(CenterPictures {
                method,
                look: look.clone().with_centers(asset, &options.centers),
            }),
            _ => None,
        })
    }
}

impl Writer<'_, '_> {
    /// Where the centers of rotation are, at rest and at the liveliest moment.
    pub fn centers(&self) -> Result<Markup, ReportError> {
        let Some(CenterPictures { method, look }) = &self.centers else {
            return Ok(Markup::default());
        };
        let Some(centers) = look.centers() else {
            return Ok(Markup::default());
        };
        let asset = self.study.comparison.asset;
        let count = centers.points().iter().flatten().count();
        if count == 0 {
            return Ok(html! {
                h3 { "Centers of rotation" }
                p {
                    "No vertex has one: each follows a single joint, or nothing is similar to it."
                }
            });
        }
        let posed = self.liveliest().map(|(shown, frame)| {
            let when = format!("{}, {}", clip_title(&shown.clip.name), shown.moment(frame));
            (when, shown.pose(asset, frame))
        });
        let rest = ("At rest".to_owned(), asset.rest_pose());
        let mut tiles = Vec::new();
        for (when, pose) in std::iter::once(rest).chain(posed) {
            if let Ok(image) = self.portrait(*method, &pose, look, PORTRAIT) {
                let image = picture(&image, "The centers of rotation inside of the character")?;
                tiles.push(aside(&named(&when), &image));
            }
        }
        let vertices = asset.rig.mesh().vertex_count();
        Ok(html! {
            h3 { "Centers of rotation" }
            p {
                "Each red dot is the point about which the method " code { "cor" } " turns some \
                 of the skin, seen through the body; joints are green, bones yellow. "
                (grouped(count)) " of " (grouped(vertices)) " vertices have such a center. The \
                 others follow a single joint, or nothing is similar to them. The bones carry the \
                 centers as linear blending would."
            }
            div.tiles.pair { @for tile in &tiles { (tile) } }
        })
    }
}
