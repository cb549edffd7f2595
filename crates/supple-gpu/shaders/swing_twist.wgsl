// Swing-twist deformers (§4 and §5 of the course): linear blending, plus the difference of blending
// twists as angles at every hinge between two joints of the vertex.

const HINGE_VECTORS = 8u;

// A rotation about the bone of a hinge, relative to its pivot.
fn turned_bone(axis: vec3<f32>, pivot: vec3<f32>, angle: f32) -> Frame {
    let turn = turn_about(axis, angle);
    return frame_from(turn, -(turn * pivot));
}

fn between(frame: Frame, other: Frame, share: f32) -> Frame {
    return add_scaled(frame, add_scaled(other, frame, -1.0), share);
}

// The difference of `Γ` from linear blending, at a share of the way from the joint above to the one
// below.
fn beyond_linear(vertex: Vertex, hinge: u32, share: f32) -> Frame {
    let first = hinge * HINGE_VECTORS;
    let above = shared_frame(vertex, first);
    let swung = shared_frame(vertex, first + 3u);
    let axis = shared_vector(vertex, first + 6u);
    let pivot = shared_vector(vertex, first + 7u).xyz;
    let swing = between(above, swung, share);
    let below = after(swung, turned_bone(axis.xyz, pivot, axis.w));
    let twisted = after(swing, turned_bone(axis.xyz, pivot, axis.w * share));
    let untwisted = between(after(above, turned_bone(axis.xyz, pivot, 0.0)), below, share);
    return add_scaled(twisted, untwisted, -1.0);
}

fn frame_of(vertex: Vertex) -> Frame {
    var frame = blended_frame(vertex, 0u);
    // Σ w_a w_b over all pairs, from the sums over all influences.
    var sum = 0.0;
    var squares = 0.0;
    for (var i = 0u; i < vertex.influences; i++) {
        let weight = influence_of(vertex, i).weight;
        sum += weight;
        squares += weight * weight;
    }
    let total = 0.5 * (sum * sum - squares);
    for (var a = 0u; a < vertex.influences; a++) {
        let above = influence_of(vertex, a);
        for (var b = 0u; b < vertex.influences; b++) {
            let below = influence_of(vertex, b);
            let importance = above.weight * below.weight;
            if importance == 0.0 || total <= 0.0 {
                continue;
            }
            let hinge = table[above.joint * call.joints + below.joint];
            if hinge != 0u {
                let share = below.weight / (above.weight + below.weight);
                frame = add_scaled(
                    frame, beyond_linear(vertex, hinge - 1u, share), importance / total
                );
            }
        }
    }
    return after_stretch(frame, stretch_of(vertex), vertex);
}
