// A symmetric matrix of four rows.
struct SkinSymmetric {
    x: vec4f,
    y: vec4f,
    z: vec4f,
    w: vec4f,
}

// The square of a symmetric matrix, divided by its trace.
fn skin_squared(k: SkinSymmetric) -> SkinSymmetric {
    var s: SkinSymmetric;
    s.x = vec4f(dot(k.x, k.x), dot(k.x, k.y), dot(k.x, k.z), dot(k.x, k.w));
    s.y = vec4f(s.x.y, dot(k.y, k.y), dot(k.y, k.z), dot(k.y, k.w));
    s.z = vec4f(s.x.z, s.y.z, dot(k.z, k.z), dot(k.z, k.w));
    s.w = vec4f(s.x.w, s.y.w, s.z.w, dot(k.w, k.w));
    let trace: f32 = s.x.x + s.y.y + s.z.z + s.w.w;
    s.x /= trace;
    s.y /= trace;
    s.z /= trace;
    s.w /= trace;
    return s;
}

// The rotation nearest to a matrix with the columns a, b and c, never a reflection: the
// eigenvector of the greatest eigenvalue of a symmetric matrix. Squaring that matrix again and
// again leaves nothing else. `first` decides where several rotations are equally near.
fn skin_nearest_rotation(a: vec3f, b: vec3f, c: vec3f, first: vec4f) -> vec4f {
    let axis: vec3f = vec3f(b.z - c.y, c.x - a.z, a.y - b.x);
    let xy: f32 = a.y + b.x;
    let xz: f32 = a.z + c.x;
    let yz: f32 = b.z + c.y;
    // Added to the diagonal, this makes all eigenvalues positive.
    let size: f32 = sqrt(3.0 * (dot(a, a) + dot(b, b) + dot(c, c))) + 1e-15;
    var k: SkinSymmetric;
    k.x = vec4f(size + a.x - b.y - c.z, xy, xz, axis.x);
    k.y = vec4f(xy, size + b.y - a.x - c.z, yz, axis.y);
    k.z = vec4f(xz, yz, size + c.z - a.x - b.y, axis.z);
    k.w = vec4f(axis, size + a.x + b.y + c.z);
    for (var i: u32 = 0u; i < 16u; i++) {
        k = skin_squared(k);
    }
    var q: vec4f = vec4f(dot(k.x, first), dot(k.y, first), dot(k.z, first), dot(k.w, first));
    if (dot(q, q) < 0.01) {
        // Half a turn from `first`: the longest row.
        q = k.w;
        if (k.x.x > dot(q, q)) {
            q = k.x;
        }
        if (k.y.y > dot(q, q)) {
            q = k.y;
        }
        if (k.z.z > dot(q, q)) {
            q = k.z;
        }
    }
    return normalize(q);
}

// Direct delta mush: the rotation that fits the smoothed surface around the vertex best, about
// the center of that patch. `influences` is the first of the vertex's influences in `mush`, and
// their count.
fn skin_ddm(
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
    var a: vec3f = vec3f(0.0, 0.0, 0.0);
    var b: vec3f = a;
    var c: vec3f = a;
    var moved: vec3f = base;
    for (var i: u32 = influences.x; i < influences.x + influences.y; i++) {
        // Lever and omega; xx, xy, xz, yy; yz, zz, psi and the joint.
        let lever: vec4f = mush[3u * i];
        let m: vec4f = mush[3u * i + 1u];
        let last: vec4f = mush[3u * i + 2u];
        let q: vec4f = palette[2u * u32(last.w)];
        let shift: vec3f = palette[2u * u32(last.w) + 1u].xyz;
        // Relative to `base`: less rounding far from the origin.
        let d: vec3f = skin_turned(q, center) + shift - base;
        var arm: vec3f = lever.xyz;
        var x: vec3f = m.xyz;
        var y: vec3f = vec3f(m.y, m.w, last.x);
        var z: vec3f = vec3f(m.z, last.x, last.y);
        //+ arm = skin_direction(stretch, arm);
        //+ x = skin_direction(stretch, x);
        //+ y = skin_direction(stretch, y);
        //+ z = skin_direction(stretch, z);
        a += skin_turned(q, x) + lever.x * d;
        b += skin_turned(q, y) + lever.y * d;
        c += skin_turned(q, z) + lever.z * d;
        moved += skin_turned(q, arm) + lever.w * d;
    }
    //+ // Times the transpose of the stretch.
    //+ let s: SkinRows = stretch;
    //+ let p: vec3f = s.x.x * a + s.x.y * b + s.x.z * c;
    //+ let r: vec3f = s.y.x * a + s.y.y * b + s.y.z * c;
    //+ c = s.z.x * a + s.z.y * b + s.z.z * c;
    //+ a = p;
    //+ b = r;
    let turn: vec4f = skin_nearest_rotation(a, b, c, first);
    let position: vec3f = moved + skin_turned(turn, rest.position - center);
    return skin_placed(rest, turn, position, palette[heaviest + 1u].w);
}
