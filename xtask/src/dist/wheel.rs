use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, ZipArchiveWriter};

use super::program::{LICENSES, PACKAGES, Program, SUMMARY};
use super::stage::Stage;

/// Python modules of the package, in [`PACKAGES`].
const MODULES: [&str; 2] = ["timenav_server/__init__.py", "timenav_server/__main__.py"];
/// 1 January 1980, the first date of the ZIP format, in seconds since 1970.
const ZIP_EPOCH: i64 = 315_532_800;
/// File type bits of a regular file. Without them, `pip` ignores the executable bit.
const REGULAR_FILE: u32 = 0o100_000;

pub(super) fn pack(root: &Path, program: &Program, out: &Path) -> anyhow::Result<PathBuf> {
    let (name, tag) = (format!("timenav_server-{}", program.version), tag(program));
    let info = format!("{name}.dist-info");
    let packages = root.join(PACKAGES);
    let readme = fs::read_to_string(packages.join("README.md")).context("the text of the package cannot be read")?;
    let mut stage = Stage::new(out)?;
    for module in MODULES {
        stage.copy(&packages.join(module), module)?;
    }
    stage.copy(&program.path, &format!("{name}.data/scripts/timenav"))?;
    for license in LICENSES {
        stage.copy(&root.join(license), &format!("{info}/licenses/{license}"))?;
    }
    stage.write(&format!("{info}/METADATA"), &metadata(&program.version, &readme))?;
    stage.write(
        &format!("{info}/WHEEL"),
        &format!("Wheel-Version: 1.0\nGenerator: timenav xtask\nRoot-Is-Purelib: false\nTag: {tag}\n"),
    )?;
    let record = format!("{info}/RECORD");
    let lines = record_of(&stage, &record)?;
    stage.write(&record, &lines)?;
    let wheel = out.join(format!("{name}-{tag}.whl"));
    zip(&stage, &wheel).context("the wheel cannot be written")?;
    Ok(wheel)
}

/// Returns the tag according to PEP 425 and PEP 600: any Python 3, on machines with a glibc that can run the program.
fn tag(program: &Program) -> String {
    let (major, minor) = program.glibc;
    format!("py3-none-manylinux_{major}_{minor}_{}", program.processor)
}

fn metadata(version: &str, readme: &str) -> String {
    let licenses: String = LICENSES.map(|license| format!("License-File: {license}\n")).concat();
    format!(
        "Metadata-Version: 2.4\n\
         Name: timenav-server\n\
         Version: {version}\n\
         Summary: {SUMMARY}\n\
         License-Expression: MIT OR Apache-2.0\n\
         {licenses}\
         Classifier: Operating System :: POSIX :: Linux\n\
         Classifier: Programming Language :: Rust\n\
         Classifier: Topic :: Software Development :: Testing\n\
         Requires-Python: >=3.10\n\
         Description-Content-Type: text/markdown\n\
         \n\
         {readme}"
    )
}

/// Returns the `RECORD` list of all files with checksum and length. Its own line has neither.
fn record_of(stage: &Stage, record: &str) -> anyhow::Result<String> {
    let lines = stage.sums()?.into_iter().map(|(name, sum, length)| {
        let sum = base64url(&bytes_of(&sum)?);
        Ok(format!("{name},sha256={sum},{length}\n"))
    });
    let lines: String = lines.collect::<anyhow::Result<_>>()?;
    Ok(lines + record + ",,\n")
}

fn bytes_of(digits: &str) -> anyhow::Result<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?));
    pairs.collect()
}

/// Encodes bytes as base64url without padding (RFC 4648, section 5).
fn base64url(bytes: &[u8]) -> String {
    const ALPHABET: [u8; 64] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().zip([16, 8, 0]).fold(0, |bits, (byte, shift)| bits | u32::from(*byte) << shift);
        let digits = [18, 12, 6, 0].map(|shift| ALPHABET[(bits >> shift & 63) as usize]);
        text.extend(digits[..=chunk.len()].iter().map(|digit| char::from(*digit)));
    }
    text
}

