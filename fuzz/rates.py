"""How fast the fuzz targets are: `fuzz/rates.py [--fast] [--seconds N] [--options "-entropic=1"] [TARGET…]`, without targets for all of them.

Each begins with an empty corpus and runs for N seconds of processor time on one core, as `cargo +nightly fuzz run TARGET` does, or with `--fast` as
the README's fastest command does. Prints inputs per second of processor time, which other programs on the machine hardly change, and per second
of the clock. Linux only.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

FUZZ = pathlib.Path(__file__).resolve().parent
FAST = ["--sanitizer", "none", "-O", "--no-trace-compares"]
TICKS = os.sysconf("SC_CLK_TCK")


def targets():
    """The feature that each target needs, if any, by its name."""
    entry = r'\[\[bin\]\]\nname = "(\w+)"\npath = .*\n(?:required-features = \["(\w+)"\]\n)?'
    return dict(re.findall(entry, (FUZZ / "Cargo.toml").read_text(encoding="utf-8")))


def processor_seconds(pid):
    """What a process took so far, which has not been waited for."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def rate(program, seconds, options):
    """Inputs per second of processor time and of the clock."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = pathlib.Path(folder, "corpus")
        corpus.mkdir()
        command = [program, f"-artifact_prefix={folder}/", "-print_final_stats=1", *options, corpus]
        with open(pathlib.Path(folder, "log"), "w+", encoding="utf-8", errors="replace") as log:
            begun = time.perf_counter()
            process = subprocess.Popen(command, stdout=log, stderr=log)
            while process.poll() is None and processor_seconds(process.pid) < seconds:
                time.sleep(0.02)
            # libFuzzer prints its figures and ends.
            used, clock = processor_seconds(process.pid), time.perf_counter() - begun
            process.send_signal(signal.SIGINT)
            process.wait()
            log.seek(0)
            text = log.read()
    inputs = re.search(r"number_of_executed_units:\s+(\d+)", text)
    if not inputs or "run interrupted" not in text:
        raise SystemExit(f"{program.name} ended by itself:\n{text[-4000:]}")
    return int(inputs[1]) / used, int(inputs[1]) / clock


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--fast", action="store_true")
    arguments.add_argument("--seconds", type=float, default=20)
    arguments.add_argument("--options", default="", help="options of libFuzzer")
    arguments.add_argument("targets", nargs="*", metavar="TARGET")
    given = arguments.parse_args()
    features = targets()
    build = FAST if given.fast else []
    print(f"| target | inputs/s, processor | inputs/s, clock |\n|---|--:|--:|")
    for target in given.targets or features:
        needed = ["--features", features[target]] if features[target] else []
        toolchain = [] if given.fast else ["+nightly"]
        subprocess.run(["cargo", *toolchain, "fuzz", "build", *build, *needed, target], check=True, cwd=FUZZ.parent)
        host = re.search(r"host: (\S+)", subprocess.check_output(["rustc", "-vV"], text=True))[1]
        program = FUZZ / "target" / host / "release" / target
        of_processor, of_clock = rate(program, given.seconds, given.options.split())
        print(f"| `{target}` | {of_processor:,.0f} | {of_clock:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
