// What a lamp sees: the highest surface of each texel is the nearest. The instance says which lamp.
@group(2) @binding(0) var<storage, read> lamps: array<Lamp>;

@vertex
fn draw_map(
    @builtin(vertex_index) index: u32,
    @builtin(instance_index) instance: u32,
) -> @builtin(position) vec4<f32> {
    let place = place_in_map(lamps[instance], on_stage(posed_vertex(index, 0u).position));
    let flat = place.xy / f32(MAP_SIZE) * 2.0 - 1.0;
    return vec4(flat.x, -flat.y, 0.5 - 0.5 * place.z / view.key.w, 1.0);
}
