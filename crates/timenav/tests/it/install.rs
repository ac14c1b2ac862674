//! `deploy/`: what the script installs and rejects, using a local release page, and what the unit starts.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::service::{run, timenav};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/install.sh");
const UNIT: &str = include_str!("../../../../deploy/timenav.service");
/// A stub of the program that prints its version.
const PROGRAM: &str = "#!/bin/sh\necho timenav 9.9.9\n";

/// A release page with a program for this platform.
struct Page {
    folder: TempDir,
    address: String,
}

impl Page {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = format!("timenav-9.9.9-{}-unknown-linux-gnu", std::env::consts::ARCH);
        let inside = folder.path().join(&name);
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(inside.join("timenav"), PROGRAM).unwrap();
        let pack = "chmod 755 \"$1/timenav\" && tar -czf \"$1.tar.gz\" \"$1\" && sha256sum *.tar.gz >SHA256SUMS";
        let status = Command::new("sh").args(["-euc", pack, "sh", &name]).current_dir(folder.path()).status();
        assert!(status.unwrap().success());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v9.9.9/", listener.local_addr().unwrap());
        let files = folder.path().to_owned();
        std::thread::spawn(move || serve(&listener, &files));
        Self { folder, address }
    }

    fn sums(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("SHA256SUMS")).unwrap()
    }

    /// Runs the script. Returns its exit code and output.
    fn install(&self, into: &Path, sum: &str) -> (Option<i32>, String) {
        let mut command = Command::new("sh");
        command.args([SCRIPT, &self.address]).env("TIMENAV_INSTALL_DIR", into).env("TIMENAV_SHA256", sum);
        let (code, stdout, stderr) = run(&mut command, "");
        (code, stdout + &stderr)
    }
}

/// Serves files by the last path segment until the test ends.
fn serve(listener: &TcpListener, folder: &Path) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
        let Some(first) = lines.next() else { continue };
        lines.find(String::is_empty);
        let name = first.split(' ').nth(1).and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        let (status, body) = match std::fs::read(folder.join(name)) {
            Ok(body) => ("200 OK", body),
            Err(_) => ("404 Not Found", Vec::new()),
        };
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        // The client may have disconnected.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
    }
}

#[test]
fn install_script_installs_the_released_program() {
    let (page, home) = (Page::new(), tempfile::tempdir().unwrap());
    let into = home.path().join("a folder/bin");
    let sum = page.sums()[..64].to_owned();
    for known in ["", &sum] {
        let (code, output) = page.install(&into, known);
        assert_eq!(code, Some(0), "{output}");
        assert!(
            output.contains("installed timenav 9.9.9 in ") && output.contains("start it: timenav serve"),
            "{output}"
        );
        assert_eq!(std::fs::read_to_string(into.join("timenav")).unwrap(), PROGRAM);
        assert_eq!(std::fs::read_dir(&into).unwrap().count(), 1, "nothing else is left there");
    }
}

#[test]
fn install_script_rejects_unverifiable_downloads() {
    let home = tempfile::tempdir().unwrap();
    let into = home.path().join("bin");
    let refused = |page: &Page, sum: &str, why: &str| {
        let (code, output) = page.install(&into, sum);
        assert_eq!(code, Some(1), "{output}");
        assert!(output.lines().last().unwrap().starts_with("error: ") && output.contains(why), "{why}: {output}");
        assert!(!into.exists(), "{why}");
    };
    let page = Page::new();
    refused(&page, &"0".repeat(64), "TIMENAV_SHA256 says 000");
    let archive = page.sums()[66..].trim().to_owned();
    let archive = page.folder.path().join(archive);
    let mut bytes = std::fs::read(&archive).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&archive, &bytes).unwrap();
    refused(&page, "", "it was cut off or changed");
    std::fs::remove_file(&archive).unwrap();
    refused(&page, "", "cannot be downloaded");
    std::fs::write(page.folder.path().join("SHA256SUMS"), "0  timenav-9.9.9-sparc-sun-solaris.tar.gz\n").unwrap();
    refused(&page, "", "has no program for");
    std::fs::remove_file(page.folder.path().join("SHA256SUMS")).unwrap();
    refused(&page, "", "SHA256SUMS cannot be downloaded");
    let elsewhere = Page { address: "http://example.org/timenav".to_owned(), ..page };
    refused(&elsewhere, "", "is not an https:// address");
}

#[test]
fn systemd_unit_uses_existing_serve_options() {
    let start = UNIT.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/timenav ")).unwrap();
    let (code, _, stderr) = run(timenav().args(start.split(' ')), "");
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("the configuration file /etc/timenav.toml"), "{stderr}");
}
