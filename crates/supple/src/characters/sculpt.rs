//! Strokes that shape a smooth surface further: noses and muscles, finer than the points of a cage.

use glam::DVec3;

/// A soft push of everything near a line; on both sides of the body.
pub(super) struct Stroke {
    /// The ends of the line, on the left side; in the middle, the mirror image of each other.
    ends: [[f64; 3]; 2],
    /// Its extent along each axis, at which it has fallen to about a third.
    reach: [f64; 3],
    /// The offset of its middle in metres; to the left on the left side.
    push: [f64; 3],
}

impl Stroke {
    /// A push around one place.
    pub(super) const fn dab(center: [f64; 3], reach: [f64; 3], push: [f64; 3]) -> Stroke {
        Stroke::line([center, center], reach, push)
    }

    /// A push around a line.
    pub(super) const fn line(ends: [[f64; 3]; 2], reach: [f64; 3], push: [f64; 3]) -> Stroke {
        Stroke { ends, reach, push }
    }

    /// True for a line that is its own mirror image.
    fn is_in_the_middle(&self) -> bool {
        self.ends[0][0] == -self.ends[1][0]
    }

    /// The strength at a place, from 0 to 1.
    fn at(&self, place: DVec3) -> f64 {
        let reach = DVec3::from(self.reach);
        let [from, to] = self.ends.map(|end| (place - DVec3::from(end)) / reach);
        let line = from - to;
        let along = (from.dot(line) / line.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        (-from.lerp(to, along).length_squared()).exp()
    }
}

/// Applies all strokes to a point of a body that is symmetric about the plane x = 0.
pub(super) fn sculpted(strokes: &[Stroke], point: DVec3) -> DVec3 {
    let left = DVec3::new(point.x.abs(), point.y, point.z);
    let mut push = DVec3::ZERO;
    for stroke in strokes {
        // The stroke's image on the other side counts as well, so that nothing creases in the
        // middle.
        let [here, there] = [left.x, -left.x].map(|x| stroke.at(DVec3::new(x, left.y, left.z)));
        let [x, y, z] = stroke.push;
        let middle = if stroke.is_in_the_middle() { 0.5 } else { 1.0 };
        push += DVec3::new(x * (here - there), y * (here + there), z * (here + there)) * middle;
    }
    if point.x < 0.0 {
        push.x = -push.x;
    }
    point + push
}
