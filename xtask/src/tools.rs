//! What a machine has to have, and what is fetched for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::step::Step;
use crate::{node, process};

/// Cargo subcommands, prebuilt, from the index of Python packages.
const CARGO_TOOLS_REQUIREMENTS: &str = "xtask/requirements.txt";
/// What Schemathesis and everything below it is installed from.
pub(crate) const SCHEMATHESIS_REQUIREMENTS: &str = "fuzz/api/requirements.txt";
/// Longest time that a question about a tool may take.
const ASK_TIME_MAX: Duration = Duration::from_mins(1);

/// Longest time that the installation of a package may take.
const INSTALL_TIME_MAX: Duration = Duration::from_mins(5);

/// A program that the steps need and that nothing here can install.
struct Tool {
    program: &'static str,
    arguments: &'static [&'static str],
    needed_by: fn(Step) -> bool,
    /// What is missing, and how to get it.
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

/// Checks that everything the steps need is there.
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

/// Returns the path of a subcommand of Cargo: the machine's own, or one that is fetched now.
pub(crate) fn cargo_tool(root: &Path, name: &str) -> anyhow::Result<PathBuf> {
    if process::succeeds(Command::new(name).arg("--version"), ASK_TIME_MAX) {
        return Ok(name.into());
    }
    let folder = python_packages(root, "cargo-tools", &root.join(CARGO_TOOLS_REQUIREMENTS), name)
        .with_context(|| format!("{name} is missing: install it, for example with `cargo install {name}`"))?;
    Ok(folder.join("bin").join(name))
}

/// Returns the path of Chromium, with a package of Debian where it is missing and may be installed. The headless shell
/// comes first: it has no window system, and a page takes a third of the processor time.
pub(crate) fn chromium() -> anyhow::Result<PathBuf> {
    let named = std::env::var_os("CHROMIUM_BIN").map(PathBuf::from);
    let usual = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
        .map(|name| Path::new("/usr/bin").join(name));
    let found = || named.iter().chain(&usual).find(|path| path.exists()).cloned();
    if let Some(path) = found() {
        return Ok(path);
    }
    println!("Chromium is missing; Debian's package is installed now");
    // A machine that was never used has no list of packages yet.
    process::succeeds(Command::new("apt-get").args(["update", "--quiet"]), INSTALL_TIME_MAX);
    for package in ["chromium-headless-shell", "chromium"] {
        let install = ["install", "--yes", "--quiet", "--no-install-recommends", package];
        if process::succeeds(Command::new("apt-get").args(install), INSTALL_TIME_MAX) {
            break;
        }
    }
    found().context(
        "Chromium is missing; install it, for example with `apt-get install chromium-headless-shell`, or name it in \
         CHROMIUM_BIN",
    )
}

/// Sees to it that there is a PostgreSQL, with Debian's package for that where it is missing and may be installed. The tests
/// start one of their own from its programs.
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
    let install = ["install", "--yes", "--quiet", "--no-install-recommends", "postgresql"];
    process::succeeds(Command::new("apt-get").args(["update", "--quiet"]), INSTALL_TIME_MAX);
    process::succeeds(Command::new("apt-get").args(install), INSTALL_TIME_MAX);
    if !is_there() {
        bail!(
            "PostgreSQL is missing; install it, for example with `apt-get install postgresql`, or name the folder of its \
             programs in PG_BIN"
        );
    }
    Ok(())
}

/// A program that tests run where it is installed, and are without where it is not.
struct Tried {
    path: &'static str,
    package: &'static str,
}

/// What Debian has of them, but for compilers of Java, which are as large as all others together. Go takes half a gigabyte
/// and a quarter of a minute; gccgo is smaller, and its programs ask for the time by the C library, where those of Go have
/// a way of their own.
const TRIED: [Tried; 8] = [
    Tried { path: "/usr/bin/bwrap", package: "bubblewrap" },
    Tried { path: "/usr/bin/gdb", package: "gdb" },
    Tried { path: "/usr/bin/go", package: "golang-go" },
    Tried { path: "/usr/bin/musl-gcc", package: "musl-tools" },
    Tried { path: "/usr/bin/ntpdig", package: "ntpsec-ntpdig" },
    Tried { path: "/usr/bin/sqlite3", package: "sqlite3" },
    Tried { path: "/usr/bin/strace", package: "strace" },
    Tried { path: CHRONY, package: "chrony" },
];
const CHRONY: &str = "/usr/sbin/chronyd";
/// What Debian knows of its packages. Whoever may write to it may install some.
const DPKG_STATUS: &str = "/var/lib/dpkg/status";
/// Where it is unpacked, from `target/tools` on. The tests look there.
const CHRONY_FOLDER: &str = "chrony";

