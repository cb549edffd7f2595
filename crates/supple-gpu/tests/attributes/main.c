/* Fills what the shaders read with skin_palette.h, for the tests. Reads numbers of 32 bits, writes
   the three palettes, the rows and the ranges of direct delta mush. */
#include "skin_palette.h"
#include <stdio.h>
#include <stdlib.h>

static void *taken(FILE *in, size_t size, size_t count)
{
    void *numbers = malloc(size * count + 1);
    if (!numbers || fread(numbers, size, count, in) != count)
        exit(1);
    return numbers;
}

int main(int count, char **names)
{
    FILE *in = count == 3 ? fopen(names[1], "rb") : NULL;
    FILE *out = count == 3 ? fopen(names[2], "wb") : NULL;
    if (!in || !out)
        return 1;
    uint32_t *sizes = taken(in, 4, 3);
    size_t joints = sizes[0], vertices = sizes[1], influences = sizes[2];
    float *rest = taken(in, 64, joints);
    float *posed = taken(in, 64, joints);
    float *inverse_binds = taken(in, 64, joints);
    uint16_t *counts = taken(in, 2, vertices);
    uint16_t *mush_joints = taken(in, 2, influences);
    uint16_t *shares = taken(in, 4, influences);
    int16_t *patches = taken(in, 18, influences);
    float *scales = taken(in, 16, vertices);

    float *matrices = malloc(48 * joints);
    float *motions = malloc(32 * joints);
    float *stretches = malloc(80 * joints);
    float *origins = malloc(12 * joints);
    float *rows = malloc(48 * influences + 1);
    uint32_t *ranges = malloc(8 * vertices + 1);
    skin_matrix_palette(posed, joints, matrices);
    skin_joint_origins(inverse_binds, joints, origins);
    double rest_scale = skin_rest_scale(rest, joints);
    skin_rigid_palette(posed, origins, joints, rest_scale, motions);
    skin_stretch_palette(posed, origins, joints, rest_scale, stretches);
    skin_mush_rows(vertices, counts, mush_joints, shares, patches, scales, rows, ranges);
    fwrite(matrices, 48, joints, out);
    fwrite(motions, 32, joints, out);
    fwrite(stretches, 80, joints, out);
    fwrite(rows, 48, influences, out);
    fwrite(ranges, 8, vertices, out);
    return fclose(out);
}
