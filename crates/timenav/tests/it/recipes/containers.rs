//! Substitutes for containers: `docker compose` and `kubectl` of a recipe start processes on this machine with exactly
//! the commands and the environment of the file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::PATH;

/// Starts and stops the containers with generated scripts, in whose folder it runs.
const ENGINE: &str = r#"#!/bin/bash
cd "$(dirname "$0")" || exit 1
case $1 in
    up)
        while read -r name; do
            if [ -e "$name.command" ]; then
                ./"$name.command" > "$name.log" 2>&1 < /dev/null &
                echo $! > "$name.pid"
            fi
            if [ -e "$name.once" ]; then ./"$name.once" || exit 1; fi
            if [ -e "$name.probe" ]; then until ./"$name.probe" > "$name.probed" 2>&1; do sleep 0.1; done; fi
        done < order
        ;;
    exec) name=$2; shift 2; exec ./"$name.run" "$@" ;;
    logs) cat "$2.log" ;;
    down)
        for file in *.pid; do
            pid=$(cat "$file")
            kill "$pid"
            # What has ended and was waited for by nobody is a zombie.
            while grep -qs '^State:.[^ZX]' "/proc/$pid/status"; do sleep 0.1; done
        done
        ;;
esac
"#;
const DOCKER: &str = r#"case "$1 $2" in
    "compose up") exec "$engine" up ;;
    "compose exec") [ "$3" = -T ] && shift 3 && exec "$engine" exec "$@" ;;
    "compose logs") [ "$3" = --no-log-prefix ] && exec "$engine" logs "$4" ;;
    "compose down") exec "$engine" down ;;
esac
"#;
const KUBECTL: &str = r#"case $1 in
    create | rollout) exit ;;
    apply) exec "$engine" up ;;
    exec) [ "$3 $5" = "--container --" ] && name=$4 && shift 5 && exec "$engine" exec "$name" "$@" ;;
    logs) [ "$3" = --container ] && exec "$engine" logs "$4" ;;
    delete) exec "$engine" down ;;
esac
"#;
const NOT_KNOWN: &str = "echo \"the test does not know: $0 $*\"\nexit 64\n";

/// The program with which a recipe starts containers.
#[derive(Clone, Copy)]
pub(super) enum Engine {
    Compose,
    Kubernetes,
}

#[derive(Debug, Default)]
pub(super) struct Container {
    pub(super) name: String,
    /// The long-running command, if any.
    pub(super) command: Vec<String>,
    /// A command that runs once, before the next container.
    pub(super) once: Vec<String>,
    /// A command that must succeed before the next container.
    pub(super) probe: Vec<String>,
    pub(super) environment: BTreeMap<String, String>,
    /// Replacements in commands and environment for this machine: volume paths and addresses.
    pub(super) here: Vec<(String, String)>,
}

impl Container {
    fn local(&self, text: &str) -> String {
        let is_part = |rest: &str| rest.is_empty() || rest.starts_with('/');
        let found = self.here.iter().find_map(|(there, here)| {
            text.strip_prefix(there.as_str()).filter(|rest| is_part(rest)).map(|rest| format!("{here}{rest}"))
        });
        found.unwrap_or_else(|| text.to_owned())
    }

    /// Returns a script that runs a command in the container.
    fn script(&self, folder: &Path, command: &[String]) -> String {
        let path = format!("{}:{PATH}", folder.join("bin").display());
        let mut script =
            format!("#!/bin/bash\ncd {} || exit 1\nexec env -i PATH={path}", quoted(folder.to_str().unwrap()));
        for (name, value) in &self.environment {
            write!(script, " {name}={}", quoted(&self.local(value))).unwrap();
        }
        for word in command {
            write!(script, " {}", quoted(&self.local(word))).unwrap();
        }
        script + " \"$@\"\n"
    }
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Provides a program that starts these containers in order.
pub(super) fn provide(engine: Engine, folder: &Path, containers: &[Container]) {
    let inside = folder.join("containers");
    std::fs::create_dir(&inside).unwrap();
    for container in containers {
        let file = |kind: &str| inside.join(format!("{}.{kind}", container.name));
        write_program(&file("run"), &container.script(folder, &[]));
        for (kind, command) in [("command", &container.command), ("once", &container.once), ("probe", &container.probe)]
        {
            if !command.is_empty() {
                write_program(&file(kind), &container.script(folder, command));
            }
        }
    }
    let order: Vec<&str> = containers.iter().map(|container| container.name.as_str()).collect();
    std::fs::write(inside.join("order"), order.join("\n") + "\n").unwrap();
    write_program(&inside.join("engine"), ENGINE);
    let (name, script) = match engine {
        Engine::Compose => ("docker", DOCKER),
        Engine::Kubernetes => ("kubectl", KUBECTL),
    };
    let engine = quoted(inside.join("engine").to_str().unwrap());
    write_program(&folder.join("bin").join(name), &format!("#!/bin/bash\nengine={engine}\n{script}{NOT_KNOWN}"));
}

fn write_program(path: &Path, script: &str) {
    std::fs::write(path, script).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
