//! A GitHub Actions workflow: its command steps are run as by a runner.

use std::path::Path;

use serde_json::Value;

use super::Step;
use super::yaml::document;
use crate::support::waiting::until_so;

/// The step that downloads the program, which exists already here.
const INSTALL: &str = "Install timenav";
/// Runs a script like a runner: with `bash -e`, in the environment that earlier steps have written.
const RUNNER: &str = r#"#!/bin/bash
unset TIMENAV_URL TIMENAV_API_KEY
export RUNNER_TEMP=$PWD/runner/temp GITHUB_ENV=$PWD/runner/env GITHUB_PATH=$PWD/runner/path
while IFS='=' read -r name value; do export "$name=$value"; done < "$GITHUB_ENV"
while read -r folder; do PATH=$folder:$PATH; done < "$GITHUB_PATH"
bash -e "$1"
echo "exit code $?"
"#;

/// Writes the commands of a workflow, and returns them with the expected output.
pub(super) fn steps_of(text: &str, step_outputs: &[(String, Vec<String>)], folder: &Path) -> Vec<Step> {
    let workflow = document(text);
    assert!(workflow["on"].is_object() && workflow["name"].is_string());
    let runner = folder.join("runner");
    std::fs::create_dir_all(runner.join("temp")).unwrap();
    for (name, content) in [("env", ""), ("path", ""), ("run", RUNNER)] {
        std::fs::write(runner.join(name), content).unwrap();
    }
    let mut steps = Vec::new();
    let mut unused_outputs: Vec<&String> = step_outputs.iter().map(|(name, _)| name).collect();
    for job in workflow["jobs"].as_object().unwrap().values() {
        assert!(job["runs-on"].is_string() && job["timeout-minutes"].is_number());
        for (number, step) in job["steps"].as_array().unwrap().iter().enumerate() {
            let name = step["name"].as_str().unwrap_or_default();
            let Some(script) = command_of(step) else { continue };
            if name == INSTALL {
                continue;
            }
            std::fs::write(runner.join(format!("{number}.sh")), script).unwrap();
            let mut answer = step_outputs
                .iter()
                .find(|(of, _)| of == name)
                .map_or(vec!["…".to_owned()], |(_, output)| output.clone());
            // A step without expected output may print anything.
            match answer.last_mut().filter(|line| *line == "…") {
                Some(line) => line.push_str("exit code 0"),
                None => answer.push("exit code 0".to_owned()),
            }
            unused_outputs.retain(|one| *one != name);
            steps.push(Step { command: format!("bash runner/run runner/{number}.sh"), answer });
        }
    }
    assert!(unused_outputs.is_empty(), "there are no such steps: {unused_outputs:?}");
    steps
}

/// Returns the command of a step, unless it uses an action.
fn command_of(step: &Value) -> Option<&str> {
    if let Some(action) = step["uses"].as_str() {
        let (name, version) = action.split_once('@').expect("an action has a version");
        assert!(name.contains('/') && version.starts_with('v') && step["run"].is_null(), "{action}");
        return None;
    }
    let script = step["run"].as_str().expect("a step runs something");
    // Only GitHub could substitute these.
    assert!(!script.contains("${{") && step["name"].is_string(), "{script}");
    Some(script)
}

/// Waits until the service started by a workflow has ended.
pub(super) fn wait_for_the_end(folder: &Path) {
    let address = folder.join("runner/temp/timenav/address");
    until_so("the end of the service of the workflow", || !address.exists());
}
