// Direct delta mush v1 (§3.5.2), without a decomposition: the matrix `R' = Q P⁻¹` fits the patch
// best, and the frame turns by its cofactors, `R = det(R') R'^−T`.
//
// Where a patch is flat, its covariance `P` is nearly singular, and single precision could not
// divide by it. So levers `l_j` and moments `C_j` are stored along the axes `Z` of the patch (eq.
// 8), in units of its spread along each, `S = Λ^½`; the moments of all joints then sum to one. The
// heaviest joint moves the whole patch, and the others add their difference from it, `[D_j d_j] =
// M_j − M_0`: `R' = R_0 + Σ_j (D_j Z S C_j + d_j l_jᵀ) S⁻¹ Z⁻¹`. Nothing is rounded where joints
// move alike.
//
// A patch that `L` stretches has the moments `L C_j Lᵀ`: `L Z` replaces `Z`, and nothing else
// changes.

// The ratio of the least to the largest factor of a stretch below which it has lost a dimension, up
// to rounding. The least factor is the determinant over the cofactors.
const FLATTENED = 1e-6;

fn with_columns_scaled(m: mat3x3<f32>, factors: vec3<f32>) -> mat3x3<f32> {
    return mat3x3(m[0] * factors.x, m[1] * factors.y, m[2] * factors.z);
}

fn frame_of(vertex: Vertex) -> Frame {
    let stretch = stretch_of(vertex);
    let first = joint_frame(vertex, influence_of(vertex, 0u).joint, 1u);
    if is_alone(vertex) {
        return after_stretch(first, stretch, vertex);
    }
    let center = transform_point(stretch, own_vector(vertex, 0u));
    let axes = linear_part(stretch)
        * rotation_of(vec4(own_vector(vertex, 3u), own_number(vertex, 6u)));
    // Negative where a variance is, which only numbers from other sources can be.
    let spreads = own_vector(vertex, 7u);
    let sides = with_columns_scaled(axes, spreads);
    var beyond = mat3x3<f32>();
    var middle = transform_point(first, center);
    for (var i = 1u; i < vertex.influences; i++) {
        let influence = influence_of(vertex, i);
        let motion = add_scaled(joint_frame(vertex, influence.joint, 1u), first, -1.0);
        let shift = transform_point(motion, center);
        let turned = linear_part(motion) * sides;
        let lever = influence_vector(vertex, i, 0u);
        beyond += turned * influence_moments(vertex, i)
            + mat3x3(shift * lever.x, shift * lever.y, shift * lever.z);
        middle += turned * lever + shift * influence.weight;
    }
    let turn = linear_part(first);
    let widths = abs(spreads);
    let across = cofactors(axes);
    let volume = dot(axes[0], across[0]);
    // Cofactors whose squares underflow cannot be divided by, either.
    let most = sqrt(sum_of_squares(axes) * max(sum_of_squares(across), 1e-30));
    var rotation: mat3x3<f32>;
    if min(widths.x, min(widths.y, widths.z)) > 0.0 && abs(volume) > FLATTENED * most {
        let per_side = with_columns_scaled(across, 1.0 / widths) * (1.0 / volume);
        rotation = cofactors(turn + beyond * transpose(per_side));
    } else {
        // The rotation nearest to `Q`; the identity for a patch that is a point.
        let q = (turn * with_columns_scaled(axes, widths) + beyond) * transpose(sides);
        rotation = nearest_rotation(q, mat3x3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0));
    }
    return after_stretch(turned_about(center, rotation, middle), stretch, vertex);
}
