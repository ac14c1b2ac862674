//! Checkpoint lines that were removed, are missing after a crash, or have no valid seal.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::refused_start;
use crate::support::service::{Service, ends, timenav};

/// Runs `timenav verify` on the files of a service. Returns its output.
#[track_caller]
fn verify(data: &Path, expected: i32) -> String {
    ends(timenav().args(["verify", "--data"]).arg(data), expected)
}

/// Removes the lines of one timeline from the checkpoint file and fills the gap with line ends, because a running
/// service appends after them. Returns their number.
fn cut_lines(service: &Service, timeline: &str) -> usize {
    let path = service.data().join("checkpoints.log");
    let text = std::fs::read_to_string(&path).unwrap();
    let is_match = |line: &&str| line.starts_with(&format!("{{\"timeline_id\":\"{timeline}\","));
    let without = |line: &str| if is_match(&line) { "\n".repeat(line.len()) } else { line.to_owned() };
    let left: String = text.split_inclusive('\n').map(without).collect();
    OpenOptions::new().write(true).open(&path).unwrap().write_all(left.as_bytes()).unwrap();
    text.lines().filter(is_match).count()
}

#[test]
fn removed_checkpoint_lines_of_one_timeline_are_detected() {
    let mut service = Service::with(&["--checkpoint-lag", "0"]);
    service.post("/v1/pause-time", &json!({ "timeline_id": "t1" }));
    let path = service.data().join("checkpoints.log");
    for timeline in ["t1", "main", "system"] {
        assert!(service.stop().success());
        let whole = std::fs::read(&path).unwrap();
        assert!(cut_lines(&service, timeline) > 0);
        let complaint = refused_start(&service.data(), &[]);
        let expected = format!("no checkpoint of timeline `{timeline}` is kept outside the database");
        assert!(complaint.contains(&expected), "{complaint}");
        let output = verify(&service.data(), 7);
        assert!(output.contains(&format!("external-checkpoint-inconsistent: {expected}")), "{output}");
        std::fs::write(&path, whole).unwrap();
        verify(&service.data(), 0);
        service.start_again();
        service.post("/v1/pause-time", &json!({ "timeline_id": timeline.replace("system", "t1") }));
    }
    // At run time, a scan of `system` detects it; a scan of the timeline adds an entry to it, whose checkpoint is
    // written.
    cut_lines(&service, "t1");
    let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": "system", "scan_depth": "quick" }));
    assert_eq!(scan["findings"][0]["kind"], "external-checkpoint-inconsistent", "{scan:#}");
    assert!(scan["details"].as_str().unwrap().contains("no checkpoint of timeline `t1`"), "{scan:#}");
    assert!(service.stop().success());
    // An operator may accept it, and then each timeline has its line again.
    service.arguments(&["--accept-rollback"]);
    service.start_again();
    assert!(service.stop().success());
    service.arguments(&[]);
    verify(&service.data(), 0);
    service.start_again();
    service.audit();
}

/// A crash between the commit that creates a timeline and writing its checkpoint leaves no line for it.
#[test]
fn newest_timeline_needs_no_checkpoint_until_next_start() {
    let mut service = Service::start();
    let path = service.data().join("checkpoints.log");
    let before = std::fs::read(&path).unwrap();
    service.post("/v1/pause-time", &json!({ "timeline_id": "t1" }));
    assert!(service.stop().success());
    std::fs::write(&path, before).unwrap();
    verify(&service.data(), 0);
    for user_id in ["ada", "bob"] {
        // The first start writes the missing checkpoints, and `system` continues after it.
        service.start_again();
        service.post("/v1/users", &json!({ "user_id": user_id }));
        assert!(service.stop().success());
    }
    assert!(cut_lines(&service, "t1") > 0);
    assert!(refused_start(&service.data(), &[]).contains("no checkpoint of timeline `t1`"));
    service.arguments(&["--accept-rollback"]);
    service.start_again();
    service.audit();
}

/// Lines of earlier versions have no seal; invalid ones are ignored.
#[test]
fn checkpoints_without_valid_seal_are_verified_by_signature() {
    let mut service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    assert!(service.stop().success());
    let path = service.data().join("checkpoints.log");
    let text = std::fs::read_to_string(&path).unwrap();
    let records: Vec<Value> =
        text.trim_end_matches('\0').lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seal_of = |record: &Value| record["seal"].as_str().expect("a seal").to_owned();
    let last = seal_of(records.last().unwrap());
    let written = |change: &dyn Fn(&mut Value)| {
        let lines = records.iter().cloned().map(|mut record| {
            change(&mut record);
            format!("{record}\n")
        });
        std::fs::write(&path, lines.collect::<String>()).unwrap();
    };
    written(&|record| drop(record.as_object_mut().unwrap().remove("seal")));
    service.start_again();
    assert!(service.stop().success());
    written(&|record| record["seal"] = json!(last));
    service.start_again();
    assert!(service.stop().success());
    // A note without its signature is accepted neither as the seal of another one nor as its own earlier one.
    written(&|record| {
        record["checkpoint"] = json!(record["checkpoint"].as_str().unwrap().replacen("\n— ", "\n—  ", 1));
    });
    let complaint = refused_start(&service.data(), &[]);
    assert!(complaint.contains("kept outside the database does not verify"), "{complaint}");
    // An unsigned note next to the seal of the signed one.
    let newest = records.iter().rfind(|record| record["timeline_id"] == "main").unwrap();
    let signed = newest["checkpoint"].as_str().unwrap();
    let unsigned = signed.replacen("\n3\n", "\n4\n", 1);
    assert_ne!(signed, unsigned, "{signed}");
    written(&|record| {
        if record == newest {
            record["checkpoint"] = json!(unsigned);
        }
    });
    let named = "the checkpoint of timeline `main` kept outside the database does not verify";
    assert!(refused_start(&service.data(), &[]).contains(named));
    written(&|_| ());
    service.start_again();
    service.audit();
}
