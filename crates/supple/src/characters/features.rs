//! The figure's face, and the muscles and bones that show.

use super::sculpt::Stroke;

/// From the head down.
#[rustfmt::skip]
pub(super) const STROKES: [Stroke; 25] = [
    // Nose: bridge and tip.
    Stroke { center: [0.000, 1.634, 0.100], reach: [0.011, 0.022, 0.040], push: [0.0, 0.0, 0.013] },
    Stroke { center: [0.000, 1.613, 0.105], reach: [0.013, 0.011, 0.040], push: [0.0, 0.0, 0.018] },
    // Eye sockets and brows.
    Stroke { center: [0.031, 1.651, 0.085], reach: [0.017, 0.012, 0.040], push: [0.0, 0.0, -0.011] },
    Stroke { center: [0.026, 1.672, 0.090], reach: [0.026, 0.009, 0.040], push: [0.0, 0.0, 0.004] },
    // Lips, the groove below them, chin, cheekbones.
    Stroke { center: [0.000, 1.581, 0.100], reach: [0.020, 0.009, 0.040], push: [0.0, 0.0, 0.005] },
    Stroke { center: [0.000, 1.564, 0.100], reach: [0.020, 0.007, 0.040], push: [0.0, 0.0, -0.004] },
    Stroke { center: [0.000, 1.544, 0.100], reach: [0.018, 0.014, 0.040], push: [0.0, 0.0, 0.008] },
    Stroke { center: [0.046, 1.630, 0.070], reach: [0.020, 0.016, 0.030], push: [0.003, 0.0, 0.004] },
    Stroke { center: [0.046, 1.590, 0.070], reach: [0.020, 0.020, 0.030], push: [-0.004, 0.0, -0.003] },
    // Ears.
    Stroke { center: [0.076, 1.640, -0.008], reach: [0.020, 0.022, 0.012], push: [0.011, 0.0, -0.006] },
    // Sinews of the neck, collar bones, the pit between them.
    Stroke { center: [0.030, 1.490, 0.030], reach: [0.014, 0.030, 0.030], push: [0.002, 0.0, 0.006] },
    Stroke { center: [0.085, 1.440, 0.060], reach: [0.055, 0.013, 0.050], push: [0.0, 0.001, 0.005] },
    Stroke { center: [0.000, 1.448, 0.055], reach: [0.014, 0.014, 0.040], push: [0.0, 0.0, -0.007] },
    // Breastbone, chest, its lower edge, the edge of the ribs, belly, navel.
    Stroke { center: [0.000, 1.325, 0.115], reach: [0.016, 0.065, 0.050], push: [0.0, 0.0, -0.005] },
    Stroke { center: [0.078, 1.328, 0.105], reach: [0.050, 0.044, 0.060], push: [0.003, 0.0, 0.014] },
    Stroke { center: [0.090, 1.266, 0.105], reach: [0.050, 0.020, 0.060], push: [0.0, 0.0, -0.003] },
    Stroke { center: [0.000, 1.180, 0.105], reach: [0.050, 0.040, 0.050], push: [0.0, 0.0, -0.004] },
    Stroke { center: [0.000, 1.050, 0.100], reach: [0.070, 0.080, 0.060], push: [0.0, 0.0, 0.004] },
    Stroke { center: [0.000, 1.062, 0.105], reach: [0.008, 0.010, 0.030], push: [0.0, 0.0, -0.007] },
    // Shoulder blades, and the broad muscles below them.
    Stroke { center: [0.085, 1.365, -0.115], reach: [0.040, 0.060, 0.040], push: [0.0, 0.0, -0.009] },
    Stroke { center: [0.140, 1.270, -0.060], reach: [0.050, 0.060, 0.060], push: [0.006, 0.0, -0.003] },
    // Buttocks.
    Stroke { center: [0.075, 0.892, -0.120], reach: [0.055, 0.050, 0.060], push: [0.0, 0.0, -0.008] },
    // Thighs, knees, calves.
    Stroke { center: [0.105, 0.680, 0.075], reach: [0.045, 0.090, 0.050], push: [0.002, 0.0, 0.006] },
    Stroke { center: [0.096, 0.492, 0.055], reach: [0.026, 0.032, 0.040], push: [0.0, 0.0, 0.004] },
    Stroke { center: [0.090, 0.365, -0.070], reach: [0.040, 0.060, 0.050], push: [0.0, 0.0, -0.007] },
];
