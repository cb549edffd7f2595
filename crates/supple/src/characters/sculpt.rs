//! Strokes that shape a smooth surface further: noses and muscles, finer than the points of a cage.

use glam::DVec3;

/// A soft push of everything near a place; on both sides of the body.
pub(super) struct Stroke {
    /// On the left side, or in the middle.
    pub(super) center: [f64; 3],
    /// Its extent along each axis, at which it has fallen to about a third.
    pub(super) reach: [f64; 3],
    /// The offset of its middle in metres; to the left on the left side.
    pub(super) push: [f64; 3],
}

/// Applies all strokes to a point of a body that is symmetric about the plane x = 0.
pub(super) fn sculpted(strokes: &[Stroke], point: DVec3) -> DVec3 {
    let left = DVec3::new(point.x.abs(), point.y, point.z);
    let mut push = DVec3::ZERO;
    for stroke in strokes {
        let at = |x: f64| {
            let place = DVec3::new(x, left.y, left.z);
            let distance = (place - DVec3::from(stroke.center)) / DVec3::from(stroke.reach);
            (-distance.length_squared()).exp()
        };
        // The stroke's image on the other side counts as well, so that nothing creases in the
        // middle.
        let (here, there) = (at(left.x), at(-left.x));
        let [x, y, z] = stroke.push;
        let middle = if stroke.center[0] == 0.0 { 0.5 } else { 1.0 };
        push += DVec3::new(x * (here - there), y * (here + there), z * (here + there)) * middle;
    }
    if point.x < 0.0 {
        push.x = -push.x;
    }
    point + push
}
