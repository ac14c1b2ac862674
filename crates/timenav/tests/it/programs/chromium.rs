//! A browser: many processes that shut themselves in, each with a clock.

use super::{DAY, exec, is_installed, service};
use crate::service::run;

/// Scripts of a page ask a process of their own, which the browser has started by another one.
#[test]
fn pages_see_the_clock() {
    let Some(service) = service() else { return };
    if !is_installed("chromium") {
        return service.audit();
    }
    let folder = tempfile::tempdir().unwrap();
    let profile = format!("--user-data-dir={}", folder.path().display());
    let page = "data:text/html,<script>document.write(Date.now())</script>";
    // Root has to leave out the sandbox, as in other tests with a browser.
    let words =
        ["timeout", "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu", &profile, "--dump-dom", page];
    let (code, stdout, stderr) = run(&mut exec(&service, &words), "");
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains(&format!("<body>{}000</body>", DAY.1)), "{stdout}{stderr}");
    assert!(!stderr.contains("host time"), "{stderr}");
    service.audit();
}
