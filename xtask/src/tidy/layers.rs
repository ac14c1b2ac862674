//! Forbidden dependencies of crates, which keep the layers separate.

use super::Problem;
use super::tree::Tree;

/// A crate, the dependencies it must not have, separated by spaces, and the alternative.
const LAYERS: [(&str, &str, &str); 9] = [
    (
        "timenav-core",
        "timenav-* serde serde_json tokio futures-util async-trait axum http hyper rusqlite tokio-postgres \
         rand getrandom tracing aws-lc-rs",
        "core does no I/O: put wire types next to their handler, and row types next to their query",
    ),
    (
        "timenav-places",
        "timenav-engine timenav-store timenav-import timenav-http timenav serde serde_json tokio axum http \
         rusqlite reqwest tracing",
        "a gazetteer only reads its own tables, and does not know its callers",
    ),
    (
        "timenav-engine",
        "timenav-places timenav-store timenav-http timenav-import timenav axum http hyper tower tower-http \
         utoipa rusqlite tokio-postgres reqwest rand getrandom aws-lc-rs",
        "the engine knows neither SQL nor HTTP: add a trait, like `Store`",
    ),
    (
        "timenav-import",
        "timenav-engine timenav-store timenav-http timenav-places timenav tokio axum rusqlite",
        "importers turn bytes into drafts, and do not know their callers",
    ),
    (
        "timenav-store",
        "timenav-http timenav-import timenav-places timenav axum http hyper tower utoipa",
        "a store uses only the engine's types",
    ),
    (
        "timenav-vault",
        "timenav-store timenav-http timenav-import timenav tracing serde serde_json axum http rusqlite",
        "keys and plaintext pass through here: use nothing that could log or store them",
    ),
    (
        "timenav-exec",
        "timenav-engine timenav-store timenav-http timenav-import timenav-places timenav-vault timenav tokio \
         reqwest hyper axum serde serde_json",
        "the supervisor of programs is given a clock, and does not know its source",
    ),
    (
        "timenav-client",
        "timenav-* axum rusqlite tokio-postgres",
        "the client depends on the API only, and is packaged without the service",
    ),
    (
        "timenav-http",
        "timenav-store timenav-places timenav rusqlite tokio-postgres sqlx",
        "handlers call the engine, never a store",
    ),
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, forbidden, instead) in LAYERS {
        let manifest = format!("crates/{name}/Cargo.toml");
        let Some(text) = tree.text(&manifest) else { continue };
        for (line, dependency) in dependencies(text) {
            if forbidden.split(' ').any(|forbidden| is_match(forbidden, dependency)) {
                let message = format!("this crate must not depend on `{dependency}`; {instead}");
                problems.push(Problem::new(&manifest, line, message));
            }
        }
    }
    problems
}

fn is_match(forbidden: &str, dependency: &str) -> bool {
    forbidden.strip_suffix('*').map_or(forbidden == dependency, |start| dependency.starts_with(start))
}

/// Returns the normal dependencies of a manifest, with their lines. Supports only the TOML used in this repository:
/// tables, and one key per line.
fn dependencies(manifest: &str) -> Vec<(usize, &str)> {
    let mut inside = false;
    let mut found = Vec::new();
    for (number, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(table) = line.strip_prefix('[') {
            let table = table.split(']').next().unwrap_or_default().trim();
            inside = table == "dependencies" || (table.starts_with("target.") && table.ends_with(".dependencies"));
            if let Some(name) = table.strip_prefix("dependencies.") {
                found.push((number + 1, name.trim_matches('"')));
            }
            continue;
        }
        let key = line.split(['=', '.']).next().unwrap_or_default().trim().trim_matches('"');
        if inside && !key.is_empty() && !key.starts_with('#') {
            found.push((number + 1, renamed(line).unwrap_or(key)));
        }
    }
    found
}

/// Returns the real name of a renamed dependency.
fn renamed(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("package")?;
    after.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::{check, dependencies};

    const CORE: &str = "crates/timenav-core/Cargo.toml";

    #[test]
    fn forbidden_layer_dependency_is_found() {
        let manifest = "[package]\nname = \"timenav-core\"\n\n[dependencies]\njiff.workspace = true\nserde.workspace = true\n\n\
                        [dev-dependencies]\nserde_json.workspace = true\n";
        assert_found(check, &[(CORE, manifest)], &[&format!("{CORE}:6")]);
        assert_found(check, &[("crates/other/Cargo.toml", manifest)], &[]);
        let ours = "[dependencies]\ntimenav-engine.workspace = true\n";
        assert_found(check, &[(CORE, ours)], &[&format!("{CORE}:2")]);
        assert_found(check, &[("crates/timenav-http/Cargo.toml", ours)], &[]);
    }

    #[test]
    fn every_dependency_notation_is_read() {
        let manifest = "[dependencies]\na = \"1\"\nb.workspace = true\nc = { version = \"1\" } # why\nd = { package = \"e\" }\n\
                        [dependencies.f]\nversion = \"1\"\n[target.'cfg(unix)'.dependencies]\ng = \"1\"\n\
                        [build-dependencies]\nh = \"1\"\n[features]\ni = []\n";
        assert_eq!(dependencies(manifest), [(2, "a"), (3, "b"), (4, "c"), (5, "e"), (6, "f"), (9, "g")]);
    }
}
