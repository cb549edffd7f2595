// Copies numbers, to measure the bandwidth of memory.
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> copied: array<vec4<u32>>;

const GROUP = 256u;

@compute @workgroup_size(GROUP)
fn copy_all(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let index = id.x + id.y * groups.x * GROUP;
    if index < arrayLength(&copied) {
        copied[index] = source[index];
    }
}
