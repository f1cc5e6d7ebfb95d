//! Prints what the rules catch of the corpus, by technique, with the misses and false alarms of the tuning half.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

#[path = "../tests/it/corpus/measure.rs"]
mod measure;

use measure::{Half, Kind};

fn main() {
    let techniques = measure::load();
    println!(
        "## Malicious\n\n{}",
        measure::by_technique(&techniques, Kind::Malicious)
    );
    println!(
        "## Honest\n\n{}",
        measure::by_technique(&techniques, Kind::Honest)
    );
    for technique in techniques.iter().filter(|t| t.half == Half::Tuning) {
        for skill in &technique.skills {
            let findings = skill.findings();
            let alarm = findings.iter().find(|finding| measure::is_alarm(finding));
            match (technique.kind, alarm) {
                (Kind::Malicious, None) => println!("missed: {}/{}", technique.name, skill.name),
                (Kind::Honest, Some(finding)) => println!(
                    "false alarm: {}/{}: {} {}",
                    technique.name, skill.name, finding.code, finding.message
                ),
                (Kind::Malicious, Some(_)) | (Kind::Honest, None) => {}
            }
        }
    }
    println!("\n{}", measure::summary(&techniques));
}
