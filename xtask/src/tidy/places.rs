//! Traces of the machine on which a file was written.

use std::path::Path;

use super::Problem;
use super::tree::Tree;

/// Files that are made by a package manager and may name where it got things.
const LOCKS: [&str; 2] = ["Cargo.lock", "package-lock.json"];
/// Hosts that everybody knows, and the machine itself.
const KNOWN_HOSTS: [&str; 12] = [
    "crates.io",
    "index.crates.io",
    "static.crates.io",
    "github.com",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "pypi.org",
    "files.pythonhosted.org",
    "localhost",
    "127.0.0.1",
    "0.0.0.0",
    "[::1]",
];
/// Settings that name a registry or the way to it.
const SETTINGS: [&str; 8] = [
    "CARGO_REGISTRIES_CRATES_IO_INDEX",
    "NPM_CONFIG_REGISTRY",
    "npm_config_registry",
    "PIP_INDEX_URL",
    "UV_INDEX_URL",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
];

/// Folders that every machine has.
const SHARED_FOLDERS: [&str; 5] = ["//", "/tmp/", "/var/tmp/", "/opt/", "/srv/"];

/// What gives a machine away.
pub(super) struct Machine {
    /// Folders, each with a slash at its end.
    folders: Vec<String>,
    /// Hosts of registries and proxies that only this machine uses.
    hosts: Vec<String>,
}

impl Machine {
    /// Returns what gives this machine away.
    pub(super) fn of(root: &Path) -> Self {
        let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
        let checkout = root.canonicalize().ok();
        let folders = [checkout.as_deref().and_then(Path::parent), home.as_deref()];
        let folders = folders.into_iter().flatten().map(|folder| format!("{}/", folder.display()));
        let folders = folders.filter(|folder| !SHARED_FOLDERS.contains(&folder.as_str()));
        let settings = SETTINGS.iter().filter_map(|name| std::env::var(name).ok());
        Self { folders: folders.collect(), hosts: settings.filter_map(|url| host(&url).map(str::to_owned)).collect() }
    }
}

/// Returns the host of a URL, if not everybody knows it.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let place = authority.rsplit('@').next()?;
    let host = match place.rfind(':') {
        Some(colon) if place[colon + 1..].bytes().all(|byte| byte.is_ascii_digit()) => &place[..colon],
        _ => place,
    };
    (!host.is_empty() && !KNOWN_HOSTS.contains(&host)).then_some(host)
}

pub(super) fn check(tree: &Tree, machine: &Machine) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| !LOCKS.iter().any(|lock| path.ends_with(lock))) {
        for (number, line) in text.lines().enumerate() {
            if machine.folders.iter().any(|folder| names_folder(line, folder)) {
                let message = "the line has a path of this machine; say it relative to the repository";
                problems.push(Problem::new(path, number + 1, message));
            }
            if machine.hosts.iter().any(|host| line.contains(host)) {
                let message = "the line names a host that only this machine uses; say it without";
                problems.push(Problem::new(path, number + 1, message));
            }
        }
    }
    problems
}

/// Returns whether the folder stands in the line as the beginning of a path, not inside one.
fn names_folder(line: &str, folder: &str) -> bool {
    let is_beginning = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || "._-}*/".contains(c));
    line.match_indices(folder).any(|(start, _)| is_beginning(&line[..start]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_the_machine_are_found() {
        let machine = Machine { folders: vec!["/elsewhere/jo/".to_owned()], hosts: vec!["mirror.example".to_owned()] };
        let files = [
            ("a.md", "one\nsee /elsewhere/jo/timenav/a.md\n"),
            ("b.toml", "registry = \"https://mirror.example/index\"\n"),
            ("c.md", "/elsewhere/joanna/ and mirror.test and here/elsewhere/jo/a.md\n"),
            ("console/package-lock.json", "https://mirror.example/a.tgz\n"),
        ];
        let found: Vec<String> =
            check(&Tree::of(&files), &machine).iter().map(|p| format!("{}:{}", p.path, p.line)).collect();
        assert_eq!(found, ["a.md:2", "b.toml:1"]);
    }

    #[test]
    fn hosts_are_taken_from_urls_without_anything_secret() {
        for (url, expected) in [
            ("https://mirror.example/index", Some("mirror.example")),
            ("sparse+https://user:word@mirror.example:8443/x", Some("mirror.example")),
            ("https://registry.npmjs.org/", None),
            ("http://127.0.0.1:3128", None),
            ("http://[::1]:3128", None),
            ("no url", None),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }
}
