//! The chapter about centers of rotation, where a method that has them is compared.

use super::elements::{aside, named, picture};
use super::writer::{PORTRAIT, Writer};
use crate::ReportError;
use crate::names::clip_title;
use crate::phrases::grouped;
use maud::{Markup, html};
use std::sync::Arc;
use supple::Method;
use supple::centers::Centers;

impl Writer<'_, '_> {
    /// Pictures of the centers of rotation, at rest and at the liveliest moment.
    pub fn centers(&self) -> Result<Markup, ReportError> {
        let mut methods = self.entries.iter().enumerate();
        let found = methods.find_map(|(index, entry)| match &entry.method {
            Method::CentersOfRotation(options) => Some((index, options)),
            _ => None,
        });
        let Some((method, options)) = found else {
            return Ok(Markup::default());
        };
        let comparison = &self.study.comparison;
        let asset = comparison.asset;
        let rig = &asset.rig;
        let centers = match &comparison.baked.centers {
            Some(centers) => Ok(centers.clone()),
            None => Centers::bake(rig.mesh(), rig.weights(), &options.centers).map(Arc::new),
        };
        let look = match centers {
            Ok(centers) => self.look.clone().with_centers(asset, centers),
            Err(_) => return Ok(Markup::default()),
        };
        let Some(centers) = look.centers() else {
            return Ok(Markup::default());
        };
        let count = centers.points().iter().flatten().count();
        if count == 0 {
            return Ok(html! {
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
            if let Ok(image) = self.portrait(method, &pose, &look, PORTRAIT) {
                let image = picture(&image, "The centers of rotation inside of the character")?;
                tiles.push(aside(&named(&when), &image));
            }
        }
        let vertices = asset.rig.mesh().vertex_count();
        Ok(html! {
            p {
                "Each red dot is the point about which the method " code { "cor" } " turns some \
                 of the skin, seen through the body; joints are green, bones yellow. "
                (grouped(count)) " of " (grouped(vertices)) " vertices have such a center. The \
                 others follow a single joint, or nothing is similar to them. The bones move the \
                 centers as in linear blending."
            }
            div.tiles.pair { @for tile in &tiles { (tile) } }
        })
    }
}