/// Installs Debian's packages of programs that tests are without otherwise, where that may be done, and says which tests
/// are skipped. None of them is required.
pub(crate) fn programs_to_try(root: &Path) {
    let chrony = root.join("target/tools").join(CHRONY_FOLDER);
    let is_missing = |tried: &&Tried| {
        let unpacked = (tried.path == CHRONY).then(|| chrony.join(CHRONY.trim_start_matches('/')));
        !Path::new(tried.path).exists() && !unpacked.is_some_and(|path| path.exists())
    };
    let missing: Vec<&str> = TRIED.iter().filter(is_missing).map(|tried| tried.package).collect();
    if missing.is_empty() {
        return;
    }
    // Whoever is somebody else cannot install anything, and is not made to wait for the lists.
    if fs::OpenOptions::new().append(true).open(DPKG_STATUS).is_ok() {
        println!("Programs that tests try are missing; Debian's packages are installed now: {}", missing.join(", "));
        process::succeeds(Command::new("apt-get").args(["update", "--quiet"]), INSTALL_TIME_MAX);
        // One that cannot be had keeps no other from being installed, and none takes the place of what is there.
        let how = ["install", "--yes", "--quiet", "--no-install-recommends", "--no-remove"];
        for package in missing.iter().filter(|package| **package != "chrony") {
            let mut install = Command::new("apt-get");
            install.args(how).arg(package).env("DEBIAN_FRONTEND", "noninteractive");
            process::succeeds(&mut install, INSTALL_TIME_MAX);
        }
        if missing.contains(&"chrony") {
            unpack_chrony(&chrony);
        }
    }
    let missing: Vec<&str> = TRIED.iter().filter(is_missing).map(|tried| tried.package).collect();
    if !missing.is_empty() {
        println!("tests are skipped for lack of {}: install Debian's packages of these names", missing.join(", "));
    }
}

/// Unpacks Debian's package into a folder. To install it would take the place of whatever sets the machine's clock, and
/// start it.
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

/// Returns the beginning of a call under the nightly toolchain: what to call is still missing.
pub(crate) fn nightly() -> Command {
    let mut command = Command::new("rustup");
    // Cargo names itself and its compiler to what it runs, and those are of another toolchain.
    command.env_remove("CARGO").env_remove("RUSTC").args(["run", "nightly"]);
    command
}

/// Checks that there is a nightly toolchain.
pub(crate) fn require_nightly() -> anyhow::Result<()> {
    if !process::succeeds(nightly().args(["cargo", "--version"]), ASK_TIME_MAX) {
        bail!("fuzzing needs the nightly toolchain; install it with `rustup toolchain install nightly`");
    }
    Ok(())
}

/// Returns the path of Schemathesis, installed from the versions that are committed.
pub(crate) fn schemathesis(root: &Path) -> anyhow::Result<PathBuf> {
    of_python(root, "schemathesis", SCHEMATHESIS_REQUIREMENTS)
}

/// Returns the path of a program of Python, installed from the versions that are committed.
pub(crate) fn of_python(root: &Path, name: &str, requirements: &str) -> anyhow::Result<PathBuf> {
    Ok(python_packages(root, name, &root.join(requirements), name)?.join("bin").join(name))
}

/// Returns a folder of Python packages, installed from the versions that are committed. `program` is one of them, which
/// has to run.
pub(crate) fn python_packages(root: &Path, name: &str, requirements: &Path, program: &str) -> anyhow::Result<PathBuf> {
    let folder = root.join("target/tools").join(name);
    let wanted =
        fs::read_to_string(requirements).with_context(|| format!("{} cannot be read", requirements.display()))?;
    // Written last, so that what broke off is begun anew.
    let installed = folder.join("requirements.txt");
    let is_there = fs::read_to_string(&installed).is_ok_and(|there| there == wanted);
    if is_there && process::succeeds(Command::new(folder.join("bin").join(program)).arg("--version"), ASK_TIME_MAX) {
        return Ok(folder);
    }
    println!("{name} is installed now, once, into {}", folder.display());
    let _ = fs::remove_dir_all(&folder);
    make_venv(&folder)?;
    let mut install = Command::new(folder.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    process::run(install.arg(requirements)).with_context(|| format!("{name} cannot be installed"))?;
    fs::write(&installed, wanted).with_context(|| format!("{} cannot be written", installed.display()))?;
    Ok(folder)
}

/// Makes a folder of Python packages, with Debian's package for that where it is missing and may be installed.
pub(crate) fn make_venv(folder: &Path) -> anyhow::Result<()> {
    let is_made = || process::succeeds(Command::new("python3").args(["-m", "venv"]).arg(folder), INSTALL_TIME_MAX);
    let install = ["install", "--yes", "--quiet", "python3-venv"];
    let can_be_made = || process::succeeds(Command::new("apt-get").args(install), INSTALL_TIME_MAX) && is_made();
    if !(is_made() || can_be_made()) {
        bail!("Python 3.10 or later with venv is missing; install it, for example with `apt-get install python3-venv`");
    }
    Ok(())
}
