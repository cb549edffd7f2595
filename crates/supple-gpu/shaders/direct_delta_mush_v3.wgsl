// Direct delta mush v3 (§3.5.3): rotations from matrices blended by ψ; the delta keeps its length.

// The largest uniform scale of a blend of rotations, and the largest scale of a delta, above which
// its direction is only rounding.
const MOST_STRETCHED = 16.0;
const NO_DIRECTION = 1e4;

fn frame_of(vertex: Vertex) -> Frame {
    let stretch = stretch_of(vertex);
    if is_alone(vertex) {
        return after_stretch(
            joint_frame(vertex, influence_of(vertex, 0u).joint, 1u), stretch, vertex
        );
    }
    let center = transform_point(stretch, own_vector(vertex, 0u));
    let delta = transform_vector(stretch, own_vector(vertex, 3u));
    var blend = ZERO;
    for (var i = 0u; i < vertex.influences; i++) {
        let joint = joint_frame(vertex, influence_of(vertex, i).joint, 1u);
        blend = add_scaled(blend, joint, influence_number(vertex, i, 3u));
    }
    let turned = transform_vector(blend, delta);
    // Without a delta there is nothing to scale, and where rotations cancel out there is no
    // direction to scale along.
    var factor = 1.0;
    if length(delta) < NO_DIRECTION * length(turned) {
        factor = length(delta) / length(turned);
    }
    let even = min(factor, MOST_STRETCHED);
    var rotation = linear_part(blend) * even;
    if factor > even {
        // Along the delta only, so that nothing else that the frame moves is scaled with it.
        let along = delta / dot(delta, delta);
        let rest = turned * (factor - even);
        rotation += mat3x3(rest * along.x, rest * along.y, rest * along.z);
    }
    return after_stretch(
        turned_about(center, rotation, gathered_middle(vertex, stretch, center)), stretch, vertex
    );
}
