//! How the cost grows with the amount of work.

use crate::data::{self, TextStyle};
use crate::lines::NodeProcess;
use crate::measure::{median, timed};
use serde_json::{Map, Value};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use threadspec::agent::{LoopOptions, Model, Response, ToolError, Tools, run_loop};
use threadspec::{ContextMode, Error, Message, Profile, SerializeOptions, ToolCall, serialize_thread};

/// One curve: its name, and for each amount of work the seconds that it takes.
pub struct Curve {
    name: &'static str,
    points: Vec<(usize, f64)>,
}

/// What grows: documents with their events, loops with their iterations.
pub struct GrowthCurves {
    documents: Vec<Curve>,
    loops: Vec<Curve>,
}

pub fn measure(scratch: &Path) -> GrowthCurves {
    let mut ours = Curve { name: "threadspec", points: Vec::new() };
    let mut theirs = Curve { name: "JavaScript", points: Vec::new() };
    for exponent in 3..=7 {
        let count = 10_usize.pow(exponent);
        let rounds = if exponent < 6 { 9 } else { 1 };
        let events = data::thread(count, TextStyle::Short);
        let mut serialize = timed(|| serialize_thread(&events, &SerializeOptions::default()));
        serialize();
        ours.points.push((count, median((0..rounds).map(|_| serialize()).collect())));
        if exponent < 6 {
            let file = scratch.join("growth.json");
            fs::write(&file, data::json(&events)).expect("the scratch folder is writable");
            if let Some(mut node) = NodeProcess::start(&file) {
                theirs.points.push((count, median((0..rounds).map(|_| node.round(0, "")).collect())));
            }
        }
    }
    let loops = [
        ("XML mode", ContextMode::Xml, Profile::Literal),
        ("standard mode", ContextMode::Standard, Profile::Literal),
        ("standard mode, hardened", ContextMode::Standard, Profile::Hardened),
    ]
    .map(|(name, mode, profile)| {
        let points = [10, 100, 1000].map(|iterations| {
            let mut run = timed(|| {
                let options = LoopOptions { profile, mode, max_iterations: Some(iterations), ..LoopOptions::default() };
                let mut never_done = NeverDone;
                let run = run_loop("Go on.", &mut OneToolModel::default(), &mut EchoTools, Some(&mut never_done), &options);
                assert_eq!(run.iterations, iterations);
                run
            });
            run();
            (iterations as usize, median((0..5).map(|_| run()).collect()))
        });
        Curve { name, points: points.to_vec() }
    });
    GrowthCurves { documents: vec![ours, theirs], loops: loops.into() }
}

/// Calls one tool in each iteration, then ends it with a text.
#[derive(Default)]
struct OneToolModel {
    requests: usize,
}

impl Model for OneToolModel {
    fn respond(&mut self, request: &[Message]) -> Result<Response, Error> {
        self.requests += 1;
        let answers = matches!(request.last(), Some(Message::Tool { .. }));
        let call = ToolCall { id: format!("call_{}", self.requests), name: "bash".to_owned(), args: Map::new() };
        Ok(if answers {
            Response { content: "That is done now; the next step follows.".to_owned(), tool_calls: Vec::new() }
        } else {
            Response { content: String::new(), tool_calls: vec![call] }
        })
    }
}

struct EchoTools;

impl Tools for EchoTools {
    fn call(&mut self, _: &ToolCall) -> Result<Value, ToolError> {
        Ok(Value::from("-rw-r--r-- 1 root root 4096 Jan 12 09:31 \"setup.cfg\"\n".repeat(10)))
    }
}

struct NeverDone;

impl threadspec::agent::Verifier for NeverDone {
    fn verify(&mut self, _: &str, _: &[threadspec::Event]) -> threadspec::agent::Verification {
        threadspec::agent::Verification::Incomplete(None)
    }
}

impl GrowthCurves {
    /// As Markdown.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for (what, unit, curves) in [("events", "event", &self.documents), ("iterations", "iteration", &self.loops)] {
            let names: Vec<String> = curves.iter().map(|curve| format!("{}, µs per {unit}", curve.name)).collect();
            writeln!(text, "| {what} | {} |\n|---:|{}", names.join(" | "), "---:|".repeat(curves.len()))
                .expect("a string takes everything");
            for (row, &(work, _)) in curves[0].points.iter().enumerate() {
                let cells: Vec<String> = curves
                    .iter()
                    .map(|curve| {
                        curve.points.get(row).map_or(String::new(), |(_, s)| format!("{:.3}", s / work as f64 * 1e6))
                    })
                    .collect();
                writeln!(text, "| {work} | {} |", cells.join(" | ")).expect("a string takes everything");
            }
            text.push('\n');
        }
        text
    }

    /// Two charts side by side, for light and for dark pages.
    #[cfg(feature = "picture")]
    pub fn draw(&self, folder: &Path) {
        use plotters::prelude::*;
        for (file, ink) in [("growth-light.svg", RGBColor(36, 41, 47)), ("growth-dark.svg", RGBColor(230, 237, 243))] {
            let path = folder.join(file);
            let root = SVGBackend::new(&path, (960, 380)).into_drawing_area();
            let colours = [RGBColor(46, 134, 222), RGBColor(230, 126, 34), RGBColor(39, 174, 96)];
            let panels = [
                ("Seconds for a document, by events", &self.documents),
                ("Seconds for a loop, by iterations", &self.loops),
            ];
            for (panel, (title, curves)) in root.split_evenly((1, 2)).iter().zip(panels) {
                let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
                let (least, most) = points().fold((usize::MAX, 0), |(a, b), (work, _)| (a.min(work), b.max(work)));
                let (low, high) = points().fold((f64::MAX, 0.0_f64), |(a, b), (_, s)| (a.min(s), b.max(s)));
                let mut chart = ChartBuilder::on(panel)
                    .caption(title, ("sans-serif", 16, &ink))
                    .margin(12)
                    .x_label_area_size(32)
                    .y_label_area_size(64)
                    .build_cartesian_2d((least as f64..most as f64).log_scale(), (low..high).log_scale())
                    .expect("an SVG can be drawn");
                chart
                    .configure_mesh()
                    .disable_mesh()
                    .axis_style(ink)
                    .label_style(("sans-serif", 12, &ink))
                    .x_label_formatter(&|x| format!("{x:.0}"))
                    .y_label_formatter(&|y| format!("{y:.0e}"))
                    .draw()
                    .expect("an SVG can be drawn");
                for (curve, colour) in curves.iter().zip(colours) {
                    let points = curve.points.iter().map(|&(work, seconds)| (work as f64, seconds));
                    chart
                        .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))
                        .expect("an SVG can be drawn")
                        .label(curve.name)
                        .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
                }
                chart
                    .configure_series_labels()
                    .position(SeriesLabelPosition::UpperLeft)
                    .label_font(("sans-serif", 12, &ink))
                    .border_style(TRANSPARENT)
                    .draw()
                    .expect("an SVG can be drawn");
            }
            root.present().expect("an SVG can be drawn");
        }
    }
}
