//! Which instructions the vertex loop may use.

use fearless_simd::Level;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use fearless_simd::Simd;
use std::fmt;

/// A set of instructions that the vertex loop can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InstructionSet {
    /// One vertex after the other, as the formulas are written: the reference that the others are
    /// tested against.
    Plain,
    /// What every machine of its kind has: SSE2 on x86, NEON on 64-bit ARM, else nothing special.
    Baseline,
    /// SSE4.2.
    Sse42,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 as of Ice Lake: vertices still go eight at a time, with more registers.
    Avx512,
}

impl InstructionSet {
    const ALL: [InstructionSet; 5] = [
        InstructionSet::Plain,
        InstructionSet::Baseline,
        InstructionSet::Sse42,
        InstructionSet::Avx2,
        InstructionSet::Avx512,
    ];

    /// What this machine has, the best last.
    pub fn available() -> impl Iterator<Item = InstructionSet> {
        let all = InstructionSet::ALL.into_iter();
        all.filter(|&set| set == InstructionSet::Plain || set.level().is_some())
    }

    /// The best that this machine has.
    pub fn best() -> InstructionSet {
        InstructionSet::available()
            .last()
            .unwrap_or(InstructionSet::Plain)
    }

    /// The instructions, if this machine has them and they are more than plain ones.
    pub(crate) fn level(self) -> Option<Level> {
        match self {
            InstructionSet::Plain => None,
            InstructionSet::Baseline => Some(Level::baseline()),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            InstructionSet::Sse42 => Level::new().as_sse4_2().map(Simd::level),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            InstructionSet::Avx2 => Level::new().as_avx2().map(Simd::level),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            InstructionSet::Avx512 => Level::new().as_avx512().map(Simd::level),
            #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
            _ => None,
        }
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            InstructionSet::Plain => "plain",
            InstructionSet::Baseline => "baseline",
            InstructionSet::Sse42 => "SSE4.2",
            InstructionSet::Avx2 => "AVX2",
            InstructionSet::Avx512 => "AVX-512",
        })
    }
}
