//! A bounding box tree over the segments of all holds, for nearest-segment queries.

use super::handles::{Hold, Segment};
use glam::DVec3;

/// A balanced tree of bounding boxes over segments.
pub(super) struct SegmentTree<'h> {
    holds: &'h [Hold],
    /// In the order of the leaves.
    members: Vec<Member>,
    /// The first child of a node directly follows it.
    nodes: Vec<Node>,
}

/// A segment of a hold, by index.
#[derive(Clone, Copy)]
pub(super) struct Member {
    pub(super) hold: u32,
    pub(super) segment: u32,
}

struct Node {
    bounds: Box3,
    content: Content,
}

#[derive(Clone, Copy)]
enum Content {
    Leaf { first: u32, end: u32 },
    Inner { second_child: u32 },
}

#[derive(Clone, Copy)]
struct Box3 {
    low: DVec3,
    high: DVec3,
}

/// A hold near a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub(super) hold: u16,
    /// Its nearest point.
    pub(super) point: DVec3,
    /// The squared distance.
    pub(super) square: f64,
}

/// The largest number of segments of a leaf.
const LEAF: usize = 4;

/// The margin of boxes, relative to their distance from the origin: more than rounding can move a
/// point of a segment.
const MARGIN: f64 = 1e-12;

impl Box3 {
    fn of(segment: &Segment) -> Box3 {
        let [from, to] = [segment.from, segment.at(1.0)];
        let margin = MARGIN * (1.0 + from.abs().max(to.abs()).max_element());
        Box3 {
            low: from.min(to) - margin,
            high: from.max(to) + margin,
        }
    }

