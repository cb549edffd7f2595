// Direct delta mush v4: the vertex turns by the mean rotation of its joints, about the center
// of the smoothed surface around it, which moves by linear blending. `influences` is the first
// of the vertex's influences in `mush`, and their count.
fn skin_ddm_v4(
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
    var turn: vec4f = vec4f(0.0, 0.0, 0.0, 0.0);
    var moved: vec3f = vec3f(0.0, 0.0, 0.0);
    for (var i: u32 = influences.x; i < influences.x + influences.y; i++) {
        // Of an influence, this variant needs omega, psi and the joint.
        let omega: f32 = mush[3u * i].w;
        let last: vec4f = mush[3u * i + 2u];
        let q: vec4f = palette[2u * u32(last.w)];
        let shift: vec3f = palette[2u * u32(last.w) + 1u].xyz;
        turn += last.z * skin_nearer(turn, q);
        moved += omega * (skin_turned(q, center) + shift);
    }
    turn = normalize(turn);
    let position: vec3f = moved + skin_turned(turn, rest.position - center);
    return skin_placed(rest, turn, position, palette[heaviest + 1u].w);
}
