//! Hashing the exact bits of numbers, text and collections of them.

use glam::{DAffine3, DMat3, DQuat, DVec3, Quat, Vec3, Vec4};
use std::fmt::{Debug, Write};

/// A 64-bit FNV-1a hash.
#[derive(Clone, Copy, Debug)]
pub struct Hash(u64);

impl Hash {
    /// Hashes the bits of a value.
    pub fn of<T: Bits + ?Sized>(value: &T) -> Hash {
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        value.feed(&mut hash);
        hash
    }

    /// The hash as a number, as in a pins file.
    pub fn value(self) -> u64 {
        self.0
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// A value whose bits can be hashed.
///
/// Floats are hashed by their bits, so 0 and −0 differ; all NaNs are the same, since processors do
/// not agree on their payload. The length of a list is part of its hash.
pub trait Bits {
    /// Adds the bits of this value to a hash.
    fn feed(&self, hash: &mut Hash);
}

macro_rules! integers {
    ($($integer:ty)*) => {
        $(impl Bits for $integer {
            fn feed(&self, hash: &mut Hash) {
                hash.bytes(&self.to_le_bytes());
            }
        })*
    };
}

integers!(u8 u16 u32 u64 i32 i64);

impl Bits for usize {
    fn feed(&self, hash: &mut Hash) {
        (*self as u64).feed(hash);
    }
}

impl Bits for bool {
    fn feed(&self, hash: &mut Hash) {
        u8::from(*self).feed(hash);
    }
}

impl Bits for f32 {
    fn feed(&self, hash: &mut Hash) {
        let number = if self.is_nan() { f32::NAN } else { *self };
        number.to_bits().feed(hash);
    }
}

impl Bits for f64 {
    fn feed(&self, hash: &mut Hash) {
        let number = if self.is_nan() { f64::NAN } else { *self };
        number.to_bits().feed(hash);
    }
}

impl Bits for str {
    fn feed(&self, hash: &mut Hash) {
        self.as_bytes().feed(hash);
    }
}

impl Bits for String {
    fn feed(&self, hash: &mut Hash) {
        self.as_str().feed(hash);
    }
}

impl<T: Bits> Bits for [T] {
    fn feed(&self, hash: &mut Hash) {
        self.len().feed(hash);
        self.iter().for_each(|item| item.feed(hash));
    }
}

impl<T: Bits> Bits for Vec<T> {
    fn feed(&self, hash: &mut Hash) {
        self.as_slice().feed(hash);
    }
}

impl<T: Bits, const N: usize> Bits for [T; N] {
    fn feed(&self, hash: &mut Hash) {
        self.iter().for_each(|item| item.feed(hash));
    }
}

impl<T: Bits + ?Sized> Bits for &T {
    fn feed(&self, hash: &mut Hash) {
        (**self).feed(hash);
    }
}

impl<T: Bits> Bits for Option<T> {
    fn feed(&self, hash: &mut Hash) {
        self.is_some().feed(hash);
        if let Some(value) = self {
            value.feed(hash);
        }
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),+))*) => {
        $(impl<$($name: Bits),+> Bits for ($($name,)+) {
            fn feed(&self, hash: &mut Hash) {
                $(self.$at.feed(hash);)+
            }
        })*
    };
}

tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
}

macro_rules! glam_types {
    ($($name:ty => $array:ident)*) => {
        $(impl Bits for $name {
            fn feed(&self, hash: &mut Hash) {
                self.$array().feed(hash);
            }
        })*
    };
}

glam_types! {
    Vec3 => to_array
    Vec4 => to_array
    Quat => to_array
    DVec3 => to_array
    DQuat => to_array
    DMat3 => to_cols_array
    DAffine3 => to_cols_array
}

/// The numbers of a value that can be printed with `{:?}`, in order, without the names of fields.
///
/// `{:?}` prints floats exactly. Names are ignored, so that renaming a field or a variant changes
/// no pin; adding, removing or reordering fields does.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a, T: ?Sized>(pub &'a T);

impl<T: Debug + ?Sized> Bits for Numbers<'_, T> {
    fn feed(&self, hash: &mut Hash) {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write!(text, "{:?}", self.0);
        let word_ends = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+'));
        for word in text.split(word_ends) {
            let digits = word.trim_start_matches('-');
            let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
            if is_number || matches!(digits, "inf" | "NaN" | "true" | "false" | "None") {
                word.feed(hash);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        let hash_of = |text: &str| {
            let mut hash = Hash(0xcbf2_9ce4_8422_2325);
            hash.bytes(text.as_bytes());
            hash.value()
        };
        assert_eq!(hash_of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash_of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash_of("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn every_bit_of_a_float_counts_but_not_the_payload_of_nan() {
        let of = |number: f32| Hash::of(&number).value();
        assert_ne!(of(0.0), of(-0.0));
        assert_ne!(of(1.0), of(1.0 + f32::EPSILON));
        assert_eq!(of(f32::NAN), of(f32::from_bits(0xffc0_0001)));
    }

    #[test]
    fn the_borders_between_lists_count() {
        let of = |lists: [Vec<u8>; 2]| Hash::of(&lists).value();
        assert_ne!(of([vec![1], vec![2, 3]]), of([vec![1, 2], vec![3]]));
    }

    #[test]
    fn renaming_a_field_changes_no_numbers_but_a_changed_number_does() {
        #[derive(Debug)]
        #[allow(dead_code, reason = "read by Debug alone")]
        struct One {
            size_2: f64,
            found: Option<u32>,
        }
        #[derive(Debug)]
        #[allow(dead_code, reason = "read by Debug alone")]
        struct Other {
            extent: f64,
            vertex: Option<u32>,
        }
        let of_one = |size_2, found| Hash::of(&Numbers(&One { size_2, found })).value();
        let of_other = |extent, vertex| Hash::of(&Numbers(&Other { extent, vertex })).value();
        assert_eq!(of_one(-1e-300, Some(7)), of_other(-1e-300, Some(7)));
        assert_ne!(
            of_one(0.1, Some(7)),
            of_one(0.1 + 1e-17 + f64::EPSILON, Some(7))
        );
        assert_ne!(of_one(0.1, Some(7)), of_one(0.1, None));
        assert_ne!(of_one(f64::INFINITY, None), of_one(f64::NEG_INFINITY, None));
    }
}
