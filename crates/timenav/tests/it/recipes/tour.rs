//! The quick start and the examples: each command is run and its output compared.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::service::Service;

const END: &str = "--- end of command";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command of the tour with its expected output.
struct Step {
    command: String,
    answer: String,
}

fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in page.split("```console tour\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step { command: command.to_owned(), answer: String::new() }),
                None => steps.last_mut().unwrap().answer += line,
            }
        }
    }
    steps
}

/// Returns whether a text matches a pattern in which `…` stands for anything.
pub(crate) fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn output_patterns_match_with_ellipses() {
    for (pattern, text, expected) in [
        ("abc", "abc", true),
        ("abc", "abcd", false),
        ("a…c", "abbbc", true),
        ("a…c", "abbb", false),
        ("…b…", "abc", true),
        ("a…b…c", "acb", false),
        ("", "", true),
        ("", "x", false),
    ] {
        assert_eq!(is_like(pattern, text), expected, "{pattern} {text}");
    }
}

#[test]
fn quickstart_commands_print_the_shown_output() {
    let page = std::fs::read_to_string(root().join("docs/quickstart.md")).unwrap();
    let steps = steps(&page);
    assert!(steps.len() > 15, "the tour has {} commands", steps.len());
    let service = Service::with(&["--demo"]);
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(service.data(), folder.path().join("timenav-data")).unwrap();
    let script: Vec<String> = steps.iter().map(|step| format!("{}\necho '{END}'\n", step.command)).collect();
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_timenav"), folder.path().join("bin/timenav")).unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-c", &format!("PATH=\"$PWD/bin:$PATH\"\n{}", script.concat())]).current_dir(folder.path());
    let output = bash.output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<&str> = printed.split(END).collect();
    assert_eq!(answers.len(), steps.len() + 1, "{}", String::from_utf8_lossy(&output.stderr));
    let mut wrong = Vec::new();
    for (step, answer) in steps.iter().zip(answers) {
        let answer: String = answer.lines().collect();
        if !is_like(&step.answer, &answer) {
            wrong.push(format!("$ {}\nsaid: {}\nis:   {answer}", step.command, step.answer));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    service.audit();
}

/// Returns the output of the examples.
fn story(file: Option<&Path>) -> String {
    let service = Service::start();
    let mut command = Command::new(root().join("examples/katrina.sh"));
    command.args(file).env("TIMENAV_URL", service.url()).env("TIMENAV_DATA", service.data());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    service.audit();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn example_story_runs_to_completion() {
    let output = story(None);
    assert!(output.contains("\"imported\":10,"), "{output}");
    let looks: Vec<&str> = output.lines().filter(|line| line.contains("\"events\":")).collect();
    assert!(looks[0].contains("2005-08-29T06:00:00Z"), "{}", looks[0]);
    assert!(looks[1].contains("2005-08-29T18:00:00Z"), "{}", looks[1]);
    assert!(output.contains("Returned to the anchor at 2005-08-29T06:30:00"), "{output}");
}
