//! The C library requirements of a program.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::process;

/// Libraries that PEP 600 allows a `manylinux` wheel to expect, as far as Rust links them.
const LIBRARIES: [&str; 8] = [
    "ld-linux-aarch64.so.1",
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
];

/// Returns the oldest glibc version that can run a program. Fails if the program needs other libraries.
pub(super) fn required_version(program: &Path) -> anyhow::Result<(u32, u32)> {
    let mut readelf = Command::new("readelf");
    readelf.args(["--wide", "--dynamic", "--version-info"]).arg(program).env("LC_ALL", "C");
    version_in(&String::from_utf8(process::output(&mut readelf)?)?)
        .with_context(|| format!("{} cannot be packed", program.display()))
}

/// Parses the output of `readelf --dynamic --version-info`.
fn version_in(listed: &str) -> anyhow::Result<(u32, u32)> {
    let libraries = listed.lines().filter_map(|line| line.split_once("Shared library: [")?.1.strip_suffix(']'));
    if let Some(other) = libraries.into_iter().find(|library| !LIBRARIES.contains(library)) {
        bail!("the program needs {other}, which not every machine has");
    }
    let symbols = listed.lines().filter_map(|line| line.split_once("Name: GLIBC_"));
    let names = symbols.filter_map(|(_, rest)| rest.split_whitespace().next());
    let versions: Vec<(u32, u32)> = names.map(parse).collect::<anyhow::Result<_>>()?;
    versions.into_iter().max().context("the program is not linked to glibc")
}

/// Parses `2.34`, or `2.2.5` without its last number.
fn parse(name: &str) -> anyhow::Result<(u32, u32)> {
    let mut numbers = name.split('.').map_while(|number| number.parse().ok());
    numbers.next().zip(numbers.next()).with_context(|| format!("GLIBC_{name} belongs to no version of glibc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "
 0x0000000000000001 (NEEDED)             Shared library: [libgcc_s.so.1]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
  0x0010: Version: 1  File: libgcc_s.so.1  Cnt: 1
  0x0020:   Name: GCC_3.0  Flags: none  Version: 9
  0x0030: Version: 1  File: libc.so.6  Cnt: 3
  0x0040:   Name: GLIBC_2.2.5  Flags: none  Version: 5
  0x0050:   Name: GLIBC_2.34  Flags: none  Version: 3
  0x0060:   Name: GLIBC_2.9  Flags: none  Version: 2
";

    #[test]
    fn newest_symbol_version_is_required() {
        assert_eq!(version_in(LISTED).unwrap(), (2, 34));
    }

    #[test]
    fn other_library_is_rejected() {
        let error = version_in(&LISTED.replace("libgcc_s.so.1]", "libssl.so.3]")).unwrap_err();
        assert_eq!(error.to_string(), "the program needs libssl.so.3, which not every machine has");
    }

    #[test]
    fn unknown_symbol_version_is_rejected() {
        let error = version_in(&LISTED.replace("GLIBC_2.9", "GLIBC_ABI_DT_RELR")).unwrap_err();
        assert_eq!(error.to_string(), "GLIBC_ABI_DT_RELR belongs to no version of glibc");
        assert_eq!(version_in("").unwrap_err().to_string(), "the program is not linked to glibc");
    }
}
