//! Choices and numbers out of a fuzzer's bytes.

use arbitrary::Unstructured;
use glam::{DMat3, DQuat, DVec3, Vec3};

/// The bytes of an input, taken from the front. Past their end every choice is the first one and
/// every number zero, so that reading never fails.
pub struct Input<'a>(Unstructured<'a>);

/// The range of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Between −4 and 4, many of them equal.
    Moderate,
    /// Any finite number, with those at the borders of the format among them.
    Extreme,
}

/// Numbers at which formats and formulas break.
const EDGES: [f32; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f32::EPSILON,
    1.0 + f32::EPSILON,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1e-45,
    -1e-45,
    1e-40,
    1e-30,
    1e-20,
    1e-10,
    1e10,
    -1e10,
    1e19,
    1e20,
    -1e30,
    1e38,
    f32::MAX,
    f32::MIN,
    16_777_216.0,
    0.5,
];

impl<'a> Input<'a> {
    pub fn new(data: &'a [u8]) -> Input<'a> {
        Input(Unstructured::new(data))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// True once in so many times.
    pub fn rarely(&mut self, times: u8) -> bool {
        self.byte() % times == times - 1
    }

    /// A number below `count`, which is more than zero.
    pub fn below(&mut self, count: usize) -> usize {
        if count <= 256 {
            return usize::from(self.byte()) % count;
        }
        let wide: u32 = self.0.arbitrary().unwrap_or_default();
        wide as usize % count
    }

    pub fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }

    /// At most so many bytes.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        let count = self.below(most + 1).min(self.0.len());
        self.0.bytes(count).unwrap_or_default().to_vec()
    }

    /// All bytes that are left.
    pub fn rest(self) -> &'a [u8] {
        self.0.take_rest()
    }

    pub fn word(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub fn range(&mut self) -> Range {
        match self.flag() {
            true => Range::Extreme,
            false => Range::Moderate,
        }
    }

    pub fn number(&mut self, range: Range) -> f32 {
        match (range, self.byte()) {
            // An eighth of a byte's values, so that numbers are often equal.
            (Range::Moderate, byte) if byte < 192 => f32::from(self.byte() as i8) / 32.0,
            (Range::Moderate, _) => {
                let fine: i16 = self.0.arbitrary().unwrap_or_default();
                f32::from(fine) / 8192.0
            }
            (Range::Extreme, byte) if byte < 96 => self.number(Range::Moderate),
            (Range::Extreme, byte) if byte < 192 => *self.pick(&EDGES),
            (Range::Extreme, _) => {
                let any = f32::from_bits(self.0.arbitrary().unwrap_or_default());
                if any.is_finite() { any } else { 1e-3 }
            }
        }
    }

    /// Any bits, also those of no number.
    pub fn any_number(&mut self) -> f32 {
        match self.byte() {
            byte if byte < 200 => self.number(Range::Extreme),
            byte if byte < 210 => f32::NAN,
            byte if byte < 220 => f32::INFINITY,
            byte if byte < 230 => f32::NEG_INFINITY,
            _ => f32::from_bits(self.0.arbitrary().unwrap_or_default()),
        }
    }

    /// A double, also beyond the range of floats and of no number.
    pub fn any_double(&mut self) -> f64 {
        match self.byte() {
            byte if byte < 180 => f64::from(self.any_number()),
            byte if byte < 220 => f64::from(self.any_number()) * 1e250,
            _ => f64::from_bits(self.word()),
        }
    }

    pub fn vector(&mut self, range: Range) -> Vec3 {
        Vec3::from_array([0; 3].map(|_| self.number(range)))
    }

    pub fn wide_vector(&mut self, range: Range) -> DVec3 {
        self.vector(range).as_dvec3()
    }

    /// A rotation: none, one of the common ones, or any.
    pub fn rotation(&mut self) -> DQuat {
        let axis = match self.below(6) {
            0 => return DQuat::IDENTITY,
            1 => DVec3::X,
            2 => DVec3::Y,
            3 => DVec3::Z,
            _ => self.wide_vector(Range::Moderate).normalize_or(DVec3::X),
        };
        let angle = f64::from(self.byte() as i8) / 64.0 * std::f64::consts::PI;
        DQuat::from_axis_angle(axis, angle)
    }

    /// The scale and shear of a joint: mostly small, sometimes zero or mirrored.
    pub fn linear(&mut self, range: Range) -> DMat3 {
        let rotation = DMat3::from_quat(self.rotation());
        match self.below(8) {
            0..4 => rotation,
            4 => rotation * f64::from(self.number(range)),
            5 | 6 => rotation * DMat3::from_diagonal(self.wide_vector(range)),
            _ => DMat3::from_cols_array(&[0; 9].map(|_| f64::from(self.number(range)))),
        }
    }
}
