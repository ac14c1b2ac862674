//! Required tools, and the ones that are fetched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::step::Step;
use crate::{node, process};

/// Prebuilt Cargo subcommands from the Python Package Index.
const CARGO_TOOLS_REQUIREMENTS: &str = "xtask/requirements.txt";
pub(crate) const SCHEMATHESIS_REQUIREMENTS: &str = "fuzz/api/requirements.txt";
const ASK_TIME_MAX: Duration = Duration::from_mins(1);

const INSTALL_TIME_MAX: Duration = Duration::from_mins(5);

/// A program that the steps need and that must be installed by the user.
struct Tool {
    program: &'static str,
    arguments: &'static [&'static str],
    needed_by: fn(Step) -> bool,
    /// Error text that says what is missing, and how to get it.
    missing: &'static str,
}

const TOOLS: [Tool; 4] = [
    Tool {
        program: "git",
        arguments: &["--version"],
        needed_by: |step| step == Step::Tidy,
        missing: "git is missing; install it, for example with `apt-get install git`",
    },
    Tool {
        program: "cc",
        arguments: &["--version"],
        needed_by: |step| matches!(step, Step::Build | Step::Test | Step::Doc),
        missing: "a C compiler is missing; install one, for example with `apt-get install gcc libc6-dev`",
    },
    Tool {
        program: "cargo",
        arguments: &["fmt", "--version"],
        needed_by: |step| step == Step::Fmt,
        missing: "rustfmt is missing; install it with `rustup component add rustfmt`",
    },
    Tool {
        program: "cargo",
        arguments: &["clippy", "--version"],
        needed_by: |step| matches!(step, Step::Build | Step::Test),
        missing: "clippy is missing; install it with `rustup component add clippy`",
    },
];

pub(crate) fn require(steps: &[Step]) -> anyhow::Result<()> {
    for tool in TOOLS.iter().filter(|tool| steps.iter().any(|step| (tool.needed_by)(*step))) {
        if !process::succeeds(Command::new(tool.program).args(tool.arguments), ASK_TIME_MAX) {
            bail!(tool.missing);
        }
    }
    if steps.contains(&Step::Console) || steps.contains(&Step::Clients) {
        node::require()?;
    }
    Ok(())
}

/// Returns the path of a Cargo subcommand: the installed one, or one fetched now.
pub(crate) fn cargo_tool(root: &Path, name: &str) -> anyhow::Result<PathBuf> {
    if process::succeeds(Command::new(name).arg("--version"), ASK_TIME_MAX) {
        return Ok(name.into());
    }
    let folder = python_packages(root, "cargo-tools", &root.join(CARGO_TOOLS_REQUIREMENTS), name)
        .with_context(|| format!("{name} is missing: install it, for example with `cargo install {name}`"))?;
    Ok(folder.join("bin").join(name))
}

/// Returns the path of Chromium. If it is missing, tries to install Debian's package. The headless shell is preferred,
/// because it has no window system and takes a third of the processor time per page.
pub(crate) fn chromium() -> anyhow::Result<PathBuf> {
    let named = std::env::var_os("CHROMIUM_BIN").map(PathBuf::from);
    let usual = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
        .map(|name| Path::new("/usr/bin").join(name));
    let found = || named.iter().chain(&usual).find(|path| path.exists()).cloned();
    if let Some(path) = found() {
        return Ok(path);
    }
    println!("Chromium is missing; Debian's package is installed now");
    update_package_lists();
    let _ = ["chromium-headless-shell", "chromium"].into_iter().any(install_package);
    found().context(
        "Chromium is missing; install it, for example with `apt-get install chromium-headless-shell`, or name it in \
         CHROMIUM_BIN",
    )
}

/// A fresh machine has no package lists yet.
fn update_package_lists() {
    process::succeeds(Command::new("apt-get").args(["update", "--quiet"]), INSTALL_TIME_MAX);
}

