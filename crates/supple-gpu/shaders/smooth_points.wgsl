// One term of smoothing: `δ ← δ − f y − L β`, `β ← β + δ`, with `(L β)_i = Σ share (β_i − β_j)`.

fn sum_at(at: u32) -> vec3<f32> {
    return vec3(sums[at], sums[at + 1u], sums[at + 2u]);
}

@compute @workgroup_size(LANES)
fn smooth_points(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = (group.x + group.z * point_row()) * LANES + lane;
    if index >= point_count() {
        return;
    }
    let point = point_of(index);
    for (var i = 0u; i <= call.stretches; i++) {
        let field = field_of(group.y, i);
        let first = 3u * point_count() * field;
        let own = sum_at(first + 3u * index);
        var pull = vec3<f32>();
        for (var n = 0u; n < point.neighbours; n++) {
            let word = POINT_WORDS + 2u * n;
            let other = sum_at(first + 3u * point_word(point, word));
            pull += (own - other) * bitcast<f32>(point_word(point, word + 1u));
        }
        let at_difference = field_place(field, DIFFERENCE, index);
        let at_change = field_place(field, CHANGE, index);
        var change = pull * (-term.factor * term.share);
        var sum = change;
        if term.is_first == 1u {
            // The sums are still zero; in their place is `x`.
            put_field_vector(at_difference, pull);
        } else {
            change = field_vector(at_change)
                - (field_vector(at_difference) * term.factor + pull) * term.share;
            sum = own + change;
        }
        put_field_vector(at_change, change);
        if term.goes_on == 1u {
            let at_source = field_place(field, SOURCE, index);
            sum = field_vector(at_source) + change;
            put_field_vector(at_source, sum);
        }
        put_sum(first + 3u * index, sum);
    }
}
