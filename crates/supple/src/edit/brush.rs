//! Painting: one joint's weight set, added to or scaled, or all smoothed; everywhere alike (a
//! flood), or around places that a brush touches.

use super::row::{Row, merged, share_of};
use super::surface_distance::Reached;
use super::{Change, EditError, Editor, check_number};
use crate::weights::Weights;
use glam::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// What paint does where it covers fully; in between, that much less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paint {
    /// Adds to a joint's weight, or takes off it.
    Add {
        /// Which joint.
        joint: usize,
        /// From −1 to 1.
        amount: f64,
    },
    /// Multiplies a joint's weight.
    Scale {
        /// Which joint.
        joint: usize,
        /// At least 0.
        factor: f64,
    },
    /// Gives a joint a weight.
    Set {
        /// Which joint.
        joint: usize,
        /// From 0 to 1.
        value: f64,
    },
    /// Moves the weights of all joints towards the mean of their neighbours on the surface.
    Smooth {
        /// From 0 to 1, where nothing is left but the mean.
        strength: f64,
    },
}

/// How paint fades from the middle of a brush to its border; `t` is the distance as a share of the
/// radius.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Falloff {
    /// `(1 − t²)²`: no crease in the middle nor at the border.
    #[default]
    Smooth,
    /// `1 − t`.
    Linear,
    /// Not at all.
    Constant,
}

impl Falloff {
    fn at(self, t: f64) -> f64 {
        match self {
            Falloff::Smooth => (1.0 - t * t).max(0.0).powi(2),
            Falloff::Linear => (1.0 - t).max(0.0),
            Falloff::Constant => 1.0,
        }
    }
}

/// A brush: paint, and how far it reaches along the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brush {
    /// What it does.
    pub paint: Paint,
    /// How far it reaches.
    pub radius: f64,
    /// How it fades.
    pub falloff: Falloff,
}

/// A point at which a brush touches the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StrokePoint {
    /// At a vertex.
    Vertex(usize),
    /// The point of the surface nearest to a position in space.
    Near(Vec3),
}

/// A stroke in the making: a dab costs time by what the brush covers, however large the surface is.
pub struct Stroke<'a> {
    editor: &'a Editor,
    weights: &'a Weights,
    /// The points looked at so far, as they are now.
    rows: BTreeMap<u32, Row>,
    /// Those that a brush covered.
    covered: BTreeSet<u32>,
    reached: Reached,
}

impl Editor {
    /// Starts a stroke over some weights.
    ///
    /// # Errors
    ///
    /// If the weights are of another number of vertices or joints than the character.
    pub fn stroke<'a>(&'a self, weights: &'a Weights) -> Result<Stroke<'a>, EditError> {
        self.check(weights)?;
        Ok(Stroke {
            editor: self,
            weights,
            rows: BTreeMap::new(),
            covered: BTreeSet::new(),
            reached: self.fans.unreached(),
        })
    }

    /// How far the surface is from a place that a brush is told to touch, where there is a surface.
    pub fn distance_from(&self, place: Vec3) -> Option<f64> {
        let nearest = self.surface.nearest(place, |_| true);
        nearest.map(|there| there.distance)
    }

    /// A whole stroke; what lies outside of the points given is left as it was.
    pub(super) fn stroke_at(
        &self,
        weights: &Weights,
        points: &[u32],
        brush: &Brush,
        places: &[StrokePoint],
    ) -> Result<Change, EditError> {
        let mut stroke = self.stroke(weights)?;
        let inside = |point: u32| points.binary_search(&point).is_ok();
        for &place in places {
            stroke.dab_where(brush, place, inside)?;
        }
        stroke.change()
    }

    pub(super) fn flood(
        &self,
        weights: &Weights,
        points: &[u32],
        paint: &Paint,
    ) -> Result<Change, EditError> {
        self.check_paint(paint)?;
        match paint {
            Paint::Smooth { strength } => self.smooth(weights, points, 1, *strength, &[]),
            _ => self.edit_rows(weights, points, |row| self.painted(row, paint, 1.0)),
        }
    }

    /// A row under paint that covers so much.
    fn painted(&self, row: &Row, paint: &Paint, cover: f64) -> Row {
        let (joint, share) = match *paint {
            Paint::Add { joint, amount } => {
                let share = share_of(row, joint as u16);
                (joint, share + cover * amount)
            }
            Paint::Scale { joint, factor } => {
                let share = share_of(row, joint as u16);
                (joint, share * (1.0 + cover * (factor - 1.0)))
            }
            Paint::Set { joint, value } => {
                let share = share_of(row, joint as u16);
                (joint, share + cover * (value - share))
            }
            Paint::Smooth { .. } => return row.clone(),
        };
        self.with_share(row, joint as u16, share)
    }

