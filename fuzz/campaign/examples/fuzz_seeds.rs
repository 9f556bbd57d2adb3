//! Writes what each fuzz target begins with to a folder of its own: `cargo run -p threadspec-campaign --example fuzz_seeds -- fuzz/corpus`.

use std::path::Path;
use std::{env, fs, io};
use threadspec_campaign::generate::seeds;

fn main() -> io::Result<()> {
    let corpus = env::args().nth(1).ok_or_else(|| io::Error::other("usage: fuzz_seeds FOLDER"))?;
    for target in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz_targets"))? {
        let target = target?.path();
        let Some(name) = target.file_stem().and_then(|name| name.to_str()) else { continue };
        let folder = Path::new(&corpus).join(name);
        fs::create_dir_all(&folder)?;
        for seed in seeds(name) {
            fs::write(folder.join(seed.name), seed.bytes)?;
        }
    }
    Ok(())
}