/// Installs a Debian package if permissions allow it. Existing packages are not removed.
fn install_package(package: &str) -> bool {
    let install = ["install", "--yes", "--quiet", "--no-install-recommends", "--no-remove", package];
    let mut command = Command::new("apt-get");
    process::succeeds(command.args(install).env("DEBIAN_FRONTEND", "noninteractive"), INSTALL_TIME_MAX)
}

/// Makes sure that PostgreSQL is installed, from Debian's package if necessary. The tests start their own server.
pub(crate) fn postgres() -> anyhow::Result<()> {
    let is_there = || {
        let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        std::env::var_os("PG_BIN").is_some()
            || debian.into_iter().any(|version| version.path().join("bin/initdb").exists())
            || process::succeeds(Command::new("pg_ctl").arg("--version"), ASK_TIME_MAX)
    };
    if is_there() {
        return Ok(());
    }
    println!("PostgreSQL is missing; Debian's package is installed now");
    update_package_lists();
    install_package("postgresql");
    if !is_there() {
        bail!(
            "PostgreSQL is missing; install it, for example with `apt-get install postgresql`, or name the folder of its \
             programs in PG_BIN"
        );
    }
    Ok(())
}

/// An optional program and its package. Tests that need it are skipped if it is missing.
type Tried = (&'static str, &'static str);

/// Debian packages of these programs. Java compilers are not included, because they are as large as all others
/// together. Go takes half a gigabyte and 15 seconds. gccgo is smaller, but its programs read the clock through the C
/// library, while those of Go bypass it.
const TRIED: [Tried; 8] = [
    ("/usr/bin/bwrap", "bubblewrap"),
    ("/usr/bin/gdb", "gdb"),
    ("/usr/bin/go", "golang-go"),
    ("/usr/bin/musl-gcc", "musl-tools"),
    ("/usr/bin/ntpdig", "ntpsec-ntpdig"),
    ("/usr/bin/sqlite3", "sqlite3"),
    ("/usr/bin/strace", "strace"),
    (CHRONY, "chrony"),
];
/// Schedulers and caches. Debian starts the daemons among them, unless a policy forbids that. Larger ones are not
/// included, such as Ruby, Java, etcd and npm packages: their rows of the table are kept.
const SCHEDULERS: [Tried; 8] = [
    ("/usr/sbin/cron", "cron"),
    ("/usr/sbin/anacron", "anacron"),
    ("/usr/sbin/atd", "at"),
    ("/usr/bin/redis-server", "redis-server"),
    ("/usr/bin/memcached", "memcached"),
    ("/usr/sbin/nginx", "nginx-light"),
    ("/usr/lib/python3/dist-packages/celery", "python3-celery"),
    ("/usr/lib/python3/dist-packages/apscheduler", "python3-apscheduler"),
];
/// Decides whether the installation of a package may start its daemon.
const POLICY: &str = "/usr/sbin/policy-rc.d";
const CHRONY: &str = "/usr/sbin/chronyd";
/// Debian's package database. Users who can write to it can install packages.
const DPKG_STATUS: &str = "/var/lib/dpkg/status";
/// The folder in `target/tools` that it is unpacked into. Tests expect it there.
const CHRONY_FOLDER: &str = "chrony";

/// Installs Debian packages of optional programs if permissions allow it, and prints which tests are skipped.
pub(crate) fn programs_to_try(root: &Path) {
    let chrony = root.join("target/tools").join(CHRONY_FOLDER);
    let is_missing = |(path, _): &&Tried| {
        let unpacked = (*path == CHRONY).then(|| chrony.join(CHRONY.trim_start_matches('/')));
        !Path::new(path).exists() && !unpacked.is_some_and(|path| path.exists())
    };
    let schedulers = if Path::new(POLICY).exists() { &SCHEDULERS[..] } else { &[] };
    let find_missing =
        || -> Vec<&str> { TRIED.iter().chain(schedulers).filter(is_missing).map(|(_, package)| *package).collect() };
    let missing = find_missing();
    if missing.is_empty() {
        return;
    }
    // Other users cannot install anything and should not wait for package lists.
    if fs::OpenOptions::new().append(true).open(DPKG_STATUS).is_ok() {
        println!("Programs that tests try are missing; Debian's packages are installed now: {}", missing.join(", "));
        update_package_lists();
        // One by one, so that a missing package does not prevent others.
        for package in missing.iter().filter(|package| **package != "chrony") {
            install_package(package);
        }
        if missing.contains(&"chrony") {
            unpack_chrony(&chrony);
        }
    }
    let missing = find_missing();
    if !missing.is_empty() {
        println!("tests are skipped for lack of {}: install Debian's packages of these names", missing.join(", "));
    }
}

