// The highest of all heights within reach of the blur, for each block of texels of each map.
@group(0) @binding(0) var maps: texture_depth_2d_array;
@group(0) @binding(1) var<storage, read_write> nearest: array<f32>;
@group(0) @binding(2) var<storage, read_write> nearest_around: array<f32>;

// Depths, so that the highest is the smallest.
@compute @workgroup_size(1)
fn in_blocks(@builtin(workgroup_id) block: vec3<u32>) {
    var least = 1.0;
    for (var y = 0u; y < BLOCK; y++) {
        for (var x = 0u; x < BLOCK; x++) {
            let texel = vec2<i32>(block.xy * BLOCK + vec2(x, y));
            least = min(least, textureLoad(maps, texel, i32(block.z), 0));
        }
    }
    nearest[(block.z * BLOCKS + block.y) * BLOCKS + block.x] = least;
}

@compute @workgroup_size(1)
fn around_blocks(@builtin(workgroup_id) block: vec3<u32>) {
    var least = 1.0;
    for (var y = max(block.y, 1u) - 1u; y < min(block.y + 2u, BLOCKS); y++) {
        for (var x = max(block.x, 1u) - 1u; x < min(block.x + 2u, BLOCKS); x++) {
            least = min(least, nearest[(block.z * BLOCKS + y) * BLOCKS + x]);
        }
    }
    nearest_around[(block.z * BLOCKS + block.y) * BLOCKS + block.x] = least;
}
