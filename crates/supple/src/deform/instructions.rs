//! SIMD instruction sets of the vertex loop.

use fearless_simd::Level;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use fearless_simd::Simd;
use std::fmt;

/// A set of SIMD instructions that the vertex loop can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InstructionSet {
    /// One vertex after the other, as the formulas are written: the reference that the other sets
    /// are tested against.
    Plain,
    /// The baseline of the platform: SSE2 on x86, NEON on 64-bit ARM.
    Baseline,
    /// SSE4.2.
    Sse42,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 as of Ice Lake: still eight vertices at a time, with more registers.
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

    /// The sets that this machine supports, the best one last.
    pub fn available() -> impl Iterator<Item = InstructionSet> {
        let all = InstructionSet::ALL.into_iter();
        all.filter(|&set| set == InstructionSet::Plain || set.level().is_some())
    }

    /// The best set that this machine supports.
    pub fn best() -> InstructionSet {
        InstructionSet::available()
            .last()
            .unwrap_or(InstructionSet::Plain)
    }

    /// The SIMD level, if this machine supports it and it is not the plain one.
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
