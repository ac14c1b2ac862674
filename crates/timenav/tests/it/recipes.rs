//! The pages of `docs/recipes` and the README: their files are written, their commands run and the output compared.

mod compose;
mod containers;
mod deploy;
mod kubernetes;
mod nextest;
mod tour;
mod workflow;
mod yaml;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use self::tour::is_like;
use crate::programs::{has_mounts, notice};
use crate::support::service::Service;

const END: &str = "--- end of command";
/// The search path for programs other than `timenav`, independent of the environment of the tests.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Generates a test for each page, and checks that none is missing.
macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(#[test]
        fn $test() {
            check($page);
        })*
    };
}

pages! {
    recipe_agent_month_prints_the_shown_output: "agent-month",
    recipe_billing_year_prints_the_shown_output: "billing-year",
    recipe_cron_summer_time_prints_the_shown_output: "cron-summer-time",
    recipe_cron_night_prints_the_shown_output: "cron-night",
    recipe_celery_week_prints_the_shown_output: "celery-week",
    recipe_nightly_year_prints_the_shown_output: "nightly-year",
    recipe_jwt_expiry_prints_the_shown_output: "jwt-expiry",
    recipe_certificate_expiry_prints_the_shown_output: "certificate-expiry",
    recipe_stripe_test_clocks_prints_the_shown_output: "stripe-test-clocks",
    recipe_four_year_sweep_prints_the_shown_output: "four-year-sweep",
    recipe_parallel_tests_prints_the_shown_output: "parallel-tests",
    recipe_postgres_rows_prints_the_shown_output: "postgres-rows",
    recipe_incident_playback_prints_the_shown_output: "incident-playback",
    recipe_wrong_clocks_prints_the_shown_output: "wrong-clocks",
    recipe_docker_compose_prints_the_shown_output: "docker-compose",
    recipe_kubernetes_sidecar_prints_the_shown_output: "kubernetes-sidecar",
    recipe_github_actions_prints_the_shown_output: "github-actions",
}

/// Pages that are tested elsewhere, and where.
const RUN_ELSEWHERE: [(&str, &str); 2] = [
    ("browser-page", "clients/typescript/test/adapters.test.ts"),
    ("workflow-tests", "clients/python/tests/test_recipes.py"),
];

/// Words of pages that need an optional program, and a command that succeeds if it is installed.
const OPTIONAL: [(&str, &[&str]); 2] =
    [("/usr/sbin/cron", &["test", "-x", "/usr/sbin/cron"]), ("-m celery", &["python3", "-c", "import celery"])];

/// A command of a page with its expected output.
struct Step {
    command: String,
    answer: Vec<String>,
}

/// The files and commands of a page.
#[derive(Default)]
struct Recipe {
    files: Vec<(String, String)>,
    steps: Vec<Step>,
    /// The expected output of workflow steps.
    step_outputs: Vec<(String, Vec<String>)>,
}

impl Recipe {
    /// Returns whether the page uses `timenav exec`.
    fn needs_exec(&self) -> bool {
        ["timenav exec", "timenav sweep", "timenav, exec"].iter().any(|words| self.mentions(words))
    }

    fn mentions(&self, words: &str) -> bool {
        let mut texts = self.files.iter().map(|(_, text)| text).chain(self.steps.iter().map(|step| &step.command));
        texts.any(|text| text.contains(words))
    }

    /// Returns an optional program, or a privilege, that the page needs and this machine does not have.
    fn missing(&self) -> Option<&'static str> {
        let is_installed = |check: &[&str]| {
            let mut command = Command::new(check[0]);
            command.args(&check[1..]).env("PATH", PATH).stdin(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let program = OPTIONAL.iter().find(|(words, check)| self.mentions(words) && !is_installed(check));
        let needs_mounts = program.is_none() && self.mentions("unshare --mount");
        let mounts = (needs_mounts && !has_mounts()).then_some("the permission to mount");
        program.map(|(words, _)| *words).or(mounts)
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recipes")
}

/// Parses the blocks of a page: `console recipe` has commands, `text step NAME` the output of a workflow step, and
/// blocks with a file name after the language are files.
fn recipe(page: &str) -> Recipe {
    let mut recipe = Recipe::default();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match kind.split_once(' ') {
            Some(("console", "recipe")) => {
                for line in block {
                    match line.strip_prefix("$ ") {
                        Some(command) => recipe.steps.push(Step { command: command.to_owned(), answer: Vec::new() }),
                        None => recipe.steps.last_mut().expect("a command comes first").answer.push(line.to_owned()),
                    }
                }
            }
            Some(("text", step)) if step.starts_with("step ") => {
                let lines = block.into_iter().map(str::to_owned).collect();
                recipe.step_outputs.push((step["step ".len()..].to_owned(), lines));
            }
            Some((_, name)) if name.contains('.') => recipe.files.push((name.to_owned(), block.join("\n") + "\n")),
            _ => {}
        }
    }
    recipe
}

fn check(name: &str) {
    check_page(&folder().join(name).with_extension("md"));
}

#[test]
fn readme_commands_print_the_shown_output() {
    check_page(&folder().join("../../README.md"));
}

/// Runs the `console recipe` blocks of a page against a new service and compares the output.
fn check_page(path: &Path) {
    let name = path.display();
    let mut recipe = recipe(&std::fs::read_to_string(path).unwrap());
    if let Some(missing) = recipe.missing() {
        return eprintln!("skipped for {name}: this machine lacks {missing}");
    }
    let service = Service::start();
    // Without the best method, a notice is part of each output. Without any method, only pages that need one are
    // skipped.
    let notice = if recipe.needs_exec() { notice(&service, "auto") } else { Some(String::new()) };
    let Some(notice) = notice else { return service.audit() };
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in &recipe.files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_timenav"), folder.path().join("bin/timenav")).unwrap();
    if recipe.steps.iter().any(|step| step.command.contains("initdb")) {
        provide_postgres(folder.path());
    }
    provide_referenced_files(&mut recipe, folder.path(), &service);
    assert!(recipe.steps.len() > 2, "{name} has {} commands", recipe.steps.len());
    let steps: Vec<String> = recipe.steps.iter().map(|step| format!("{}\necho '{END}'\n", step.command)).collect();
    // Background processes of a page are ended with it.
    let script = format!("exec 2>&1\n{}\njobs -p | xargs -r kill\nwait\n", steps.concat());
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]).current_dir(folder.path()).stdin(Stdio::null()).env_remove("TIMENAV_TIMELINE");
    bash.env("TIMENAV_URL", service.url()).env("TIMENAV_API_KEY", &service.admin);
    bash.env("PATH", format!("{}:{PATH}", folder.path().join("bin").display()));
    let bash = bash.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
    let group = Pid::from_child(&bash);
    let output = bash.wait_with_output().unwrap();
    // Remaining processes of the shell's group, if any.
    let _ = kill_process_group(group, Signal::TERM);
    workflow::wait_for_the_end(folder.path());
    let printed = String::from_utf8(output.stdout).unwrap();
    let printed = if notice.is_empty() { printed } else { printed.replace(&notice, "") };
    let answers: Vec<&str> = printed.split(&format!("{END}\n")).collect();
    assert_eq!(answers.len(), recipe.steps.len() + 1, "{name}: {printed}");
    let mut wrong = Vec::new();
    for (step, answer) in recipe.steps.iter().zip(answers) {
        let (printed, is) = (step.answer.join("\n"), answer.trim_end());
        if !is_like(&printed, is) {
            wrong.push(format!("$ {}\nsaid:\n{printed}\nis:\n{is}\n", step.command));
        }
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    service.audit();
}

