// A rigid motion of a joint: a quaternion and a shift.
struct Motion {
    rotation: vec4<f32>,
    shift: vec3<f32>,
}

fn motion_of(vertex: Vertex, joint: u32) -> Motion {
    return Motion(joint_vector(vertex, joint, 0u), joint_vector(vertex, joint, 1u).xyz);
}

// A blended rotation, and the blended position of a center.
struct Turn {
    rotation: vec4<f32>,
    carried: vec3<f32>,
}

fn turned_further(turn: Turn, motion: Motion, center: vec3<f32>, weight: f32) -> Turn {
    let q = motion.rotation;
    let across = cross(q.xyz, center) * 2.0;
    let turned = center + across * q.w + cross(q.xyz, across);
    return Turn(
        turn.rotation + q * (weight * sign_beside(turn.rotation, q)),
        turn.carried + (turned + motion.shift) * weight,
    );
}

fn turned_by_pair(turn: Turn, vertex: Vertex, influence: u32, center: vec3<f32>) -> Turn {
    let pair = pair_of(vertex, influence);
    let a = motion_of(vertex, pair.joints.x);
    let b = motion_of(vertex, pair.joints.y);
    return turned_further(
        turned_further(turn, a, center, pair.weights.x), b, center, pair.weights.y
    );
}

// The rotation `⊕ w_j q_j` about a center that moves to `Σ w_j T_j c`.
fn turned_by_joints(vertex: Vertex, center: vec3<f32>) -> Frame {
    var turn = turned_by_pair(Turn(vec4<f32>(), vec3<f32>()), vertex, 0u, center);
    for (var i = 2u; i < vertex.influences; i += 2u) {
        turn = turned_by_pair(turn, vertex, i, center);
    }
    if !SIGNS_PER_VERTEX && dot(turn.rotation, turn.rotation) < CANCELLED {
        // Only signs chosen per joint can cancel out; the heaviest joint is used then.
        turn.rotation = motion_of(vertex, influence_of(vertex, 0u).joint).rotation;
    }
    return turned_about(center, rotation_of(turn.rotation), turn.carried);
}
