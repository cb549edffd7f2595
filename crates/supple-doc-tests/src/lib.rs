//! The Rust code of the README and the documentation, as documentation tests: `cargo test --doc`
//! compiles it, so that it cannot go stale.

/// Makes the code blocks of a page documentation tests.
macro_rules! compile_page {
    ($($name:ident: $page:literal,)*) => {
        $(#[cfg(doctest)] #[doc = include_str!(concat!("../../../", $page))] pub mod $name {})*
    };
}

compile_page! {
    engine: "docs/engine.md",
    arap: "docs/arap.md",
    centers_of_rotation: "docs/centers-of-rotation.md",
    gpu: "docs/gpu.md",
    point_handles: "docs/point-handles.md",
    pose: "docs/pose.md",
    weights: "docs/weights.md",
    supple: "crates/supple/README.md",
    supple_io: "crates/supple-io/README.md",
}
