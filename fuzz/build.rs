//! Leaves out what libFuzzer does at each comparison, in the targets that decode a plan.
//!
//! libFuzzer keeps what was compared, in order to write it into the next inputs. The bytes of a plan are no such values, so that this only takes
//! a quarter of the time. The sanitizer of coverage cannot be told so by a `Cargo.toml`, but the linker can.

/// The targets whose input is no text.
const PLANS: [&str; 8] = ["check", "serialize", "messages", "equivalence", "plain", "loop", "session", "provider_sse"];
/// The functions called at a comparison; `threadspec_fuzz::quick_defaults` has others that do nothing instead.
const CALLBACKS: [&str; 9] =
    ["cmp1", "cmp2", "cmp4", "cmp8", "const_cmp1", "const_cmp2", "const_cmp4", "const_cmp8", "switch"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        for target in PLANS {
            for callback in CALLBACKS {
                println!("cargo::rustc-link-arg-bin={target}=-Wl,--wrap=__sanitizer_cov_trace_{callback}");
            }
        }
    }
}
