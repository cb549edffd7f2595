// The rotation nearest to a matrix, `argmax tr(RᵀM)`: never a reflection.

// The gap, for a matrix of unit norm, above which the closed form has all digits of single
// precision.
const WIDE_GAP = 0.2;
// The gap below which the closed form has no correct digits.
const HARDLY_TOLD = 0.01;

fn cofactors(m: mat3x3<f32>) -> mat3x3<f32> {
    return mat3x3(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1]));
}

fn sum_of_squares(m: mat3x3<f32>) -> f32 {
    return dot(m[0], m[0]) + dot(m[1], m[1]) + dot(m[2], m[2]);
}

// The largest root λ of `λ⁴ − 2λ² − 8 det λ + 1 − 4‖cof‖²` is the sum of the singular values of a
// matrix of unit norm, the last with the sign of the determinant. The rotation has a closed form in
// λ. Where that is not accurate, `about` is the rotation to start from.
fn nearest_rotation(matrix: mat3x3<f32>, about: mat3x3<f32>) -> mat3x3<f32> {
    let squares = sum_of_squares(matrix);
    if !(squares > 1e-30 && squares < 1e30) {
        return about;
    }
    let m = matrix * inverseSqrt(squares);
    let c = cofactors(m);
    let determinant = dot(m[0], c[0]);
    let cofactor_squares = sum_of_squares(c);
    // A bound above all roots, exact for a ball and for flat matrices.
    let most = max(determinant, determinant * sqrt(3.0));
    var lambda = sqrt(1.0 + 2.0 * sqrt(max(cofactor_squares + 2.0 * most, 0.0)));
    // Halley's method.
    for (var i = 0; i < 3; i++) {
        let square = lambda * lambda;
        let value = (square - 2.0) * square
            + (1.0 - 4.0 * cofactor_squares - 8.0 * determinant * lambda);
        let slope = (square - 1.0) * lambda - 2.0 * determinant;
        let denominator = 8.0 * slope * slope - value * (3.0 * square - 1.0);
        if abs(denominator) < 1e-20 {
            break;
        }
        lambda -= 2.0 * value * slope / denominator;
    }
    let half = 0.5 * (lambda * lambda - 1.0);
    let gap = half * lambda - determinant;
    let closed = (m * (half + 1.0) + c * lambda - m * (transpose(m) * m)) * (1.0 / gap);
    if gap > WIDE_GAP {
        return closed;
    }
    // Where the closed form has lost some digits, it is still the better start.
    if gap > HARDLY_TOLD {
        return refined_rotation(m, straightened(closed));
    }
    return refined_rotation(m, about);
}

// A rotation near a matrix, by orthonormalising its columns.
fn straightened(m: mat3x3<f32>) -> mat3x3<f32> {
    let x = normalize(m[0]);
    let z = normalize(cross(x, m[1]));
    return mat3x3(x, cross(z, x), z);
}

// The least eigenvalue of a symmetric matrix, in closed form.
fn least_eigenvalue(s: mat3x3<f32>) -> f32 {
    let mean = (s[0].x + s[1].y + s[2].z) / 3.0;
    let off = s - mat3x3(mean, 0.0, 0.0, 0.0, mean, 0.0, 0.0, 0.0, mean);
    let spread = sqrt(sum_of_squares(off) / 6.0);
    if spread < 1e-12 {
        return mean;
    }
    let unit_off = off * (1.0 / spread);
    let third = acos(clamp(0.5 * determinant(unit_off), -1.0, 1.0)) / 3.0;
    return mean + 2.0 * spread * cos(third + 2.0943951);
}

// Newton's method on rotations, for ill-conditioned matrices: from `R`, the best small turn `θ`
// solves `(tr S − S) θ = axial(RᵀM)`, with `S` the symmetric part of `RᵀM`.
fn refined_rotation(m: mat3x3<f32>, start: mat3x3<f32>) -> mat3x3<f32> {
    var rotation = start;
    for (var i = 0; i < 40; i++) {
        let fit = transpose(rotation) * m;
        let axial = vec3(fit[1].z - fit[2].y, fit[2].x - fit[0].z, fit[0].y - fit[1].x);
        let trace = fit[0].x + fit[1].y + fit[2].z;
        let s = (fit + transpose(fit)) * -0.5;
        let bending = mat3x3(
            s[0] + vec3(trace, 0.0, 0.0), s[1] + vec3(0.0, trace, 0.0), s[2] + vec3(0.0, 0.0, trace)
        );
        // A small term keeps directions that the matrix does not determine. Far from the best
        // rotation, some directions have positive curvature; shifting the eigenvalues makes every
        // step climb, and few steps suffice in weakly determined directions.
        let added = 1e-6 - 2.0 * min(least_eigenvalue(bending), 0.0);
        let hessian = mat3x3(
            bending[0] + vec3(added, 0.0, 0.0),
            bending[1] + vec3(0.0, added, 0.0),
            bending[2] + vec3(0.0, 0.0, added),
        );
        let inverse = cofactors(hessian);
        var turn = transpose(inverse) * axial / dot(hessian[0], inverse[0]);
        let size = length(turn);
        if size > 1.0 {
            turn = turn / size;
        }
        rotation = rotation * rotation_of(vec4(turn * 0.5, 1.0));
        if size < 1e-7 {
            break;
        }
    }
    return rotation;
}
