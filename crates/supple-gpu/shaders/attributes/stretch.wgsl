// Adds the stretch of a joint, times a weight.
fn skin_add_stretch(sum: SkinRows, joint: u32, weight: f32) -> SkinRows {
    var rows: SkinRows = sum;
    rows.x += weight * palette[2u * joint + 2u];
    rows.y += weight * palette[2u * joint + 3u];
    rows.z += weight * palette[2u * joint + 4u];
    return rows;
}

// Adds the stretches of four joints, times their weights.
fn skin_add_stretches(sum: SkinRows, joints: vec4u, weights: vec4f) -> SkinRows {
    var rows: SkinRows = sum;
    for (var i: u32 = 0u; i < 4u; i++) {
        rows = skin_add_stretch(rows, joints[i], weights[i]);
    }
    return rows;
}
