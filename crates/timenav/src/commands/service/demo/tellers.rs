//! Programs in several languages that print the time repeatedly.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Where Debian installs PostgreSQL, by version.
const POSTGRES_FOLDER: &str = "/usr/lib/postgresql";
/// The command prefix that runs PostgreSQL as another user, because it refuses to run as root.
const NOBODY: &[&str] = &["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"];

const SHELL: &str = "while :; do printf '%(%F %T)T\\n' -1; sleep 0.1; done";
const PYTHON: &str = "import datetime, time
while True:
    print(datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d %H:%M:%S'), flush=True)
    time.sleep(0.1)";
const NODE: &str = "setInterval(() => console.log(new Date().toISOString().slice(0, 19).replace('T', ' ')), 100)";
const PERL: &str = "$| = 1; while (1) { print strftime('%F %T', gmtime(Time::HiRes::time())), \"\\n\"; \
                    Time::HiRes::sleep(0.1) }";
const RUBY: &str = "$stdout.sync = true; loop { puts Time.now.utc.strftime('%F %T'); sleep 0.1 }";
const GO: &str = "package main

import (
\t\"fmt\"
\t\"time\"
)

func main() {
\tfor {
\t\tfmt.Println(time.Now().UTC().Format(\"2006-01-02 15:04:05\"))
\t\ttime.Sleep(100 * time.Millisecond)
\t}
}
";
/// Compiles the program before its clock is shown, then runs it.
const GO_SCRIPT: &str = "cd \"$1\" && export GOCACHE=\"$1/cache\" GOPATH=\"$1/path\" GO111MODULE=off GOTOOLCHAIN=local && \
                         go build -o clock clock.go && exec ./clock";
/// Creates and starts a database and queries it on one connection.
const POSTGRES_SCRIPT: &str = "PATH=\"$2:$PATH\"; export PGHOST=\"$1\" PGUSER=clock PGDATABASE=postgres PGTZ=UTC
initdb -D \"$1/db\" -U clock -A trust -E UTF8 --locale=C --no-sync > /dev/null || exit 1
postgres -D \"$1/db\" -k \"$1\" -c listen_addresses= -c fsync=off > \"$1/log\" 2>&1 &
until psql -qAtc 'SELECT 1' > /dev/null 2>&1; do sleep 0.1; done
while :; do
    echo \"SELECT to_char(now(), 'YYYY-MM-DD HH24:MI:SS');\"
    sleep 0.1
done | psql -qAt";

pub(super) struct Teller {
    pub(super) name: &'static str,
    pub(super) command: Vec<OsString>,
}

pub(super) fn installed(programs: &OsStr, folder: &Path) -> anyhow::Result<Vec<Teller>> {
    let mut tellers = Vec::new();
    for (name, program, arguments) in [
        ("bash", "bash", &["-c", SHELL][..]),
        ("Python", "python3", &["-c", PYTHON]),
        ("Node", "node", &["-e", NODE]),
        ("Perl", "perl", &["-MPOSIX=strftime", "-MTime::HiRes", "-e", PERL]),
        ("Ruby", "ruby", &["-e", RUBY]),
    ] {
        if is_there(programs, program) {
            tellers
                .push(Teller { name, command: [&[program], arguments].concat().iter().map(OsString::from).collect() });
        }
    }
    if is_there(programs, "go") {
        let own = own_folder(folder, "go")?;
        std::fs::write(own.join("clock.go"), GO).context("the Go program cannot be written")?;
        tellers.push(Teller { name: "Go", command: script(&[], GO_SCRIPT, &[own.as_os_str()]) });
    }
    if let Some(programs) = postgres() {
        let own = own_folder(folder, "postgres")?;
        let by = if rustix::process::geteuid().is_root() { NOBODY } else { &[] };
        let command = script(by, POSTGRES_SCRIPT, &[own.as_os_str(), programs.as_os_str()]);
        tellers.push(Teller { name: "PostgreSQL", command });
    }
    Ok(tellers)
}

fn script(by: &[&str], text: &str, arguments: &[&OsStr]) -> Vec<OsString> {
    let shell = ["sh", "-c", text, "sh"];
    let words = by.iter().chain(&shell).map(OsString::from);
    words.chain(arguments.iter().map(OsString::from)).collect()
}

fn is_there(programs: &OsStr, program: &str) -> bool {
    std::env::split_paths(programs).any(|folder| folder.join(program).is_file())
}

fn postgres() -> Option<PathBuf> {
    let versions = std::fs::read_dir(POSTGRES_FOLDER).ok()?.flatten().map(|entry| entry.path());
    let number = |path: &PathBuf| path.file_name().and_then(OsStr::to_str).and_then(|name| name.parse::<u32>().ok());
    let complete =
        versions.filter(|path| ["initdb", "postgres", "psql"].iter().all(|it| path.join("bin").join(it).exists()));
    complete.max_by_key(number).map(|path| path.join("bin"))
}

/// Creates a folder that the user running the program can write to.
fn own_folder(folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;

    let own = folder.join(name);
    let made = std::fs::create_dir(&own)
        .and_then(|()| std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o777)))
        .and_then(|()| std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o711)));
    made.with_context(|| format!("the folder {} cannot be created", own.display()))?;
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_installed_languages_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("bin");
        std::fs::create_dir(&programs).unwrap();
        let names = |folder: &Path| -> Vec<&str> {
            let found = installed(programs.as_os_str(), folder).unwrap();
            found.iter().map(|teller| teller.name).filter(|name| *name != "PostgreSQL").collect()
        };
        let first = tempfile::tempdir().unwrap();
        assert!(names(first.path()).is_empty());
        for program in ["python3", "go", "python"] {
            std::fs::write(programs.join(program), "").unwrap();
        }
        let second = tempfile::tempdir().unwrap();
        assert_eq!(names(second.path()), ["Python", "Go"]);
        assert!(std::fs::read_to_string(second.path().join("go/clock.go")).unwrap().contains("time.Now()"));
    }
}
