//! Measures the speed of the reference, as ratios to its peers. `benches/README.md` explains the method.
//!
//! - `threadspec-benches` measures and prints;
//! - `threadspec-benches record` also writes `ratios.json`;
//! - `threadspec-benches growth` prints how cost grows, and (feature `picture`) draws the picture;
//! - `threadspec-benches check` measures in a few rounds and fails on a ratio below half of the recorded one.

mod data;
mod growth;
mod lines;
mod measure;

use lines::BenchLine;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = env::temp_dir().join(format!("threadspec-benches-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("there is a folder for temporary files");
    let mode = env::args().nth(1).unwrap_or_default();
    let code = if mode == "growth" {
        let growth = growth::measure(&scratch);
        print!("{}", growth.table());
        #[cfg(feature = "picture")]
        growth.draw(folder);
        ExitCode::SUCCESS
    } else {
        let lines = lines::all(if mode == "check" { 5 } else { 15 }, &scratch);
        print!("{}", table(&lines));
        match mode.as_str() {
            "check" => check(&lines, folder),
            "record" => {
                record(&lines, folder);
                ExitCode::SUCCESS
            }
            _ => ExitCode::SUCCESS,
        }
    };
    fs::remove_dir_all(scratch).expect("the folder for temporary files can go");
    code
}

fn name(line: &BenchLine) -> String {
    format!("{} / {}", line.work, line.peer)
}

fn table(lines: &[BenchLine]) -> String {
    let mut table = "| what | threadspec | peer | ratio | wanted |\n|---|---:|---|---:|---:|\n".to_owned();
    for line in lines {
        let BenchLine { work, peer, ratio, target, own } = line;
        let target = target.map_or(String::new(), |target| format!("{target}"));
        table += &format!("| {work} | {own} | {peer} | {ratio:.2} | {target} |\n");
    }
    table
}

fn check(lines: &[BenchLine], folder: &Path) -> ExitCode {
    let recorded = fs::read_to_string(folder.join("ratios.json")).expect("ratios are recorded");
    let recorded: BTreeMap<String, f64> = serde_json::from_str(&recorded).expect("as `record` writes them");
    let mut code = ExitCode::SUCCESS;
    for (name, recorded) in recorded {
        match lines.iter().find(|line| self::name(line) == name) {
            Some(line) if line.ratio < recorded / 2.0 => {
                println!("{name}: {:.2} is less than half of the recorded {recorded}", line.ratio);
                code = ExitCode::FAILURE;
            }
            Some(_) => {}
            None => println!("{name}: not measured"),
        }
    }
    code
}

fn record(lines: &[BenchLine], folder: &Path) {
    let round = |ratio: f64| (ratio * 100.0).round() / 100.0;
    let ratios: BTreeMap<String, f64> = lines.iter().map(|line| (name(line), round(line.ratio))).collect();
    let ratios = serde_json::to_string_pretty(&ratios).expect("numbers are JSON") + "\n";
    fs::write(folder.join("ratios.json"), ratios).expect("the folder is writable");
}
