//! The target over NPY files.

use crate::input::Input;
use std::path::PathBuf;
use std::sync::OnceLock;
use supple_io::npy;

/// Any bytes, or a header of parts that belong there and numbers behind it.
pub fn npy(data: &[u8]) {
    let bytes = match data.split_first() {
        Some((1, rest)) => assembled(&mut Input::new(rest)),
        _ => data.to_vec(),
    };
    let path = scratch();
    std::fs::write(path, &bytes).expect("a scratch file");
    if let Ok(palette) = npy::read_palette(path) {
        let finite = |number: &f32| number.is_finite();
        assert!(
            palette
                .iter()
                .all(|joint| joint.to_array().iter().all(finite))
        );
    }
    if let Ok(positions) = npy::read_positions(path) {
        assert!(positions.iter().all(|position| position.is_finite()));
    }
    if let Ok(sequence) = npy::read_sequence(path) {
        for frame in 0..sequence.frames() {
            let positions = sequence.frame(frame);
            assert_eq!(positions.len(), sequence.vertices());
            assert!(positions.iter().all(|position| position.is_finite()));
        }
    }
    if let Ok(weights) = npy::read_multi_weights(path) {
        let numbers = weights.vertices * weights.joints * weights.numbers_each;
        assert_eq!(weights.numbers.len(), numbers);
        assert!(weights.numbers.iter().all(|number| number.is_finite()));
    }
}

/// The reader takes a path: a file that is overwritten each time.
fn scratch() -> &'static PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let name = format!("supple-fuzz-{}.npy", std::process::id());
        std::env::temp_dir().join(name)
    })
}

fn assembled(input: &mut Input) -> Vec<u8> {
    let descr = *input.pick(&[
        "'<f4'",
        "'<f8'",
        "'>f4'",
        "'>f8'",
        "'=f8'",
        "'|f4'",
        "'<f2'",
        "'<i4'",
        "'<c8'",
        "'|S9'",
        "[('a', '<f4')]",
        "'<f4",
        "4",
        "'<f99999999999'",
        "[('a', '<f8', (2,))]",
        "'<M8[ns]'",
    ]);
    let order = *input.pick(&["False", "True", "0", "'False'", "None"]);
    let shape = match input.below(8) {
        0..4 => {
            let side = |input: &mut Input| match input.rarely(8) {
                true => input.word(),
                false => input.below(6) as u64,
            };
            let [a, b, c] = [0; 3].map(|_| side(input));
            match input.below(4) {
                0 => format!("({a}, 3, 4)"),
                3 => format!("({a}, 3)"),
                1 => format!("({a}, {b}, 12)"),
                _ => format!("({a}, {b}, {c})"),
            }
        }
        4 => "(2, 4, 4)".to_owned(),
        5 => "()".to_owned(),
        6 => "(1L, 3L, 4L)".to_owned(),
        _ => "(".repeat(input.below(64)) + "1" + &")".repeat(input.below(64)),
    };
    let mut parts = vec![
        format!("'descr': {descr}"),
        format!("'fortran_order': {order}"),
        format!("'shape': {shape}"),
    ];
    match input.below(8) {
        0 => drop(parts.remove(0)),
        1 => parts.push(parts[input.below(3)].clone()),
        2 => parts.push(format!("'more': {}", "[".repeat(input.below(200)))),
        3 => parts.push("'more': 1e999".to_owned()),
        4 => parts.swap(0, 2),
        _ => {}
    }
    let mut header = format!("{{{}, }}", parts.join(", ")).into_bytes();
    for _ in 0..input.below(3) {
        let at = input.below(header.len());
        header[at] = input.byte();
    }
    header.extend(vec![b' '; input.below(64)]);
    header.push(b'\n');
    let version = *input.pick(&[1u8, 1, 1, 2, 3, 0, 9]);
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    let length = match input.rarely(16) {
        true => input.word() as usize,
        false => header.len(),
    };
    match version {
        0 | 1 => bytes.extend((length as u16).to_le_bytes()),
        _ => bytes.extend((length as u32).to_le_bytes()),
    }
    bytes.extend(header);
    for _ in 0..input.below(80) {
        bytes.extend(input.any_number().to_le_bytes());
    }
    bytes
}
