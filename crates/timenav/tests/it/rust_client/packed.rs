//! The Rust client as a package: the result of `cargo package` builds on its own and includes its licenses.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const LICENSES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a program and returns its output.
fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns an offline Cargo command: building these tests has downloaded all packages.
fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(["--offline", "--quiet"]).args(arguments).current_dir(root());
    command
}

/// Returns the platform of these tests. Packages for others may not be downloaded.
fn host() -> String {
    let version = output_of(Command::new(env!("CARGO")).arg("-vV"));
    version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

#[test]
fn package_builds_alone_and_includes_its_licenses() {
    let folder = tempfile::tempdir().unwrap();
    let package = ["package", "--package", "timenav-client", "--no-verify", "--allow-dirty", "--target-dir"];
    output_of(cargo(&package).arg(folder.path()));
    let name = concat!("timenav-client-", env!("CARGO_PKG_VERSION"));
    let archive = folder.path().join("package").join(format!("{name}.crate"));
    output_of(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(folder.path()));
    let unpacked = folder.path().join(name);
    for license in LICENSES {
        let [packed, ours] = [unpacked.join(license), root().join(license)].map(std::fs::read_to_string);
        assert_eq!(packed.unwrap(), ours.unwrap(), "{license}");
    }
    let manifest = unpacked.join("Cargo.toml");
    let metadata = ["metadata", "--format-version", "1", "--all-features", "--manifest-path"];
    let metadata = output_of(cargo(&metadata).arg(&manifest).args(["--filter-platform", &host()]));
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 20, "{}", packages.len());
    for package in packages {
        // Only the package itself has no registry.
        assert_eq!(package["source"].is_null(), package["name"] == "timenav-client", "{}", package["name"]);
    }
}
