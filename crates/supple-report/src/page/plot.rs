//! Lines over a clip, as inline SVG that follows the page's colours.

use maud::{Markup, html};
use std::fmt::Write;

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 34.0;

/// One line per method over the time of a clip; values are percent.
pub(super) struct Plot<'a> {
    /// The title of the values.
    pub title: &'a str,
    /// An explanation for readers.
    pub caption: &'a str,
    /// Seconds from the clip's start.
    pub times: &'a [f64],
    /// One list of values per method, none where the method could not do the pose.
    pub lines: Vec<Vec<Option<f64>>>,
    /// Times of the pictures.
    pub marks: &'a [f64],
    /// The range never gets narrower than this.
    pub least_range: (f64, f64),
    /// Nor wider than this, unless most lines need it: those of a method that fails leave the
    /// picture, so that the others can be told apart.
    pub most_range: (f64, f64),
}

impl Plot<'_> {
    pub fn to_svg(&self) -> Markup {
        let values = || self.lines.iter().flatten().flatten().copied();
        let low = values().fold(self.least_range.0, f64::min);
        let high = values().fold(self.least_range.1, f64::max);
        let (least, most) = (
            self.middle(f64::min).unwrap_or(0.0),
            self.middle(f64::max).unwrap_or(0.0),
        );
        let (low, high) = (
            low.max(self.most_range.0.min(least)),
            high.min(self.most_range.1.max(most)),
        );
        let y_ticks = ticks(low, high, 5);
        let (low, high) = (
            y_ticks.first().copied().unwrap_or(low),
            y_ticks.last().copied().unwrap_or(high),
        );
        let end = self.times.last().copied().unwrap_or(1.0).max(1e-6);
        let x = |time: f64| LEFT + (WIDTH - LEFT - RIGHT) * time / end;
        let y =
            |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low).max(1e-9);

        let data = self.data(x(0.0), x(end));
        // A picture in the picture cuts off what leaves the scale. Room for half the thickness of a
        // line at its edges.
        let (width, height) = (WIDTH - LEFT - RIGHT + 4.0, HEIGHT - TOP - BOTTOM + 4.0);
        let (left, top) = (LEFT - 2.0, TOP - 2.0);
        let slack = 1e-6 * (high - low);
        let off_the_scale = [
            (
                values().any(|value| value > high + slack),
                "\u{2191}",
                TOP + 12.0,
            ),
            (
                values().any(|value| value < low - slack),
                "\u{2193}",
                HEIGHT - BOTTOM - 6.0,
            ),
        ];
        html! {
            figure.plot {
                figcaption { b { (self.title) } " " (self.caption) }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(self.title)
                    data-plot=(data)
                {
                    @for &tick in &y_ticks {
                        @let class = if tick == 0.0 { "zero" } else { "grid" };
                        line class=(class) x1=(LEFT) x2=(tenths(WIDTH - RIGHT))
                            y1=(tenths(y(tick))) y2=(tenths(y(tick))) {}
                        text.tick x=(tenths(LEFT - 6.0)) y=(tenths(y(tick) + 4.0))
                            text-anchor="end" { (percent_tick(tick)) }
                    }
                    @for tick in ticks(0.0, end, 5) {
                        @if tick <= end * 1.001 {
                            text.tick x=(tenths(x(tick))) y=(tenths(HEIGHT - BOTTOM + 18.0))
                                text-anchor="middle" { (short(tick)) " s" }
                        }
                    }
                    @for &mark in self.marks {
                        line.mark x1=(tenths(x(mark))) x2=(tenths(x(mark)))
                            y1=(TOP) y2=(tenths(HEIGHT - BOTTOM)) {}
                    }
                    svg.inside x=(left) y=(top) width=(width) height=(height)
                        viewBox={ (left) " " (top) " " (width) " " (height) }
                    {
                        // Where lines coincide, the first method is the one to be seen.
                        @for (method, line) in self.lines.iter().enumerate().rev() {
                            @let path = path(self.times, line, x, y);
                            @if !path.is_empty() { path.line.{ "m" (method) } d=(path) {} }
                        }
                    }
                    @for (is_off, arrow, height) in off_the_scale {
                        @if is_off {
                            text.off x=(tenths(WIDTH - RIGHT - 4.0)) y=(tenths(height))
                                text-anchor="end" { (arrow) " off the scale" }
                        }
                    }
                }
            }
        }
    }

    /// The extreme that the line in the middle comes to.
    fn middle(&self, extreme: fn(f64, f64) -> f64) -> Option<f64> {
        let extremes = self.lines.iter().filter_map(|line| {
            let values = line.iter().flatten().copied();
            values.filter(|value| value.is_finite()).reduce(extreme)
        });
        let mut extremes: Vec<f64> = extremes.collect();
        extremes.sort_by(f64::total_cmp);
        extremes.get(extremes.len() / 2).copied()
    }

    /// The numbers for the page's script, as JSON.
    fn data(&self, left: f64, right: f64) -> String {
        let list = |values: &mut dyn Iterator<Item = String>| {
            let values: Vec<String> = values.collect();
            format!("[{}]", values.join(","))
        };
        let number = |value: &Option<f64>| match value.filter(|value| value.is_finite()) {
            Some(value) => format!("{value:.1}"),
            None => "null".to_owned(),
        };
        let lines = list(
            &mut self
                .lines
                .iter()
                .map(|line| list(&mut line.iter().map(number))),
        );
        let times = list(&mut self.times.iter().map(|time| format!("{time:.3}")));
        format!("{{\"left\":{left:.1},\"right\":{right:.1},\"times\":{times},\"lines\":{lines}}}")
    }
}