    fn union(self, other: Box3) -> Box3 {
        Box3 {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    fn distance_squared(&self, place: DVec3) -> f64 {
        place.clamp(self.low, self.high).distance_squared(place)
    }
}

impl<'h> SegmentTree<'h> {
    pub(super) fn over(holds: &'h [Hold]) -> SegmentTree<'h> {
        let members = holds.iter().enumerate().flat_map(|(hold, of_hold)| {
            (0..of_hold.segments.len() as u32).map(move |segment| Member {
                hold: hold as u32,
                segment,
            })
        });
        let mut members: Vec<Member> = members.collect();
        let mut tree = SegmentTree {
            holds,
            members: Vec::new(),
            nodes: Vec::with_capacity(members.len()),
        };
        if !members.is_empty() {
            tree.add(&mut members, 0);
        }
        tree.members = members;
        tree
    }

    fn segment(&self, member: Member) -> &'h Segment {
        &self.holds[member.hold as usize].segments[member.segment as usize]
    }

    /// Adds the node of some members, the first of which has the index `first`.
    fn add(&mut self, members: &mut [Member], first: usize) {
        let boxes = members
            .iter()
            .map(|member| Box3::of(self.segment(*member)))
            .reduce(Box3::union);
        let Some(bounds) = boxes else {
            return;
        };
        let index = self.nodes.len();
        self.nodes.push(Node {
            bounds,
            content: Content::Leaf {
                first: first as u32,
                end: (first + members.len()) as u32,
            },
        });
        if members.len() <= LEAF {
            return;
        }
        let axis = (bounds.high - bounds.low).max_position();
        let middle = |member: &Member| self.segment(*member).at(0.5)[axis];
        let half = members.len() / 2;
        // Halves the number of segments, not the space, so that the depth is the same for segments
        // in one position.
        members.select_nth_unstable_by(half, |a, b| {
            let order = middle(a).total_cmp(&middle(b));
            order.then((a.hold, a.segment).cmp(&(b.hold, b.segment)))
        });
        let (one, other) = members.split_at_mut(half);
        self.add(one, first);
        self.nodes[index].content = Content::Inner {
            second_child: self.nodes.len() as u32,
        };
        self.add(other, first + half);
    }

    /// Visits all segments within the square root of `within`, which `see` may lower, with their
    /// nearest points and squared distances.
    pub(super) fn walk(
        &self,
        place: DVec3,
        mut within: f64,
        mut see: impl FnMut(Member, DVec3, f64, &mut f64),
    ) {
        let mut stack = vec![0usize; usize::from(!self.nodes.is_empty())];
        while let Some(index) = stack.pop() {
            let node = &self.nodes[index];
            if node.bounds.distance_squared(place) > within {
                continue;
            }
            match node.content {
                Content::Leaf { first, end } => {
                    for &member in &self.members[first as usize..end as usize] {
                        let segment = self.segment(member);
                        let point = segment.at(segment.share_nearest(place));
                        let square = point.distance_squared(place);
                        if square <= within {
                            see(member, point, square, &mut within);
                        }
                    }
                }
                Content::Inner { second_child } => {
                    let children = [index + 1, second_child as usize];
                    let [a, b] =
                        children.map(|child| self.nodes[child].bounds.distance_squared(place));
                    // Visits the nearer child first.
                    let [one, other] = children;
                    stack.extend(if a <= b { [other, one] } else { [one, other] });
                }
            }
        }
    }

    /// True if a segment that satisfies `fits` may reach into a box.
    pub(super) fn any_through(
        &self,
        low: DVec3,
        high: DVec3,
        fits: impl Fn(&Segment) -> bool,
    ) -> bool {
        let mut stack = vec![0usize; usize::from(!self.nodes.is_empty())];
        while let Some(index) = stack.pop() {
            let Node { bounds, content } = &self.nodes[index];
            if bounds.low.cmpgt(high).any() || bounds.high.cmplt(low).any() {
                continue;
            }
            match *content {
                Content::Leaf { first, end } => {
                    let mut members = self.members[first as usize..end as usize].iter();
                    if members.any(|member| fits(self.segment(*member))) {
                        return true;
                    }
                }
                Content::Inner { second_child } => stack.extend([second_child as usize, index + 1]),
            }
        }
        false
    }

    /// The squared distance to the nearest hold.
    pub(super) fn nearest_square(&self, place: DVec3) -> f64 {
        let mut least = f64::INFINITY;
        self.walk(place, least, |_, _, square, within| {
            least = least.min(square);
            *within = least;
        });
        least
    }

    /// The squared distance to the nearest hold except one.
    pub(super) fn nearest_other_square(&self, place: DVec3, hold: usize) -> f64 {
        let mut least = f64::INFINITY;
        self.walk(place, least, |member, _, square, within| {
            if member.hold as usize != hold {
                least = least.min(square);
                *within = least;
            }
        });
        least
    }

    /// Collects the holds within the square root of `square` into `near`, in rising order.
    pub(super) fn within(&self, place: DVec3, square: f64, near: &mut Vec<Near>) {
        let mut found: Vec<(Member, DVec3, f64)> = Vec::new();
        self.walk(place, square, |member, point, square, _| {
            found.push((member, point, square));
        });
        // Of the segments of a hold, the nearest one counts; of ties, the first.
        found.sort_by(|(a, _, one), (b, _, other)| {
            let order = a.hold.cmp(&b.hold).then(one.total_cmp(other));
            order.then(a.segment.cmp(&b.segment))
        });
        found.dedup_by_key(|(member, ..)| member.hold);
        near.clear();
        near.extend(found.into_iter().map(|(member, point, square)| Near {
            hold: member.hold as u16,
            point,
            square,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::super::oriented_surface::OrientedSurface;
    use super::super::test_bodies::{bones, boxes};
    use super::*;

    #[test]
    fn near_holds_are_those_of_looking_at_all_of_them() {
        let shape = OrientedSurface::of(&boxes(&[([0.0; 3], [1.0; 3])]));
        let number = |at: usize, step: f64| (at as f64 * step).fract();
        let place = |at: usize| [0.618034, 0.7548777, 0.5698403].map(|step| number(at, step));
        let ends: Vec<_> = (0..300).map(|at| (place(at), place(3 * at + 1))).collect();
        let mut handles = bones(&ends);
        // Some at one position, some with many bones.
        for at in 0..20 {
            let of_other = handles[5].bones.clone();
            handles[at].bones = of_other;
            let more = handles[100 + at].bones.clone();
            handles[200].bones.extend(more);
        }
        let holds = Hold::all_of(&handles, &shape);
        let tree = SegmentTree::over(&holds);
        let mut near = Vec::new();
        for at in 0..100 {
            let place = DVec3::from_array(place(7 * at + 3)) * 2.0 - 1.0;
            let all: Vec<(DVec3, f64)> = holds.iter().map(|hold| hold.nearest(place)).collect();
            let least = all.iter().map(|near| near.1).fold(f64::INFINITY, f64::min);
            assert_eq!(tree.nearest_square(place), least);
            tree.within(place, 4.0 * least, &mut near);
            let expected = all.iter().enumerate();
            let expected = expected.filter(|(_, (_, square))| *square <= 4.0 * least);
            let expected: Vec<_> = expected
                .map(|(hold, &(point, square))| (hold as u16, point, square))
                .collect();
            let found: Vec<_> = near
                .iter()
                .map(|near| (near.hold, near.point, near.square))
                .collect();
            assert_eq!(found, expected);
        }
    }
}
