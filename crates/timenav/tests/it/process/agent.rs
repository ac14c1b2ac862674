//! A signing key that an SSH agent holds: a real one, of OpenSSH.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::backup::section;
use super::{mode, refused_start};
use crate::http::Request;
use crate::service::{Service, run, timenav};

const PROGRAM: &str = "/usr/bin/ssh-agent";
const PASSWORD: &str = "correct horse battery staple";

/// A running agent, with keys in files beside its socket.
struct Agent {
    folder: tempfile::TempDir,
    process: Option<Child>,
}

impl Agent {
    /// Starts one that holds a key with each of these comments. `None` where OpenSSH is not installed.
    fn start(comments: &[&str]) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            println!("skipped: this needs Debian's openssh-client");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut agent = Self { folder, process: None };
        for comment in comments {
            let mut made = Command::new("ssh-keygen");
            made.args(["-q", "-t", "ed25519", "-N", "", "-C", comment, "-f"]).arg(agent.path(comment));
            assert!(made.status().unwrap().success());
        }
        agent.run(comments);
        Some(agent)
    }

    /// Starts it, once more maybe, with some of its keys.
    fn run(&mut self, comments: &[&str]) {
        let mut command = Command::new(PROGRAM);
        command.arg("-D").arg("-a").arg(self.socket()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        // It says where it listens once it does.
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        self.process = Some(process);
        for comment in comments {
            let mut add = Command::new("ssh-add");
            add.arg("-q").arg(self.path(comment)).env("SSH_AUTH_SOCK", self.socket());
            assert!(add.status().unwrap().success());
        }
    }

    fn stop(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
        let _ = std::fs::remove_file(self.socket());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn socket(&self) -> PathBuf {
        self.path("agent.sock")
    }

    /// Returns the fingerprint of a key, as OpenSSH shows it.
    fn fingerprint(&self, comment: &str) -> String {
        let shown = Command::new("ssh-keygen").arg("-lf").arg(self.path(comment)).output().unwrap();
        String::from_utf8(shown.stdout).unwrap().split(' ').nth(1).unwrap().to_owned()
    }

    /// Makes the file of a key that it holds.
    fn signing_key(&self, file: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = timenav();
        command.args(["signing-key", "new"]).arg(file).arg("--agent").arg(self.socket()).args(arguments);
        run(&mut command, "")
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if self.process.is_some() {
            self.stop();
        }
    }
}

#[test]
fn the_file_names_the_key_that_is_meant() {
    let Some(mut agent) = Agent::start(&["ledgers", "laptop"]) else { return };
    let file = agent.path("signing.key");
    let (code, _, told) = agent.signing_key(&file, &[]);
    assert_eq!(code, Some(1), "{told}");
    for comment in ["ledgers", "laptop"] {
        let listed = format!("{} {comment}", agent.fingerprint(comment));
        assert!(told.contains("--agent-key") && told.contains(&listed), "{told}");
    }
    let (code, _, told) = agent.signing_key(&file, &["--agent-key", "printer"]);
    assert!(code == Some(1) && told.contains("ledgers"), "{told}");
    assert!(!file.exists(), "nothing was made");
    let (code, by_comment, told) = agent.signing_key(&file, &["--agent-key", "ledgers"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("The agent signs within"), "{told}");
    assert_eq!(mode(&file), 0o600);
    let other = agent.path("other.key");
    let (_, by_fingerprint, _) = agent.signing_key(&other, &["--agent-key", &agent.fingerprint("ledgers")]);
    assert_eq!(by_fingerprint, by_comment);
    let [one, two] = [&file, &other].map(|file| std::fs::read_to_string(file).unwrap());
    assert_ne!(one, two, "each has a secret of its own for what is sealed");
    agent.stop();
    let third = agent.path("third.key");
    let (code, _, told) = agent.signing_key(&third, &["--agent-key", "ledgers"]);
    assert!(code == Some(1) && told.contains("nobody listens there"), "{told}");
    agent.run(&[]);
    let (code, _, told) = agent.signing_key(&third, &[]);
    assert!(code == Some(1) && told.contains("holds no Ed25519 key: add one with ssh-add"), "{told}");
    assert!(!third.exists());
}

#[test]
fn a_service_signs_by_an_agent_and_waits_for_it() {
    let Some(mut agent) = Agent::start(&["ledgers"]) else { return };
    let mut service = Service::prepared(&[], |data| {
        let (code, _, told) = agent.signing_key(&data.join("signing.key"), &[]);
        assert_eq!(code, Some(0), "{told}");
    });
    assert!(service.log_text().contains("an agent holds the signing key"), "{}", service.log_text());
    service.post("/v1/events", &json!({ "event_id": "one", "time": "2001-01-01T00:00:00Z" }));
    service.user("ada");
    service.set_password("ada", PASSWORD);
    let cookie = service.log_in("ada", PASSWORD);
    agent.stop();
    service.errors_expected.push("a group could not be signed");
    let body = json!({ "event_id": "two", "time": "2001-01-01T00:00:00Z" });
    let refused = service.send(Request::post("/v1/events").json(&body)).refused(503, "unavailable");
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains("the key cannot sign now") && detail.contains("agent.sock"), "{detail}");
    service.send(Request::get("/readyz").anonymous()).expect(503);
    agent.run(&["ledgers"]);
    // Whoever asks whether it is ready finds out; for a moment after a failure nobody tries.
    while service.send(Request::get("/readyz").anonymous()).status != 200 {
        std::thread::yield_now();
    }
    service.post("/v1/events", &body);
    assert!(service.stop().success());
    // Commands that read need no agent. A start does, and says so.
    agent.stop();
    let (code, stdout, stderr) = run(timenav().arg("verify").arg("--data").arg(service.data()), "");
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let refused = refused_start(&service.data(), &[]);
    assert!(refused.contains("start the agent at") && refused.contains("nobody listens there"), "{refused}");
    agent.run(&["ledgers"]);
    service.start_again();
    let answer = service.send(Request::get("/v1/session").session(&cookie)).expect(200);
    assert_eq!(answer["user_id"], "ada");
    let backup = agent.path("backup.tar");
    let mut command = timenav();
    command.arg("backup").arg("--to").arg(&backup).arg("--data").arg(service.data());
    let (code, stdout, stderr) = run(&mut command, "");
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    service.audit();
}

#[test]
fn a_service_goes_over_to_an_agent_and_back() {
    let Some(agent) = Agent::start(&["ledgers", "next"]) else { return };
    let mut service = Service::start();
    service.post("/v1/events", &json!({ "event_id": "one", "time": "2001-01-01T00:00:00Z" }));
    service.user("ada");
    service.set_password("ada", PASSWORD);
    assert!(service.stop().success());
    let socket = agent.socket();
    let by_agent = |key: &'static str| ["--agent", socket.to_str().unwrap(), "--agent-key", key];
    assert!(section("Keys").contains("timenav rotate-signing-key --agent "), "it is the command of the document");
    service.rotate_signing_key_with(&by_agent("ledgers"));
    let text = std::fs::read_to_string(service.data().join("signing.key")).unwrap();
    assert!(text.starts_with("AGENT+KEY timenav.local+") && !text.contains("PRIVATE"), "{text}");
    service.start_again();
    service.log_in("ada", PASSWORD);
    service.post("/v1/events", &json!({ "event_id": "two", "time": "2001-01-01T00:00:00Z" }));
    assert!(service.stop().success());
    // Nobody takes a key out of its hardware by leaving out an option.
    for (arguments, why) in [(&[][..], "--in-file"), (&by_agent("ledgers")[..], "signs already")] {
        let mut rotate = timenav();
        rotate.arg("rotate-signing-key").arg("--data").arg(service.data()).args(arguments);
        let (code, _, told) = run(&mut rotate, "");
        assert!(code == Some(1) && told.contains(why), "{told}");
    }
    service.rotate_signing_key_with(&by_agent("next"));
    service.rotate_signing_key_with(&["--in-file"]);
    let text = std::fs::read_to_string(service.data().join("signing.key")).unwrap();
    assert!(text.starts_with("PRIVATE+KEY+timenav.local+"), "the key is in the file again");
    service.start_again();
    service.log_in("ada", PASSWORD);
    service.audit();
}
