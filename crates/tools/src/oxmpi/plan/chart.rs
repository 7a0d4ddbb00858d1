//! A chart of what algorithms take among more and more ranks, both axes logarithmic.

use std::fmt::Write as _;

use super::simulate::Row;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 40.0;
const LEGEND: f64 = 190.0;
const COLORS: [&str; 8] =
    ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f"];

/// Draws a line for each name; dots where it is chosen.
pub fn chart(title: &str, names: &[&str], rows: &[Row]) -> String {
    let times = rows.iter().flat_map(|row| row.times_us.iter().flatten());
    let (low, high) =
        times.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), &us| (low.min(us), high.max(us)));
    let (first, last) = (low.log10().floor(), high.max(low).log10().ceil().max(low.log10().floor() + 1.0));
    let x = |index: usize| LEFT + WIDTH * index as f64 / (rows.len().max(2) - 1) as f64;
    let y = |us: f64| TOP + HEIGHT * (last - us.log10()) / (last - first);
    let (width, height) = (LEFT + WIDTH + LEGEND, TOP + HEIGHT + 50.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"15\">\
         {title}: microseconds by ranks, simulated; dots are chosen</text>\n"
    );
    let mut add = |text: std::fmt::Arguments<'_>| svg.write_fmt(text).expect("a string takes everything");
    for power in first as i32..=last as i32 {
        let at = y(10f64.powi(power));
        let end = LEFT + WIDTH;
        add(format_args!(
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{end}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\n"
        ));
        let label = 10f64.powi(power);
        add(format_args!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n",
            LEFT - 6.0,
            at + 4.0
        ));
    }
    for (index, row) in rows.iter().enumerate().filter(|(index, _)| index % 3 == 0) {
        let (at, below) = (x(index), TOP + HEIGHT + 18.0);
        add(format_args!("<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{}</text>\n", row.ranks));
    }
    for (number, name) in names.iter().enumerate() {
        let color = COLORS[number % COLORS.len()];
        let points = rows.iter().enumerate().filter_map(|(index, row)| Some((index, row.times_us[number]?)));
        let line: String = points.map(|(index, us)| format!("{:.1},{:.1} ", x(index), y(us))).collect();
        if line.is_empty() {
            continue;
        }
        add(format_args!("<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\"/>\n", line.trim_end()));
        for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.chosen == number) {
            if let Some(us) = row.times_us[number] {
                let (across, down) = (x(index), y(us));
                add(format_args!("<circle cx=\"{across:.1}\" cy=\"{down:.1}\" r=\"4\" fill=\"{color}\"/>\n"));
            }
        }
        let (across, down) = (LEFT + WIDTH + 14.0, TOP + 18.0 * number as f64 + 8.0);
        add(format_args!("<text x=\"{across}\" y=\"{down}\" fill=\"{color}\">{name}</text>\n"));
    }
    svg.push_str("</svg>\n");
    svg
}
