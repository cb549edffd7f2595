//! The chart of `docs/speed.md`, from the first table of the page.

use crate::album::Album;
use crate::{Outcome, root};
use std::fmt::Write as _;
use std::fs;

pub(super) fn draw(album: &Album) -> Outcome<()> {
    let rows = rows(&fs::read_to_string(root().join("docs/speed.md"))?)?;
    album.write("speed.svg", &chart(&rows))
}

/// A method, with its nanoseconds per vertex on one thread.
#[derive(Debug, PartialEq)]
struct Row {
    method: String,
    positions: f64,
    with_normals: f64,
}

/// The rows of the first table: method, bytes, positions, with normals, and more.
fn rows(page: &str) -> Outcome<Vec<Row>> {
    let lines = page
        .lines()
        .skip_while(|line| !line.starts_with("| --- |"))
        .skip(1);
    let lines = lines.take_while(|line| line.starts_with('|'));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, method, _, positions, with_normals, ..] = cells[..] else {
                return Err(format!("a row has too few cells: {line}").into());
            };
            Ok(Row {
                method: method.trim_matches('`').to_owned(),
                positions: positions.parse()?,
                with_normals: with_normals.parse()?,
            })
        })
        .collect()
}

/// Bars on a logarithmic axis, in colours that can be read on light and dark pages.
fn chart(rows: &[Row]) -> String {
    const WIDTH: f64 = 720.0;
    const LEFT: f64 = 150.0;
    const RIGHT: f64 = 60.0;
    const TOP: f64 = 34.0;
    const ROW: f64 = 34.0;
    let axis = WIDTH - LEFT - RIGHT;
    let bottom = TOP + ROW * rows.len() as f64;
    let height = bottom + 28.0;
    let largest = rows.iter().map(|row| row.with_normals).fold(10.0, f64::max);
    let x = |value: f64| LEFT + axis * value.max(1.0).ln() / largest.ln();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <style>text {{ fill: #333 }} path {{ stroke: #8884 }}\n\
         @media (prefers-color-scheme: dark) {{ text {{ fill: #ddd }} }}</style>\n"
    );
    let mut add = |text: String| {
        let _ = writeln!(svg, "{text}");
    };
    for tick in [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        .into_iter()
        .filter(|tick| *tick < largest)
    {
        let at = x(tick);
        add(format!("<path d=\"M{at:.1} {TOP}V{bottom:.1}\"/>"));
        add(format!(
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick} ns</text>",
            TOP - 8.0
        ));
    }
    for (index, row) in rows.iter().enumerate() {
        let top = TOP + ROW * index as f64;
        add(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            top + 21.0,
            row.method
        ));
        for (value, offset, color) in [
            (row.positions, 5.0, "#2a78c8"),
            (row.with_normals, 17.0, "#e08a2c"),
        ] {
            add(format!(
                "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"11\" fill=\"{color}\"/>",
                top + offset,
                x(value) - LEFT
            ));
            add(format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\">{value:.2}</text>",
                x(value) + 4.0,
                top + offset + 9.5
            ));
        }
    }
    add(format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"12\">blue: positions; \
         orange: with normals</text>",
        WIDTH - 6.0,
        height - 8.0
    ));
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_table_are_read() {
        let page = "# Speed\n\n| method | bytes | ns |\n| --- | --- | --- | --- |\n\
                    | `linear` | 42 | 2.19 | 3.19 | 1.2 |\n\nText\n| no | row |\n";
        let found = rows(page).unwrap();
        let expected = Row {
            method: "linear".to_owned(),
            positions: 2.19,
            with_normals: 3.19,
        };
        assert_eq!(found, [expected]);
        assert!(rows("| --- |\n| `linear` | 42 |\n").is_err());
    }
}