/// Compresses the files of a stage. The output depends only on the files, because `flate2` is pinned by the lock file.
fn zip(stage: &Stage, path: &Path) -> anyhow::Result<()> {
    let mut archive = ZipArchiveWriter::new(BufWriter::new(File::create(path)?));
    for (name, path) in stage.files() {
        let is_executable = fs::metadata(&path)?.permissions().mode() & 0o100 != 0;
        let mode = REGULAR_FILE | if is_executable { 0o755 } else { 0o644 };
        let file = archive.new_file(name).compression_method(CompressionMethod::DEFLATE);
        let file = file.last_modified(UtcDateTime::from_unix(ZIP_EPOCH)).unix_permissions(mode);
        let (mut entry, config) = file.start()?;
        let mut data = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
        data.write_all(&fs::read(&path)?)?;
        let (encoder, descriptor) = data.finish()?;
        encoder.finish()?;
        entry.finish(descriptor)?;
    }
    archive.finish()?.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::DeflateDecoder;
    use rawzip::ZipArchive;

    use super::*;
    use crate::process;

    /// Returns name and bytes of a wheel whose program is a script.
    fn packed() -> (String, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let program = Program { path, version: "1.2.3".to_owned(), glibc: (2, 34), processor: "x86_64" };
        let wheel = pack(&process::repository_root().unwrap(), &program, folder.path()).unwrap();
        (wheel.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(wheel).unwrap())
    }

    fn files_in(wheel: &[u8]) -> Vec<(String, u32, String)> {
        let archive = ZipArchive::from_slice(wheel).unwrap();
        let (mut entries, mut files) = (archive.entries(), Vec::new());
        while let Some(entry) = entries.next_entry().unwrap() {
            let name = entry.file_path().try_normalize().unwrap().as_ref().to_owned();
            let local = archive.get_entry(entry.wayfinder()).unwrap();
            let mut text = String::new();
            local.verifying_reader(DeflateDecoder::new(local.data())).read_to_string(&mut text).unwrap();
            files.push((name, entry.mode().value(), text));
        }
        files
    }

    #[test]
    fn equal_files_produce_equal_wheels() {
        assert_eq!(packed(), packed());
    }

    #[test]
    fn wheel_contains_program_and_record() {
        let (name, wheel) = packed();
        assert_eq!(name, "timenav_server-1.2.3-py3-none-manylinux_2_34_x86_64.whl");
        let files = files_in(&wheel);
        let program = ("timenav_server-1.2.3.data/scripts/timenav".to_owned(), 0o100_755, "#!/bin/sh\n".to_owned());
        assert_eq!(files[2], program);
        assert!(files.iter().enumerate().all(|(index, file)| index == 2 || file.1 == 0o100_644));
        let (last, _, record) = files.last().unwrap();
        assert_eq!(last, "timenav_server-1.2.3.dist-info/RECORD");
        let recorded: Vec<&str> = record.lines().filter_map(|line| line.split(',').next()).collect();
        assert_eq!(recorded, files.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>());
        // Checksum of these ten bytes according to `sha256sum` and `base64`.
        let line = "timenav_server-1.2.3.data/scripts/timenav,sha256=qAdtPSjSHgIBKyDq99v3VAmmJ3E0Q5Al8oLjaOMwWr8,10";
        assert_eq!(record.lines().nth(2), Some(line));
        let metadata = &files.iter().find(|(name, ..)| name.ends_with("METADATA")).unwrap().2;
        assert!(metadata.starts_with("Metadata-Version: 2.4\nName: timenav-server\nVersion: 1.2.3\n"), "{metadata}");
    }

    #[test]
    fn base64url_has_no_padding() {
        // From RFC 4648, section 10, plus two digits that differ from plain base64.
        for (bytes, expected) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64url(bytes.as_bytes()), expected);
        }
        assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
    }
}
