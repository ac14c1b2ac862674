//! Black-box tests of the service: the binary in its own process, HTTP over a socket, JSON as text. Nothing here uses a
//! type of the server.
//!
//! Every test ends in [`support::service::Service::audit`], which verifies every ledger with independent code and looks
//! for errors in the log. Modules mirror the URL tree.

mod support;
mod ledger;
mod snapshot;

mod v1;
mod timelines;
mod identity;
mod concurrency;
mod cli;
mod kill;
mod process;
mod install;
mod programs;
#[cfg(feature = "mcp")]
mod mcp;
mod recipes;
mod rust_client;
mod manners;
mod connections;
mod pages;
mod console;

use std::path::Path;

/// Fails for a file in this folder without a `mod` line: its tests would never run.
#[test]
fn test_files_are_all_declared_as_modules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let files = check_folder(&root, &root.join("main.rs"));
    assert!(files > 4, "only {files} files were looked at");
}

fn check_folder(folder: &Path, parent: &Path) -> usize {
    let text = std::fs::read_to_string(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("snapshots") {
            continue;
        }
        if path.is_dir() {
            files += check_folder(&path, &path.with_extension("rs"));
        } else if path != *parent {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let line = format!("mod {name};");
            let named = text.lines().any(|one| one.strip_prefix("pub(crate) ").unwrap_or(one) == line);
            assert!(named, "{} has no line `{line}`", parent.display());
            files += 1;
        }
    }
    files
}

#[test]
fn started_service_passes_the_audit() {
    let service = support::service::Service::start();
    service.post("/v1/pause-time", &serde_json::json!({}));
    service.audit();
}