    /// A row in which a joint has a share: the other unlocked joints give or take in proportion.
    /// Where there are none, what it leaves goes to its heir.
    fn with_share(&self, row: &Row, joint: u16, share: f64) -> Row {
        let sum_where = |counts: &dyn Fn(u16) -> bool| -> f64 {
            let counted = row.iter().filter(|entry| counts(entry.0));
            counted.map(|entry| entry.1).sum()
        };
        let left = (1.0 - sum_where(&|other| self.locks(other))).max(0.0);
        let others = sum_where(&|other| other != joint && !self.locks(other));
        let share = share.clamp(0.0, left);
        let rest = left - share;
        let mut painted: Row = row.clone();
        painted.retain(|&(other, _)| other != joint);
        if others > 0.0 {
            for (other, weight) in &mut painted {
                if !self.locks(*other) {
                    *weight *= rest / others;
                }
            }
            painted.push((joint, share));
        } else {
            match self.heir_of(usize::from(joint)).filter(|_| rest > 0.0) {
                Some(heir) => painted.extend([(joint, share), (heir as u16, rest)]),
                None => painted.push((joint, left)),
            }
        }
        painted.retain(|&(_, weight)| weight > 0.0);
        merged(painted)
    }

    fn check_paint(&self, paint: &Paint) -> Result<(), EditError> {
        let joint = match *paint {
            Paint::Add { joint, amount } => {
                check_number("amount", amount, -1.0..=1.0, "from -1 to 1")?;
                joint
            }
            Paint::Scale { joint, factor } => {
                check_number("factor", factor, 0.0..=f64::MAX, "at least 0")?;
                joint
            }
            Paint::Set { joint, value } => {
                check_number("weight", value, 0.0..=1.0, "from 0 to 1")?;
                joint
            }
            Paint::Smooth { strength } => {
                return check_number("strength", strength, 0.0..=1.0, "from 0 to 1");
            }
        };
        self.check_joint(joint)?;
        if self.locked[joint] {
            let joint = self.skeleton.joint_label(joint);
            return Err(EditError::Locked { joint });
        }
        Ok(())
    }

    /// The points from which distances to a place are known at once.
    fn starts_at(&self, place: StrokePoint) -> Result<Vec<(usize, f64)>, EditError> {
        match place {
            StrokePoint::Vertex(vertex) => Ok(vec![(self.point_of(vertex)?, 0.0)]),
            StrokePoint::Near(place) => {
                let coordinates = place.to_array().map(f64::from);
                for found in coordinates {
                    check_number("place of a brush", found, f64::MIN..=f64::MAX, "finite")?;
                }
                let Some(center) = self.surface.nearest(place, |_| true) else {
                    return Ok(Vec::new());
                };
                let corners = center.corners.iter().map(|&corner| {
                    let point = self.weld.point_of(corner as usize);
                    let away = self.fans.place(point).distance(center.point.as_dvec3());
                    (point, away)
                });
                Ok(corners.collect())
            }
        }
    }
}

impl Stroke<'_> {
    /// Touches the surface once, and gives the vertices that the brush covered. Where there is no
    /// surface, that is none.
    ///
    /// # Errors
    ///
    /// If a number of the brush is out of its range, or its joint does not exist or is locked.
    pub fn dab(&mut self, brush: &Brush, at: StrokePoint) -> Result<Vec<u32>, EditError> {
        self.dab_where(brush, at, |_| true)
    }

    fn dab_where(
        &mut self,
        brush: &Brush,
        at: StrokePoint,
        inside: impl Fn(u32) -> bool,
    ) -> Result<Vec<u32>, EditError> {
        let editor = self.editor;
        editor.check_paint(&brush.paint)?;
        let radii = f64::MIN_POSITIVE..=f64::MAX;
        check_number("radius", brush.radius, radii, "more than 0")?;
        let starts = editor.starts_at(at)?;
        let mut covered = editor.fans.within(brush.radius, &starts, &mut self.reached);
        covered.retain(|&(point, _)| inside(point));
        // What a dab does depends on what was there before it: rows are changed when all are known.
        for &(point, _) in &covered {
            self.look_at(point);
            if let Paint::Smooth { .. } = brush.paint {
                for &neighbour in editor.laplacian.row(point as usize).0 {
                    self.look_at(neighbour);
                }
            }
        }
        let painted = covered.iter().map(|&(point, distance)| {
            let cover = brush.falloff.at(distance / brush.radius);
            let row_at = |point: usize| &self.rows[&(point as u32)];
            match brush.paint {
                Paint::Smooth { strength } => {
                    editor.smoothed_row(point as usize, strength * cover, row_at, |_| true)
                }
                _ => editor.painted(row_at(point as usize), &brush.paint, cover),
            }
        });
        let painted: Vec<Row> = painted.collect();
        let mut vertices = Vec::with_capacity(covered.len());
        for (&(point, _), row) in covered.iter().zip(painted) {
            self.rows.insert(point, row);
            self.covered.insert(point);
            vertices.extend_from_slice(editor.vertices.row(point as usize));
        }
        vertices.sort_unstable();
        Ok(vertices)
    }

    /// Brings a point's row in.
    fn look_at(&mut self, point: u32) {
        let (editor, weights) = (self.editor, self.weights);
        let row = || editor.row(weights, point as usize);
        self.rows.entry(point).or_insert_with(row);
    }

    /// All that the stroke changes so far.
    ///
    /// # Errors
    ///
    /// If there are more influences than can be counted.
    pub fn change(&self) -> Result<Change, EditError> {
        let rows = self.covered.iter();
        let rows = rows.map(|&point| (point, self.rows[&point].clone()));
        self.editor.change(self.weights, rows)
    }
}
