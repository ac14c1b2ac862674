//! HTTPS: served where there is a certificate, refused with a word where it cannot be.

use std::path::Path;
use std::process::Command;

use super::refused_start;
use crate::service::{Process, run, timenav};

/// Writes a certificate for `localhost` that signs itself, and its key.
pub(crate) fn certify(folder: &Path) -> [String; 4] {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::write(path("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(path("key.pem"), made.signing_key.serialize_pem()).unwrap();
    ["--tls-cert".to_owned(), path("cert.pem"), "--tls-key".to_owned(), path("key.pem")]
}

#[test]
fn a_certificate_makes_it_https() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = certify(folder.path());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let mut process = Process::start_at("https", &data, &log, &arguments);
    let port = process.address.port();
    let curl = |url: &str| {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--include", "--max-time", "20", "--cacert", arguments[1]]);
        let output = command.arg(url).output().expect("curl is there");
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (reached, answer) = curl(&format!("https://localhost:{port}/readyz"));
    assert!(reached, "{answer}");
    let answer = answer.to_lowercase();
    assert!(answer.contains(" 200"), "{answer}");
    assert!(answer.contains("strict-transport-security: max-age=31536000; includesubdomains"), "{answer}");
    let (reached, answer) = curl(&format!("http://localhost:{port}/readyz"));
    assert!(!reached, "{answer}");
    let key = std::fs::read_to_string(data.join("admin.key")).unwrap();
    let url = format!("https://localhost:{port}");
    let ask = |arguments: &[&str]| {
        let mut command = timenav();
        command.args(arguments).args(["--url", &url]).env("TIMENAV_API_KEY", key.trim_end());
        run(&mut command, "")
    };
    let (code, stdout, stderr) = ask(&["verify", "--ca", arguments[1]]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.starts_with("No tampering was found"), "{stdout}");
    let (code, stdout, stderr) = ask(&["clock", "now", "--ca", arguments[1]]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("main"), "{stdout}");
    // Nobody vouches for it but the file, and what is no certificate vouches for nothing.
    for wrong in [&["clock", "now"][..], &["verify"]] {
        let (code, _, stderr) = ask(wrong);
        assert_eq!(code, Some(6), "{stderr}");
        assert!(stderr.to_lowercase().contains("certificate"), "{stderr}");
    }
    let (code, _, stderr) = ask(&["verify", "--ca", arguments[3]]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("no certificate in PEM"), "{stderr}");
    process.terminate();
    assert!(process.wait().success());
}

#[test]
fn a_certificate_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = certify(folder.path());
    let data = folder.path().join("data");
    let complaint = refused_start(&data, &["--tls-cert", &arguments[1]]);
    assert!(complaint.contains("--tls-key"), "{complaint}");
    let complaint = refused_start(&data, &["--tls-cert", &arguments[1], "--tls-key", "nowhere.pem"]);
    assert!(complaint.contains("nowhere.pem"), "{complaint}");
    std::fs::write(&arguments[1], "no certificate").unwrap();
    let complaint = refused_start(&data, &["--tls-cert", &arguments[1], "--tls-key", &arguments[3]]);
    assert!(complaint.contains("cert.pem"), "{complaint}");
}
