// Direct delta mush v2: the vertex turns by the mean rotation of its joints, about the center
// of the smoothed surface around it. `influences` is the first of the vertex's influences in
// `mush`, and their count.
fn skin_ddm_v2(
    rest: SkinVertex,
    center: vec3f,
    influences: vec2u,
) -> SkinVertex {
    //+ // First, the weighted mean of the joints' stretches.
    //+ var stretch: SkinRows = skin_zero_rows();
    //+ for (var i: u32 = influences.x; i < influences.x + influences.y; i++) {
    //+     let joint: u32 = u32(mush[3u * i + 2u].w);
    //+     stretch = skin_add_stretch(stretch, joint, mush[3u * i].w);
    //+ }
    //+ let rest: SkinVertex = skin_moved(stretch, bind);
    //+ let center: vec3f = skin_point(stretch, bind_center);
    let heaviest: u32 = 2u * u32(mush[3u * influences.x + 2u].w);
    let first: vec4f = palette[heaviest];
    let base: vec3f = skin_turned(first, center) + palette[heaviest + 1u].xyz;
    var turn: vec4f = vec4f(0.0, 0.0, 0.0, 0.0);
    var moved: vec3f = base;
    for (var i: u32 = influences.x; i < influences.x + influences.y; i++) {
        // Lever and omega; moments, which this variant doesn't need; yz, zz, psi and the joint.
        let lever: vec4f = mush[3u * i];
        let last: vec4f = mush[3u * i + 2u];
        let q: vec4f = palette[2u * u32(last.w)];
        let shift: vec3f = palette[2u * u32(last.w) + 1u].xyz;
        // Relative to `base`: less rounding far from the origin.
        let d: vec3f = skin_turned(q, center) + shift - base;
        turn += last.z * skin_nearer(turn, q);
        var arm: vec3f = lever.xyz;
        //+ arm = skin_direction(stretch, arm);
        moved += skin_turned(q, arm) + lever.w * d;
    }
    turn = normalize(turn);
    let position: vec3f = moved + skin_turned(turn, rest.position - center);
    return skin_placed(rest, turn, position, palette[heaviest + 1u].w);
}
