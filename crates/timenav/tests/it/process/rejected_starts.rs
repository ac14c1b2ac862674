//! Starts that are rejected: the message names the cause, and nothing is created or changed.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::{certify, copy_folder, refused_start};
use crate::support::service::{Process, Service, ends, fails, make_signing_key, timenav};

/// Adds a permission that is hidden during scans and restored afterwards.
const HIDING_TRIGGERS: &str = "INSERT INTO permissions VALUES (2, 'mallory', 'admin', NULL);
    CREATE TRIGGER hide AFTER INSERT ON entries
        WHEN instr(new.leaf, CAST('\"action\":\"detect_tampering\"' AS BLOB)) > 0
        BEGIN DELETE FROM permissions WHERE timeline = 2 AND user_id = 'mallory'; END;";
const OTHER_PROGRAM: &str = "PRAGMA application_id = 252006673; CREATE TABLE moz_places (id INTEGER PRIMARY KEY)";

/// A modified data folder, and how `serve` and `verify` reject it.
struct Case {
    modify: fn(&Path),
    serve: &'static str,
    /// Exit code and output of `verify`, if it reads the modified file.
    verify: Option<(i32, &'static str)>,
}

fn execute(data: &Path, statements: &str) {
    rusqlite::Connection::open(data.join("timenav.db")).unwrap().execute_batch(statements).unwrap();
}

const CASES: [Case; 7] = [
    Case {
        modify: |data| execute(data, HIDING_TRIGGERS),
        serve: "its schema is not the one timenav creates",
        verify: Some((7, "schema-mismatch: trigger `hide` on `entries` is not part of timenav's schema")),
    },
    Case {
        modify: |data| {
            std::fs::remove_file(data.join("timenav.db")).unwrap();
            execute(data, OTHER_PROGRAM);
        },
        serve: "belongs to another program: its application_id is 252006673",
        verify: None,
    },
    Case {
        modify: |data| std::fs::write(data.join("timenav.db-journal"), "a transaction").unwrap(),
        serve: "timenav.db-journal is next to the database",
        verify: Some((1, "timenav.db-journal is next to the database")),
    },
    Case {
        modify: |data| {
            std::fs::rename(data.join("timenav.db"), data.join("aside.db")).unwrap();
            symlink(data.join("aside.db"), data.join("timenav.db")).unwrap();
        },
        serve: "it is a symbolic link",
        verify: None,
    },
    Case {
        modify: |data| {
            let whole = std::fs::read_to_string(data.join("checkpoints.log")).unwrap();
            std::fs::write(data.join("checkpoints.log"), format!("garbage\n{whole}")).unwrap();
        },
        serve: "checkpoints.log, line 1: ",
        verify: Some((1, "checkpoints.log: line 1: ")),
    },
    Case {
        modify: |data| std::fs::remove_file(data.join("signing.key")).unwrap(),
        serve: "put the key back",
        verify: None,
    },
    // An attacker who can write into the folder without having the key cannot install their own key.
    Case {
        modify: |data| {
            std::fs::copy(data.join("../other/signing.key"), data.join("signing.key")).unwrap();
        },
        serve: "does not verify",
        verify: None,
    },
];

fn files(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    // A start creates its lock, and SQLite an index of the log.
    let is_kept = |name: &std::ffi::OsString| !name.to_str().unwrap().ends_with("-shm") && name != "lock";
    let mut files: Vec<_> = entries.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap())).collect();
    files.retain(|(name, _)| is_kept(name));
    // The log of checkpoints is allocated in advance, and a start removes what is not used.
    for (_, bytes) in &mut files {
        bytes.truncate(bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
    }
    files.sort();
    files
}

#[test]
fn copy_of_data_folder_starts_unless_it_was_modified() {
    let mut service = Service::start();
    assert!(service.stop().success());
    let folder = tempfile::tempdir().unwrap();
    make_signing_key(&folder.path().join("other"));
    let copy = folder.path().join("copy");
    copy_folder(&service.data(), &copy);
    Process::start(&copy, &folder.path().join("log"), &[]).kill();
    for (number, Case { modify, serve, verify }) in CASES.into_iter().enumerate() {
        let data = folder.path().join(number.to_string());
        copy_folder(&service.data(), &data);
        modify(&data);
        let before = files(&data);
        for arguments in [&[][..], &["--accept-rollback"]] {
            let complaint = refused_start(&data, arguments);
            assert!(complaint.contains(serve), "{serve} {arguments:?}: {complaint}");
        }
        if let Some((expected, words)) = verify {
            let output = ends(timenav().args(["verify", "--data"]).arg(&data), expected);
            assert!(output.contains(words), "{serve}: {output}");
        }
        assert!(files(&data) == before, "{serve}");
    }
    service.start_again();
    service.audit();
}

#[test]
fn occupied_folder_or_address_is_named() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let expected = format!(
        "error: the data folder {} is in use by another timenav process; stop that one, or give another folder\n",
        service.data().display()
    );
    assert_eq!(refused_start(&service.data(), &[]), expected);
    let address = service.address().to_string();
    let mut command = timenav();
    command.args(["serve", "--listen", &address, "--data"]).arg(folder.path().join("data"));
    let named = format!("cannot listen on {address} because another program does");
    assert!(fails(&mut command, 1, &named).contains("--listen 127.0.0.1:9090"));
    service.audit();
}

#[test]
fn folder_with_only_checkpoints_gets_no_new_database() {
    let mut service = Service::start();
    assert!(service.stop().success());
    let (database, aside) = (service.data().join("timenav.db"), service.data().join("aside"));
    std::fs::rename(&database, &aside).unwrap();
    let refused = refused_start(&service.data(), &[]);
    assert!(refused.contains("has signed checkpoints of it: put the database back"), "{refused}");
    let accept = ["accept-rollback", "--by", "ada", "--reason", "lost", "--data"];
    fails(timenav().args(accept).arg(service.data()), 1, "there is no database in");
    assert!(!database.exists());
    std::fs::rename(&aside, &database).unwrap();
    service.start_again();
    service.audit();
}

#[test]
fn invalid_settings_are_rejected_before_anything_is_created() {
    let folder = tempfile::tempdir().unwrap();
    let [_, cert, _, key] = certify(folder.path());
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (config, not_cert) = (file("timenav.toml", "lisen = \"127.0.0.1:0\""), file("other.pem", "no certificate"));
    let data = folder.path().join("data");
    for (arguments, expected) in [
        (&["--config", &config][..], [&*config, "there is no setting `lisen`; did you mean `listen`?"]),
        (&["--config", "/no/such/file.toml"], ["/no/such/file.toml"; 2]),
        (&["--tls-cert", &cert], ["--tls-key"; 2]),
        (&["--tls-cert", &cert, "--tls-key", "nowhere.pem"], ["nowhere.pem"; 2]),
        (&["--tls-cert", &not_cert, "--tls-key", &key], ["other.pem"; 2]),
    ] {
        let complaint = refused_start(&data, arguments);
        assert!(expected.iter().all(|words| complaint.contains(words)), "{arguments:?}: {complaint}");
    }
    assert!(!data.exists());
    fails(timenav().args(["serve", "--read-log", "sometimes"]), 2, "--read-log");
}
