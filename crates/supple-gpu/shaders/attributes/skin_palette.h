/* Prepares what the shaders of `supple shaders --layout attributes` read. Plain C99, also C++; no
   dependencies. Matrices are as in glTF: 16 floats, column by column. */
#ifndef SKIN_PALETTE_H
#define SKIN_PALETTE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* For linear and ddm-v5, every frame: 12 floats per joint, the rows of its matrix (three vec4).
   `matrices` are those of the joints: world from joint * inverse bind matrix. */
static inline void skin_matrix_palette(const float *matrices, size_t joints, float *palette)
{
    for (size_t joint = 0; joint < joints; joint++)
        for (int row = 0; row < 3; row++)
            for (int column = 0; column < 4; column++)
                palette[12 * joint + 4 * row + column] = matrices[16 * joint + 4 * column + row];
}

/* The uniform scale of a matrix, negative if it mirrors. */
static inline double skin_scale(const float *m)
{
    double x = (double)m[5] * m[10] - (double)m[9] * m[6];
    double y = (double)m[6] * m[8] - (double)m[10] * m[4];
    double z = (double)m[4] * m[9] - (double)m[8] * m[5];
    return cbrt(m[0] * x + m[1] * y + m[2] * z);
}

/* For skin_rigid_palette, once per character: the scale of the median joint in the rest pose. It
   isn't 1 in files in centimetres or under a scaled node. `matrices` are those of the rest pose. */
static inline double skin_rest_scale(const float *matrices, size_t joints)
{
    for (size_t one = 0; one < joints; one++) {
        double scale = fabs(skin_scale(matrices + 16 * one));
        size_t below = 0, alike = 0;
        for (size_t other = 0; other < joints; other++) {
            double its = fabs(skin_scale(matrices + 16 * other));
            below += its < scale;
            alike += its == scale;
        }
        if (scale > 0.0 && below <= joints / 2 && joints / 2 < below + alike)
            return scale;
    }
    return 1.0;
}

/* The rotation nearest to a matrix, as a quaternion x, y, z, w: the eigenvector of the greatest
   eigenvalue of a symmetric matrix. Squaring that matrix again and again leaves nothing else. */
static inline void skin_nearest_rotation(double m[3][3], double q[4])
{
    double squares = 0.0;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            squares += m[row][column] * m[row][column];
    /* Added to the diagonal, this makes all eigenvalues positive. */
    double size = sqrt(3.0 * squares) + 1e-100;
    double k[4][4] = {
        { m[0][0] - m[1][1] - m[2][2], m[1][0] + m[0][1], m[2][0] + m[0][2], m[2][1] - m[1][2] },
        { m[1][0] + m[0][1], m[1][1] - m[0][0] - m[2][2], m[2][1] + m[1][2], m[0][2] - m[2][0] },
        { m[2][0] + m[0][2], m[2][1] + m[1][2], m[2][2] - m[0][0] - m[1][1], m[1][0] - m[0][1] },
        { m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], m[0][0] + m[1][1] + m[2][2] },
    };
    for (int i = 0; i < 4; i++)
        k[i][i] += size;
    for (int pass = 0; pass < 24; pass++) {
        double square[4][4], trace = k[0][0] + k[1][1] + k[2][2] + k[3][3];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                square[i][j] = 0.0;
                for (int n = 0; n < 4; n++)
                    square[i][j] += k[i][n] / trace * (k[n][j] / trace);
            }
        for (int i = 0; i < 16; i++)
            k[i / 4][i % 4] = square[i / 4][i % 4];
    }
    int longest = 3;
    for (int i = 0; i < 3; i++)
        if (k[i][i] > k[longest][longest])
            longest = i;
    double length = 0.0;
    for (int i = 0; i < 4; i++)
        length += k[longest][i] * k[longest][i];
    for (int i = 0; i < 4; i++)
        q[i] = k[longest][i] / sqrt(length);
}

