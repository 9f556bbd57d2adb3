
use threadspec_judge::corpus::{Case, embedded};
use threadspec_judge::json::on_deep_stack;
use threadspec_judge::protocol::{JudgeProfile, Transport};
fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    on_deep_stack(|| {
        let (corpus, _) = embedded();
        for transport in Transport::all() {
            if !wanted[0].is_empty() && !transport.to_string().contains(&wanted[0]) { continue; }
            let mut n = 0; let mut bad = 0;
            for case in corpus.cases.iter().filter(|c| c.is_in(JudgeProfile::Universal) && !c.thorough && c.is_for(transport.api, transport.stream)) {
                if !wanted[1].is_empty() && !case.id.contains(&wanted[1]) { continue; }
                n += 1;
                if let Some(why) = threadspec_mutants::debug(wanted.get(2).map(String::as_str), transport, case, wanted.get(3).is_some()) {
                    bad += 1;
                    println!("{transport} {}: {why}", case.id);
                }
            }
            println!("== {transport}: {n} cases, {bad} fail");
        }
        let _: Option<&Case> = None;
    }).unwrap();
}