/// Reads the deployment files, and provides substitutes for the programs that run them.
fn provide_referenced_files(recipe: &mut Recipe, folder: &Path, service: &Service) {
    for (name, text) in &recipe.files {
        if name == "compose.yaml" {
            compose::provide_compose(text, folder, service);
        } else if name.starts_with(".github/workflows/") {
            recipe.steps.extend(workflow::steps_of(text, &recipe.step_outputs, folder));
        } else if Path::new(name).extension() == Some(OsStr::new("yaml")) {
            kubernetes::provide_kubernetes(text, folder);
        }
    }
}

/// Returns the folder of PostgreSQL's programs: `PG_BIN`, or the newest one of Debian's packages.
#[expect(
    clippy::disallowed_methods,
    reason = "whoever runs the tests says here where they are, as for those of the store"
)]
pub(crate) fn postgres() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("PG_BIN") {
        return Some(PathBuf::from(named));
    }
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path().join("bin"))
        .filter(|bin| bin.join("initdb").exists())
        .collect();
    // The newest by number, as in the store tests.
    found.sort_by_key(|bin| bin.parent().and_then(|version| version.file_name()?.to_str()?.parse::<u32>().ok()));
    found.pop()
}

/// Provides PostgreSQL's programs to the commands of a page. They refuse to run as root, so root runs them as another
/// user, who can write into the folder.
pub(crate) fn provide_postgres(folder: &Path) {
    let bin = postgres().expect("PostgreSQL is installed");
    let is_root = rustix::process::geteuid().is_root();
    let user = if is_root { "setpriv --reuid=nobody --regid=\"$(id -g nobody)\" --clear-groups " } else { "" };
    // Clients may be any user.
    let programs = [("initdb", user), ("postgres", user), ("psql", "")];
    for (program, user) in programs.into_iter().filter(|(program, _)| bin.join(program).exists()) {
        let path = folder.join("bin").join(program);
        std::fs::write(&path, format!("#!/bin/sh\nexec {user}{}/{program} \"$@\"\n", bin.display())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
}

#[test]
fn recipe_pages_are_all_tested_and_listed() {
    let names = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let pages = names.filter(|path| path.extension() == Some(OsStr::new("md")));
    let found: BTreeSet<String> = pages.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    let index = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let mut expected: BTreeSet<String> = PAGES.iter().map(|&page| page.to_owned()).collect();
    for (page, test) in RUN_ELSEWHERE {
        let test = std::fs::read_to_string(folder().join("../..").join(test)).unwrap();
        assert!(test.contains(&format!("{page}.md")), "nobody runs {page}.md");
        expected.insert(page.to_owned());
    }
    for page in &expected {
        assert!(index.contains(&format!("({page}.md)")), "README.md does not list {page}.md");
    }
    expected.insert("README".to_owned());
    assert_eq!(found, expected);
}

#[test]
fn recipe_parser_distinguishes_block_kinds() {
    let page = "a\n```console recipe\n$ one\n1\n2\n$ two\n```\n```python a.py\nx = 1\n```\n```json\n{}\n```\n\
                ```text step Go on\n3\n```\n```text a.txt\n```\n";
    let recipe = recipe(page);
    let steps: Vec<_> = recipe.steps.iter().map(|step| (step.command.as_str(), step.answer.join(","))).collect();
    assert_eq!(steps, [("one", "1,2".to_owned()), ("two", String::new())]);
    let files: Vec<_> = recipe.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(files, [("a.py", "x = 1\n"), ("a.txt", "\n")]);
    assert_eq!(recipe.step_outputs, [("Go on".to_owned(), vec!["3".to_owned()])]);
}
