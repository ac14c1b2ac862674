//! A database file that was modified externally: its triggers and views are not executed, and removed checkpoint lines
//! are detected.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::refused_start;
use crate::support::service::{Service, run, timenav};

/// Adds a permission that is hidden during scans and restored afterwards.
const HIDING_TRIGGERS: &str = "INSERT INTO permissions VALUES (2, 'mallory', 'admin', NULL);
    CREATE TRIGGER hide AFTER INSERT ON entries
        WHEN instr(new.leaf, CAST('\"action\":\"detect_tampering\"' AS BLOB)) > 0
        BEGIN DELETE FROM permissions WHERE timeline = 2 AND user_id = 'mallory'; END;
    CREATE TRIGGER show AFTER INSERT ON entries
        WHEN instr(new.leaf, CAST('\"action\":\"detect_tampering\"' AS BLOB)) = 0
        BEGIN INSERT OR IGNORE INTO permissions VALUES (2, 'mallory', 'admin', NULL); END;";
/// A view in place of a table, which adds a permission for an hour.
const VIEW: &str = "ALTER TABLE permissions RENAME TO permitted;
    CREATE VIEW permissions AS SELECT timeline, user_id, role, expires_at FROM permitted
        UNION ALL SELECT 2, 'mallory', 'admin', NULL WHERE strftime('%s', 'now') BETWEEN 1 AND 3600;
    CREATE TRIGGER put INSTEAD OF INSERT ON permissions
        BEGIN INSERT INTO permitted VALUES (new.timeline, new.user_id, new.role, NULL); END;";

fn write_into(service: &Service, statements: &str) {
    rusqlite::Connection::open(service.data().join("timenav.db")).unwrap().execute_batch(statements).unwrap();
}

/// Runs `timenav verify` on the files of a service. Returns its exit code and output.
fn verify(data: &Path) -> (Option<i32>, String) {
    let (code, stdout, stderr) = run(timenav().args(["verify", "--data"]).arg(data), "");
    (code, stdout + &stderr)
}

#[test]
fn foreign_triggers_and_views_are_rejected_and_reported() {
    let mut service = Service::start();
    assert!(service.stop().success());
    let database = service.data().join("timenav.db");
    let whole = std::fs::read(&database).unwrap();
    for (statements, named) in [
        (HIDING_TRIGGERS, "trigger `hide` on `entries` is not part of timenav's schema"),
        (VIEW, "view `permissions` is not part of timenav's schema"),
        ("ALTER TABLE timelines RENAME TO others", "table `timelines` is missing"),
    ] {
        write_into(&service, statements);
        for arguments in [&[][..], &["--accept-rollback"]] {
            let complaint = refused_start(&service.data(), arguments);
            assert!(complaint.contains("its schema is not the one timenav creates"), "{complaint}");
            assert!(complaint.contains("keep it as evidence"), "{complaint}");
        }
        let (code, output) = verify(&service.data());
        assert_eq!(code, Some(7), "{output}");
        assert!(output.contains("schema-mismatch: ") && output.contains(named), "{output}");
        std::fs::write(&database, &whole).unwrap();
    }
    service.start_again();
    service.audit();
}

#[test]
fn trigger_planted_at_runtime_hides_nothing() {
    let mut service = Service::start();
    write_into(&service, HIDING_TRIGGERS);
    service.post("/v1/pause-time", &json!({}));
    for timeline in ["main", "system"] {
        let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": timeline }));
        let kinds: Vec<&Value> = scan["findings"].as_array().unwrap().iter().map(|finding| &finding["kind"]).collect();
        assert_eq!(kinds.iter().filter(|kind| **kind == "schema-mismatch").count(), 2, "{scan:#}");
        // The planted row was not hidden during the scan.
        assert_eq!(kinds.contains(&&json!("state-mismatch")), timeline == "main", "{scan:#}");
    }
    assert!(service.stop().success());
    let dropped = "DROP TRIGGER hide; DROP TRIGGER show; DELETE FROM permissions WHERE user_id = 'mallory'";
    write_into(&service, dropped);
    service.start_again();
    service.audit();
}

#[test]
fn foreign_database_file_is_rejected_and_unchanged() {
    let mut service = Service::start();
    assert!(service.stop().success());
    let database = service.data().join("timenav.db");
    let whole = std::fs::read(&database).unwrap();
    std::fs::remove_file(&database).unwrap();
    let other = "PRAGMA application_id = 252006673; CREATE TABLE moz_places (id INTEGER PRIMARY KEY)";
    rusqlite::Connection::open(&database).unwrap().execute_batch(other).unwrap();
    let before = std::fs::read(&database).unwrap();
    let complaint = refused_start(&service.data(), &[]);
    assert!(complaint.contains("belongs to another program: its application_id is 252006673"), "{complaint}");
    assert_eq!(std::fs::read(&database).unwrap(), before);
    std::fs::write(&database, whole).unwrap();
    service.start_again();
    service.audit();
}

#[test]
fn rollback_journal_and_symbolic_link_are_rejected() {
    let mut service = Service::start();
    assert!(service.stop().success());
    let (database, journal) = (service.data().join("timenav.db"), service.data().join("timenav.db-journal"));
    std::fs::write(&journal, "what SQLite would write into the database").unwrap();
    let complaint = refused_start(&service.data(), &[]);
    assert!(complaint.contains("timenav.db-journal is next to the database"), "{complaint}");
    let (code, output) = verify(&service.data());
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("timenav.db-journal is next to the database"), "{output}");
    std::fs::remove_file(&journal).unwrap();
    let aside = service.data().join("aside.db");
    std::fs::rename(&database, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &database).unwrap();
    let complaint = refused_start(&service.data(), &[]);
    assert!(complaint.contains("it is a symbolic link"), "{complaint}");
    std::fs::remove_file(&database).unwrap();
    std::fs::rename(&aside, &database).unwrap();
    service.start_again();
    service.audit();
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
        let (code, output) = verify(&service.data());
        assert_eq!(code, Some(7), "{output}");
        assert!(output.contains(&format!("external-checkpoint-inconsistent: {expected}")), "{output}");
        std::fs::write(&path, whole).unwrap();
        assert_eq!(verify(&service.data()).0, Some(0));
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
    assert_eq!(verify(&service.data()).0, Some(0));
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
    assert_eq!(verify(&service.data()).0, Some(0));
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
    let complaint = refused_start(&service.data(), &[]);
    assert!(
        complaint.contains("the checkpoint of timeline `main` kept outside the database does not verify"),
        "{complaint}"
    );
    written(&|_| ());
    service.start_again();
    service.audit();
}

#[test]
fn malformed_checkpoint_line_is_reported_with_file_and_number() {
    let mut service = Service::start();
    assert!(service.stop().success());
    let path = service.data().join("checkpoints.log");
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("garbage\n{whole}")).unwrap();
    let (code, output) = verify(&service.data());
    assert_eq!(code, Some(1), "{output}");
    for complaint in [refused_start(&service.data(), &[]), output[output.find("error: ").unwrap()..].to_owned()] {
        assert_eq!(complaint.matches("checkpoints.log").count(), 1, "{complaint}");
        assert!(complaint.contains("line 1: "), "{complaint}");
    }
    std::fs::write(&path, whole).unwrap();
    service.start_again();
    service.audit();
}
