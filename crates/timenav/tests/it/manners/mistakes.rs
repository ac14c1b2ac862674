//! `mistakes.txt`: each mistake is made, and gets the documented response.

use std::path::Path;

use crate::support::http::Request;
use crate::support::service::{Service, run, timenav};

/// A row of the table.
#[derive(Debug)]
struct Mistake {
    /// The commands or requests: texts in backticks.
    done: Vec<String>,
    /// The status of the response, or the exit code.
    status: u16,
    /// Text in the response.
    words: String,
}

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/manners/mistakes.txt");
    std::fs::read_to_string(path).unwrap()
}

/// Returns the texts between single or double backticks (`CommonMark`, section 6.1).
fn quoted(cell: &str) -> Vec<String> {
    let (mut rest, mut all) = (cell, Vec::new());
    while let Some(start) = rest.find('`') {
        let mark = if rest[start..].starts_with("``") { "``" } else { "`" };
        let from = start + mark.len();
        let end = from + rest[from..].find(mark).unwrap_or_else(|| panic!("{cell}"));
        all.push(rest[from..end].trim().to_owned());
        rest = &rest[end + mark.len()..];
    }
    all
}

fn rows(heading: &str) -> Vec<Mistake> {
    let page = page();
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")).skip(2);
    let row = |row: &str| {
        let (done, answered) = row.split_once(" | ").unwrap_or_else(|| panic!("{row}"));
        let (status, _) = answered.split_once(' ').unwrap();
        let words = quoted(answered);
        assert_eq!(words.len(), 1, "{row}");
        Mistake { done: quoted(done), status: status.parse().unwrap(), words: words[0].clone() }
    };
    rows.map(row).collect()
}

fn request(service: &Service, newcomer: &str, mistake: &Mistake) -> Request {
    let (what, around) = mistake.done.split_last().unwrap();
    let (method, rest) = what.split_once(' ').unwrap();
    let (target, body) = rest.split_once(' ').unwrap_or((rest, ""));
    let mut request = Request::new(method, target);
    if !body.is_empty() {
        request = request.body("application/json", body.as_bytes());
    }
    for hint in around {
        request = match hint.as_str() {
            "as nobody" => request.anonymous(),
            "as newcomer" => request.key(newcomer),
            header => {
                let (name, value) = header.split_once(": ").unwrap();
                request.header(name, &value.replace("KEY", &service.admin))
            }
        };
    }
    request
}

#[test]
fn beginner_mistakes_get_a_corrective_message() {
    let service = Service::start();
    let newcomer = service.user("newcomer");
    let mistakes = rows("Fifteen mistakes of beginners");
    assert_eq!(mistakes.len(), 15);
    for mistake in mistakes {
        let answer = service.send(request(&service, &newcomer, &mistake));
        let (status, problem) = (answer.status, answer.json());
        let problem =
            format!("{} {}", problem["status"].as_str().unwrap(), problem["detail"].as_str().unwrap_or_default());
        assert_eq!(status, mistake.status, "{mistake:?}: {problem}");
        assert!(problem.contains(&mistake.words), "{mistake:?}: {problem}");
        for of_a_library in ["invalid type", "expected a sequence", "expected a map", "line 1 column", "EOF", "serde"] {
            assert!(!problem.contains(of_a_library), "{problem}");
        }
    }
    service.audit();
}

#[test]
fn operator_mistakes_get_a_corrective_message() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let (data, empty) = (service.data(), folder.path().join("empty"));
    std::fs::create_dir(&empty).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "hello\n").unwrap();
    let mistakes = rows("Fifteen mistakes of operators");
    assert_eq!(mistakes.len(), 15);
    let before = service.timelines();
    for mistake in mistakes {
        let [line] = mistake.done.as_slice() else { panic!("{mistake:?}") };
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let words = line.split(' ').skip(1).map(|word| match word {
            "DATA" => text(&data),
            "EMPTY" => text(&empty),
            word => word.to_owned(),
        });
        let mut command = timenav();
        command.args(words).current_dir(folder.path());
        command.env("TIMENAV_URL", service.url()).env("TIMENAV_API_KEY", &service.admin);
        let (code, _, stderr) = run(&mut command, "");
        assert_eq!(code, Some(mistake.status.into()), "{mistake:?}: {stderr}");
        assert!(stderr.contains(&mistake.words), "{mistake:?}: {stderr}");
        assert!(std::fs::read_dir(&empty).unwrap().next().is_none(), "{mistake:?} left something behind");
    }
    assert_eq!(service.timelines(), before);
    service.audit();
}