/// Unpacks Debian's package into a folder. Installing it would replace and start the machine's time service.
fn unpack_chrony(folder: &Path) {
    if fs::create_dir_all(folder).is_err() {
        return;
    }
    let mut download = Command::new("apt-get");
    process::succeeds(download.args(["download", "--quiet", "chrony"]).current_dir(folder), INSTALL_TIME_MAX);
    for file in fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()) {
        if file.extension().is_some_and(|extension| extension == "deb") {
            process::succeeds(Command::new("dpkg").arg("-x").arg(&file).arg(folder), INSTALL_TIME_MAX);
            let _ = fs::remove_file(file);
        }
    }
}

/// Returns the prefix of a command with the nightly toolchain. The program to run must still be added.
pub(crate) fn nightly() -> Command {
    let mut command = Command::new("rustup");
    // Cargo sets these variables to its own toolchain.
    command.env_remove("CARGO").env_remove("RUSTC").args(["run", "nightly"]);
    command
}

pub(crate) fn require_nightly() -> anyhow::Result<()> {
    if !process::succeeds(nightly().args(["cargo", "--version"]), ASK_TIME_MAX) {
        bail!("fuzzing needs the nightly toolchain; install it with `rustup toolchain install nightly`");
    }
    Ok(())
}

pub(crate) fn schemathesis(root: &Path) -> anyhow::Result<PathBuf> {
    of_python(root, "schemathesis", SCHEMATHESIS_REQUIREMENTS)
}

/// Returns the path of a Python program, installed from pinned versions.
pub(crate) fn of_python(root: &Path, name: &str, requirements: &str) -> anyhow::Result<PathBuf> {
    Ok(python_packages(root, name, &root.join(requirements), name)?.join("bin").join(name))
}

/// Returns a folder of Python packages, installed from pinned versions. `program` is one of them and must run.
pub(crate) fn python_packages(root: &Path, name: &str, requirements: &Path, program: &str) -> anyhow::Result<PathBuf> {
    let folder = root.join("target/tools").join(name);
    let text =
        fs::read_to_string(requirements).with_context(|| format!("{} cannot be read", requirements.display()))?;
    // Written last, so that an interrupted installation is repeated.
    let installed = folder.join("requirements.txt");
    let is_there = fs::read_to_string(&installed).is_ok_and(|there| there == text);
    if is_there && process::succeeds(Command::new(folder.join("bin").join(program)).arg("--version"), ASK_TIME_MAX) {
        return Ok(folder);
    }
    println!("{name} is installed now, once, into {}", folder.display());
    let _ = fs::remove_dir_all(&folder);
    make_venv(&folder)?;
    let mut install = Command::new(folder.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    process::run(install.arg(requirements)).with_context(|| format!("{name} cannot be installed"))?;
    fs::write(&installed, text).with_context(|| format!("{} cannot be written", installed.display()))?;
    Ok(folder)
}

/// Creates a Python virtual environment. If that fails, tries to install Debian's package first.
pub(crate) fn make_venv(folder: &Path) -> anyhow::Result<()> {
    let is_made = || process::succeeds(Command::new("python3").args(["-m", "venv"]).arg(folder), INSTALL_TIME_MAX);
    if !(is_made() || (install_package("python3-venv") && is_made())) {
        bail!("Python 3.10 or later with venv is missing; install it, for example with `apt-get install python3-venv`");
    }
    Ok(())
}
