//! A browser: many sandboxed processes, each with a clock.

use std::process::Command;

use super::robust::unprivileged;
use super::{DAY, exec, is_installed, service};
use crate::support::service::run;

const PAGE: &str = "data:text/html,<script>document.write(Date.now())</script>";
/// An unprivileged user.
const NOBODY: u32 = 65_534;

/// Scripts of a page run in a separate process, which a helper process of the browser has started.
#[test]
fn browser_pages_see_the_virtual_clock() {
    let Some(service) = service() else { return };
    if !is_installed("chromium") {
        return service.audit();
    }
    let folder = tempfile::tempdir().unwrap();
    let profile = format!("--user-data-dir={}", folder.path().display());
    // Root must disable the sandbox, as in other browser tests.
    let words =
        ["timeout", "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu", &profile, "--dump-dom", PAGE];
    let (code, stdout, stderr) = run(&mut exec(&service, &words), "");
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains(&format!("<body>{}000</body>", DAY.1)), "{stdout}{stderr}");
    assert!(!stderr.contains("host time"), "{stderr}");
    service.audit();
}

/// Without privileges a browser sandboxes its processes with namespaces and its own filters.
#[test]
fn sandboxed_browser_pages_see_the_virtual_clock() {
    let Some(service) = service() else { return };
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let profile = format!("--user-data-dir={}/profile", home.path().display());
    let words = ["timeout", "120", "chromium", "--headless", "--disable-gpu", &profile, "--dump-dom", PAGE];
    let command = unprivileged(&service, &folder, &[], &words).filter(|_| is_installed("chromium"));
    let Some(mut command) = command else { return service.audit() };
    std::os::unix::fs::chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let mut native = Command::new("setpriv");
    native.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]).args(words);
    let (code, _, stderr_text) = run(native.current_dir("/").env("HOME", home.path()), "");
    if code != Some(0) {
        eprintln!("skipped: this system has no user namespaces for everybody: {stderr_text}");
        return service.audit();
    }
    let (code, stdout, stderr) = run(command.env("HOME", home.path()), "");
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains(&format!("<body>{}000</body>", DAY.1)), "{stdout}{stderr}");
    assert!(!stderr.contains("host time"), "{stderr}");
    service.audit();
}