/* A vector, turned by a unit quaternion. */
static inline void skin_turn(const double q[4], const double v[3], double turned[3])
{
    double across[3];
    for (int i = 0; i < 3; i++)
        across[i] = 2.0 * (q[(i + 1) % 3] * v[(i + 2) % 3] - q[(i + 2) % 3] * v[(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        turned[i] = v[i] + q[3] * across[i] + q[(i + 1) % 3] * across[(i + 2) % 3]
            - q[(i + 2) % 3] * across[(i + 1) % 3];
}

/* What skin_rigid_palette and skin_stretch_palette write: 8 or 20 floats per joint. */
static inline void skin_fill_palette(const float *matrices, const float *origins, size_t joints,
                                     double rest_scale, size_t floats, float *palette)
{
    /* A character that grows as a whole: the factor nearest to 1 of all joints. */
    double low = INFINITY, high = 0.0;
    size_t mirrored = 0;
    for (size_t joint = 0; joint < joints; joint++) {
        double scale = skin_scale(matrices + 16 * joint);
        low = fmin(low, fabs(scale) / rest_scale);
        high = fmax(high, fabs(scale) / rest_scale);
        mirrored += scale < 0.0;
    }
    double scale = rest_scale * (low > 1.0 ? low : high < 1.0 && high > 0.0 ? high : 1.0);
    if (mirrored == joints)
        scale = -scale;
    for (size_t joint = 0; joint < joints; joint++, palette += floats) {
        const float *matrix = matrices + 16 * joint;
        double m[3][3], q[4], turned[3], origin[3];
        for (int row = 0; row < 3; row++) {
            origin[row] = origins[3 * joint + row];
            for (int column = 0; column < 3; column++)
                m[row][column] = matrix[4 * column + row] / scale;
        }
        skin_nearest_rotation(m, q);
        skin_turn(q, origin, turned);
        for (int row = 0; row < 3; row++) {
            /* The motion takes the joint's origin to where its matrix takes it. */
            double moved = m[row][0] * origin[0] + m[row][1] * origin[1] + m[row][2] * origin[2]
                + matrix[12 + row] / scale;
            palette[row] = (float)q[row];
            palette[4 + row] = (float)(moved - turned[row]);
        }
        palette[3] = (float)q[3];
        palette[7] = (float)scale;
        if (floats < 20)
            continue;
        /* The stretch before the rotation, about the joint's origin. */
        double back[4] = { -q[0], -q[1], -q[2], q[3] };
        double fixed[3] = { origin[0], origin[1], origin[2] };
        for (int column = 0; column < 3; column++) {
            double side[3] = { m[0][column], m[1][column], m[2][column] }, stretch[3];
            skin_turn(back, side, stretch);
            for (int row = 0; row < 3; row++) {
                palette[8 + 4 * row + column] = (float)stretch[row];
                fixed[row] -= stretch[row] * origin[column];
            }
        }
        for (int row = 0; row < 3; row++)
            palette[8 + 4 * row + 3] = (float)fixed[row];
    }
}

/* For all other methods, every frame: 8 floats per joint (two vec4), its rotation as a quaternion
   x, y, z, w, its translation, and the scale that all joints share. Methods that blend rigid
   motions need that scale apart. Joints that stretch one by one keep their size, at the right
   place: `origins` are those of the joints in the bind pose, from skin_joint_origins. */
static inline void skin_rigid_palette(const float *matrices, const float *origins, size_t joints,
                                      double rest_scale, float *palette)
{
    skin_fill_palette(matrices, origins, joints, rest_scale, 8, palette);
}

/* The same for functions written with --stretch: 20 floats per joint (five vec4), the eight of
   skin_rigid_palette and the rows of its stretch. */
static inline void skin_stretch_palette(const float *matrices, const float *origins,
                                        size_t joints, double rest_scale, float *palette)
{
    skin_fill_palette(matrices, origins, joints, rest_scale, 20, palette);
}

/* For skin_rigid_palette, once per character: 3 floats per joint, its origin in the bind pose, from
   the inverse bind matrices. */
static inline void skin_joint_origins(const float *inverse_binds, size_t joints, float *origins)
{
    for (size_t joint = 0; joint < joints; joint++) {
        const float *m = inverse_binds + 16 * joint;
        double determinant = 0.0, origin[3] = { 0.0, 0.0, 0.0 };
        for (int row = 0; row < 3; row++) {
            int next = (row + 1) % 3, last = (row + 2) % 3;
            for (int column = 0; column < 3; column++) {
                const float *a = m + 4 * ((column + 1) % 3), *b = m + 4 * ((column + 2) % 3);
                double cofactor = (double)a[next] * b[last] - (double)a[last] * b[next];
                origin[column] -= cofactor * m[12 + row];
                determinant += cofactor * m[4 * column + row] / 3.0;
            }
        }
        for (int column = 0; column < 3; column++)
            origins[3 * joint + column] =
                (float)(determinant == 0.0 ? 0.0 : origin[column] / determinant);
    }
}

/* For ddm, ddm-v2 and ddm-v4, once per primitive: decodes the accessors of the extension
   SUPPLE_direct_delta_mush. `rows` gets 12 floats per influence (three vec4): lever and omega; the
   moments xx, xy, xz, yy, yz, zz; psi and the joint. `ranges` gets two numbers per vertex: its
   first influence, and how many it has. Counts and joints that the file stores as bytes must be
   widened before. */
static inline void skin_mush_rows(size_t vertices, const uint16_t *counts, const uint16_t *joints,
                                  const uint16_t *shares, const int16_t *patches,
                                  const float *scales, float *rows, uint32_t *ranges)
{
    static const int axes[6][2] = { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 1, 1 }, { 1, 2 }, { 2, 2 } };
    size_t i = 0;
    for (size_t vertex = 0; vertex < vertices; vertex++, scales += 4) {
        ranges[2 * vertex] = (uint32_t)i;
        ranges[2 * vertex + 1] = counts[vertex];
        for (size_t end = i + counts[vertex]; i < end; i++) {
            float *row = rows + 12 * i;
            for (int axis = 0; axis < 3; axis++)
                row[axis] = patches[9 * i + axis] / 32767.0f * scales[0];
            row[3] = shares[2 * i] / 65535.0f;
            for (int n = 0; n < 6; n++)
                row[4 + n] = patches[9 * i + 3 + n] / 32767.0f * scales[1 + axes[n][0]]
                    * scales[1 + axes[n][1]];
            row[10] = shares[2 * i + 1] / 65535.0f;
            row[11] = joints[i];
        }
    }
}

#endif
