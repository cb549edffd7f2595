//! Painting: sets, adds to, scales or smooths weights, on a whole region (a flood) or around points
//! that a brush touches.

use super::row::{Row, merged, share_of};
use super::surface_distance::Reached;
use super::{Change, EditError, Editor, check_number};
use crate::weights::Weights;
use glam::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// Paint of a brush or flood: the change where it covers fully.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Paint {
    /// Adds to a joint's weight, or subtracts from it.
    Add {
        /// The joint.
        joint: usize,
        /// The difference, from −1 to 1.
        amount: f64,
    },
    /// Multiplies a joint's weight.
    Scale {
        /// The joint.
        joint: usize,
        /// The factor, at least 0.
        factor: f64,
    },
    /// Sets a joint's weight.
    Set {
        /// The joint.
        joint: usize,
        /// The weight, from 0 to 1.
        value: f64,
    },
    /// Moves the weights of all joints towards the mean of their neighbours on the surface.
    Smooth {
        /// The strength, from 0 to 1; at 1 weights become the mean.
        strength: f64,
    },
}

/// Falloff of a brush from its center to its border; `t` is the distance relative to the radius.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Falloff {
    /// `(1 − t²)²`: smooth at the center and at the border.
    #[default]
    Smooth,
    /// `1 − t`.
    Linear,
    /// No falloff.
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

/// A brush: paint, with a radius along the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Brush {
    /// The paint.
    pub paint: Paint,
    /// The radius.
    pub radius: f64,
    /// The falloff.
    pub falloff: Falloff,
}

/// A point at which a brush touches the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum StrokePoint {
    /// At a vertex.
    Vertex(usize),
    /// The point of the surface nearest to a position in space.
    Near(Vec3),
}

/// A stroke in progress. The time of a dab depends on the area that the brush covers, not on the
/// size of the surface.
pub struct Stroke<'a> {
    editor: &'a Editor,
    weights: &'a Weights,
    /// The current rows of the points visited so far.
    rows: BTreeMap<u32, Row>,
    /// The points covered by a brush.
    covered: BTreeSet<u32>,
    reached: Reached,
}

impl Editor {
    /// Starts a stroke.
    ///
    /// # Errors
    ///
    /// Fails if the weights have another number of vertices or joints than the character.
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

    /// The distance from a position of a brush to the surface, if there is a surface.
    pub fn distance_from(&self, place: Vec3) -> Option<f64> {
        let nearest = self.surface.nearest(place, |_| true);
        nearest.map(|there| there.distance)
    }

    /// Applies a whole stroke; points outside of the given ones are unchanged.
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

    /// The row after paint with a given coverage.
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

    /// The row with a given share of a joint: the other unlocked joints give or take in proportion.
    /// If there are none, the joint's fallback joint takes over the rest.
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
            match self
                .fallback_joint(usize::from(joint))
                .filter(|_| rest > 0.0)
            {
                Some(fallback) => painted.extend([(joint, share), (fallback as u16, rest)]),
                None => painted.push((joint, left)),
            }
        }
        painted.retain(|&(_, weight)| weight > 0.0);
        merged(painted)
    }

    fn check_paint(&self, paint: &Paint) -> Result<(), EditError> {
        let joint = match *paint {
            Paint::Add { joint, amount } => {
                check_number("the amount", amount, -1.0..=1.0, "from -1 to 1")?;
                joint
            }
            Paint::Scale { joint, factor } => {
                check_number("the factor", factor, 0.0..=f64::MAX, "at least 0")?;
                joint
            }
            Paint::Set { joint, value } => {
                check_number("the weight", value, 0.0..=1.0, "from 0 to 1")?;
                joint
            }
            Paint::Smooth { strength } => {
                check_number("the strength", strength, 0.0..=1.0, "from 0 to 1")?;
                return Ok(());
            }
        };
        self.check_joint(joint)?;
        if self.locked[joint] {
            let joint = self.skeleton.joint_label(joint);
            return Err(EditError::Locked { joint });
        }
        Ok(())
    }

    /// The points around a position, with their distances.
    fn starts_at(&self, place: StrokePoint) -> Result<Vec<(usize, f64)>, EditError> {
        match place {
            StrokePoint::Vertex(vertex) => Ok(vec![(self.point_of(vertex)?, 0.0)]),
            StrokePoint::Near(place) => {
                let coordinates = place.to_array().map(f64::from);
                for found in coordinates {
                    check_number(
                        "the position of a brush",
                        found,
                        f64::MIN..=f64::MAX,
                        "finite",
                    )?;
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
    /// Touches the surface once, and returns the vertices that the brush covered; none if there is
    /// no surface.
    ///
    /// # Errors
    ///
    /// Fails if a number of the brush is out of range, or its joint does not exist or is locked.
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
        check_number("the radius", brush.radius, radii, "more than 0")?;
        let starts = editor.starts_at(at)?;
        let mut covered = editor.fans.within(brush.radius, &starts, &mut self.reached);
        covered.retain(|&(point, _)| inside(point));
        // A dab depends on the weights before it, so rows are changed after all are computed.
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

    /// Loads the row of a point.
    fn look_at(&mut self, point: u32) {
        let (editor, weights) = (self.editor, self.weights);
        let row = || editor.row(weights, point as usize);
        self.rows.entry(point).or_insert_with(row);
    }

    /// All changes of the stroke so far.
    ///
    /// # Errors
    ///
    /// Fails if there are too many influences.
    pub fn change(&self) -> Result<Change, EditError> {
        let rows = self.covered.iter();
        let rows = rows.map(|&point| (point, self.rows[&point].clone()));
        self.editor.change(self.weights, rows)
    }
}
