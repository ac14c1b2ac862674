//! Tests of every store, and of the engine on top of one.

mod backend;
mod cases;
mod cluster;
mod requests;
mod sample;

mod conformance;

mod audit;
mod ports;
mod faulty_store;
mod host_time;
mod house;
mod plans;
mod postgres;
mod replicas;

mod engine;

mod tampering;

use std::path::Path;

/// Fails if a file in this folder has no `mod` line, because its tests would never run.
#[test]
fn every_test_file_has_a_mod_line() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let files = check_folder(&root, &root.join("main.rs"));
    assert!(files > 10, "only {files} files were looked at");
}

fn check_folder(folder: &Path, parent: &Path) -> usize {
    let text = std::fs::read_to_string(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files += check_folder(&path, &path.with_extension("rs"));
        } else if path != *parent {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let line = format!("mod {name};");
            assert!(
                text.lines().any(|one| one == line || (one.starts_with("pub(") && one.ends_with(&format!(") {line}")))),
                "{} has no line `{line}`",
                parent.display()
            );
            files += 1;
        }
    }
    files
}