/// A coordinate with one decimal.
fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

/// An SVG path that lifts the pen where there is no value.
fn path(
    times: &[f64],
    values: &[Option<f64>],
    x: impl Fn(f64) -> f64,
    y: impl Fn(f64) -> f64,
) -> String {
    let mut path = String::new();
    let mut drawing = false;
    for (&time, value) in times.iter().zip(values) {
        match value.filter(|value| value.is_finite()) {
            Some(value) => {
                let command = if drawing { 'L' } else { 'M' };
                let _ = write!(path, "{command}{:.1} {:.1}", x(time), y(value));
                drawing = true;
            }
            None => drawing = false,
        }
    }
    path
}

/// Round values that enclose a range, about `count` of them.
fn ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    if !(low.is_finite() && high.is_finite()) || count == 0 {
        return Vec::new();
    }
    let range = (high - low).max(1e-9);
    let rough = range / count as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(10.0 * power);
    let first = (low / step + 1e-9).floor() as i64;
    let last = (high / step - 1e-9).ceil() as i64;
    (first..=last.max(first + 1))
        .map(|index| index as f64 * step)
        .collect()
}

fn percent_tick(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{} %", short(value)).replace('-', "\u{2212}")
}

/// A round number without needless digits.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_enclose_the_range() {
        assert_eq!(ticks(0.0, 100.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(
            ticks(-42.0, 3.0, 5),
            [-50.0, -40.0, -30.0, -20.0, -10.0, 0.0, 10.0]
        );
        for (low, high) in [(0.0, 1e-3), (-1.0, 1.0), (3.0, 3.0), (-1e6, 7.0)] {
            let ticks = ticks(low, high, 5);
            assert!((2..=9).contains(&ticks.len()), "{ticks:?}");
            assert!(ticks[0] <= low + 1e-6 && *ticks.last().unwrap() >= high - 1e-6);
        }
        assert!(ticks(f64::NAN, 1.0, 5).is_empty());
    }

    #[test]
    fn lines_stay_inside_and_stop_where_there_is_no_value() {
        let plot = Plot {
            title: "Volume",
            caption: "",
            times: &[0.0, 0.5, 1.0],
            lines: vec![
                vec![Some(0.0), Some(-30.0), Some(0.0)],
                vec![Some(0.0), None, Some(f64::NAN)],
            ],
            marks: &[0.5],
            least_range: (-5.0, 5.0),
            most_range: (-100.0, 100.0),
        };
        let svg = plot.to_svg().into_string();
        assert!(svg.contains("class=\"line m0\" d=\"M56.0 "), "{svg}");
        assert!(svg.contains("[0.0,null,null]"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let path = path(
            &[0.0, 1.0, 2.0],
            &[Some(1.0), None, Some(2.0)],
            |x| x,
            |y| y,
        );
        assert_eq!(path, "M0.0 1.0M2.0 2.0");
    }

    #[test]
    fn lines_leave_the_scale_instead_of_running_along_its_edge() {
        let plot = |most: f64| Plot {
            title: "Volume",
            caption: "",
            times: &[0.0, 1.0],
            lines: vec![
                vec![Some(0.0), Some(500.0)],
                vec![Some(0.0), Some(1.0)],
                vec![Some(0.0), Some(2.0)],
            ],
            marks: &[],
            least_range: (-5.0, 5.0),
            most_range: (-most, most),
        };
        let svg = plot(100.0).to_svg().into_string();
        assert!(svg.contains("\u{2191} off the scale"), "{svg}");
        assert!(!svg.contains("\u{2193}"), "{svg}");
        let inside = svg.split("class=\"inside\"").nth(1).unwrap();
        let end = inside.split("m0\" d=\"").nth(1).unwrap();
        let end = end.split("L390.0 ").nth(1).unwrap();
        let end: f64 = end.split('"').next().unwrap().parse().unwrap();
        assert!(
            end < -500.0,
            "far above the picture, where it is cut: {end}"
        );
        assert!(
            !plot(1000.0)
                .to_svg()
                .into_string()
                .contains("off the scale")
        );
        let mut most = plot(100.0);
        most.lines[1][1] = Some(400.0);
        most.lines[2][1] = Some(500.0);
        let svg = most.to_svg().into_string();
        assert!(
            !svg.contains("off the scale"),
            "what most methods do is seen"
        );
    }

    #[test]
    fn percents_are_short() {
        assert_eq!(percent_tick(-20.0), "\u{2212}20 %");
        assert_eq!(percent_tick(2.5), "+2.5 %");
        assert_eq!(percent_tick(0.0), "0 %");
    }
}
