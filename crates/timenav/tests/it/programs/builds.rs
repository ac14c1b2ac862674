//! A real project is built by `make -j2` with the same result as natively, whatever the clock does meanwhile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use super::{PATH, exec, is_installed, service, travel};
use crate::support::service::{Service, run};
use crate::support::waiting::until;

/// A makefile for mimalloc, which only has one for `CMake`.
const MAKEFILE: &str = include_str!("../../programs/mimalloc.mk");
const PROGRAM: &str = include_str!("../../programs/allocate.c");
/// Start time of each build, and the time that the clock jumps to during it: forward past all file times, and back.
const JUMPS: [(&str, &str); 2] =
    [("2031-05-06T07:08:09Z", "1985-10-26T01:21:00Z"), ("1985-10-26T01:21:00Z", "2041-01-01T00:00:00Z")];
/// No file or host clock is outside this range; each clock above is.
const HOST_SECONDS: std::ops::Range<i64> = 1_000_000_000..1_900_000_000;

/// Returns the value of an environment variable.
#[expect(clippy::disallowed_methods, reason = "whoever runs the test says here what is built")]
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

/// Returns the sources to build: the requested ones, or those of mimalloc, which Cargo has downloaded.
fn sources() -> Option<PathBuf> {
    if let Some(chosen) = variable("TIMENAV_TEST_PROJECT") {
        return Some(chosen);
    }
    let cargo = variable("CARGO_HOME").or_else(|| Some(variable("HOME")?.join(".cargo")))?;
    let registries = std::fs::read_dir(cargo.join("registry/src")).ok()?.flatten();
    let packages = registries.flat_map(|registry| std::fs::read_dir(registry.path()).into_iter().flatten().flatten());
    let named =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"libmimalloc-sys-"));
    packages
        .map(|package| package.path())
        .filter(named)
        .map(|path| path.join("c_src/mimalloc/v2"))
        .find(|path| path.exists())
}

/// Copies a project with its file times, which `make` uses to decide what to rebuild.
fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-rp").arg(from).arg(to).status().unwrap();
    assert!(status.success());
    if variable("TIMENAV_TEST_PROJECT").is_none() {
        std::fs::write(to.join("Makefile"), MAKEFILE).unwrap();
        std::fs::write(to.join("allocate.c"), PROGRAM).unwrap();
    }
}

/// Returns the output of compilers and linkers by path.
fn made(project: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![project.to_owned()]);
    while let Some(folder) = folders.pop() {
        // Temporary files may disappear.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() {
                folders.push(path);
            } else if let (true, Ok(bytes)) = (kind.is_file(), std::fs::read(&path))
                && (bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"!<arch>"))
            {
                found.insert(path.strip_prefix(project).unwrap().to_owned(), bytes);
            }
        }
    }
    found
}

/// Builds a project in its folder.
const BUILD: &str = "cd \"$0\" && if [ -x configure ]; then ./configure >&2; fi && make -s -j2 >&2";

/// Builds a project on the clock, which jumps once the first output exists.
fn build(service: &Service, project: &Path, (from, to): (&str, &str)) {
    travel(service, from);
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    service.post("/v1/resume-time", &json!({}));
    let mut command = exec(service, &["sh", "-c", BUILD, project.to_str().unwrap()]);
    let stderr_file = std::fs::File::create(project.join("told")).unwrap();
    let mut running = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr_file).spawn().unwrap();
    until("something that is made", || {
        assert!(running.try_wait().unwrap().is_none_or(|status| status.success()), "the build has failed");
        (!made(project).is_empty()).then_some(())
    });
    travel(service, to);
    assert!(running.try_wait().unwrap().is_none(), "the clock jumped while it was built");
    let status = running.wait().unwrap();
    service.post("/v1/pause-time", &json!({}));
    let stderr_file = std::fs::read_to_string(project.join("told")).unwrap();
    assert!(status.success(), "{status}: {stderr_file}");
    assert!(!stderr_file.contains("host time"), "{stderr_file}");
    if variable("TIMENAV_TEST_PROJECT").is_none() {
        let is_expected = |line: &str| line.contains("in the future") || line.contains("Clock skew detected");
        assert!(stderr_file.lines().all(is_expected), "{stderr_file}");
        // It reads the clock once, at the start.
        assert_eq!(stderr_file.contains("in the future"), from < "2001", "{from}: {stderr_file}");
        let reading = std::fs::read_to_string(project.join("shown")).unwrap();
        let reading: Vec<i64> = reading.lines().map(|line| line.parse().unwrap()).collect();
        assert!(reading.len() > 10 && reading.iter().all(|seconds| !HOST_SECONDS.contains(seconds)), "{reading:?}");
    }
}

#[test]
fn build_on_the_clock_equals_the_native_build() {
    let Some(service) = service() else { return };
    let (true, Some(sources)) = (is_installed("make") && is_installed("gcc"), sources()) else {
        eprintln!(
            "skipped: there are no sources of mimalloc where Cargo keeps what it fetched; name a project with \
                   TIMENAV_TEST_PROJECT"
        );
        return service.audit();
    };
    let folder = tempfile::tempdir().unwrap();
    // In the same folder each time, because compilers record their path.
    let project = folder.path().join("project");
    copy(&sources, &project);
    let mut native = Command::new("sh");
    let (code, _, stderr) = run(native.args(["-c", BUILD]).arg(&project).env("PATH", PATH), "");
    assert_eq!(code, Some(0), "natively: {stderr}");
    let native = made(&project);
    assert!(!native.is_empty(), "{stderr}");
    for jump in JUMPS {
        std::fs::remove_dir_all(&project).unwrap();
        copy(&sources, &project);
        build(&service, &project, jump);
        let built = made(&project);
        assert!(built.keys().eq(native.keys()), "{:?}", built.keys());
        let other: Vec<_> =
            built.iter().filter(|(path, bytes)| native[*path] != **bytes).map(|(path, _)| path).collect();
        println!("{} files, {other:?} differ", built.len());
        assert!(other.is_empty(), "{other:?} are not as natively");
        if variable("TIMENAV_TEST_PROJECT").is_none() {
            let program = project.join("allocate");
            let (code, stdout, stderr) = run(&mut exec(&service, &[program.to_str().unwrap()]), "");
            assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), "allocated and freed\n", ""));
        }
        nothing_is_left_in(folder.path());
    }
    service.audit();
}

/// Checks that no process is running or stopped in a folder.
fn nothing_is_left_in(folder: &Path) {
    let folder = std::fs::canonicalize(folder).unwrap();
    let is_there = |pid: &u32| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|at| at.starts_with(&folder));
    let left: Vec<u32> = super::processes().into_iter().map(|(pid, ..)| pid).filter(is_there).collect();
    assert!(left.is_empty(), "{left:?} are still there");
}
