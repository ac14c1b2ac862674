use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::{Value, json};

use super::program::{LICENSES, PACKAGES, Program, SUMMARY};
use super::stage::Stage;

pub(super) fn pack(root: &Path, program: &Program, out: &Path) -> anyhow::Result<PathBuf> {
    let mut stage = Stage::new(out)?;
    stage.write("package/package.json", &format!("{:#}\n", manifest(program)?))?;
    stage.copy(&program.path, "package/bin/timenav")?;
    stage.copy(&root.join(PACKAGES).join("README.md"), "package/README.md")?;
    for license in LICENSES {
        stage.copy(&root.join(license), &format!("package/{license}"))?;
    }
    let archive = out.join(format!("timenav-server-{}.tgz", program.version));
    stage.tar("package", &archive)?;
    Ok(archive)
}

fn manifest(program: &Program) -> anyhow::Result<Value> {
    let cpu = match program.processor {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => bail!("npm has no name for the processor {other}"),
    };
    Ok(json!({
        "name": "timenav-server",
        "version": program.version,
        "description": SUMMARY,
        "license": "MIT OR Apache-2.0",
        "bin": { "timenav": "bin/timenav" },
        "os": ["linux"],
        "cpu": [cpu],
        "libc": ["glibc"],
        // Otherwise Yarn keeps the package zipped, and a program inside a zip file cannot run.
        "preferUnplugged": true,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;

    #[test]
    fn equal_files_produce_equal_npm_packages() {
        let packed = || {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("program");
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            let program = Program { path, version: "1.2.3".to_owned(), glibc: (2, 34), processor: "x86_64" };
            std::fs::read(pack(&process::repository_root().unwrap(), &program, folder.path()).unwrap()).unwrap()
        };
        assert_eq!(packed(), packed());
    }

    #[test]
    fn manifest_names_processor_as_npm_does() {
        let program =
            |processor| Program { path: PathBuf::new(), version: "1.2.3".to_owned(), glibc: (2, 34), processor };
        let manifest_of = |processor| manifest(&program(processor)).unwrap();
        assert_eq!(manifest_of("x86_64")["cpu"], json!(["x64"]));
        assert_eq!(manifest_of("aarch64")["cpu"], json!(["arm64"]));
        assert_eq!(manifest_of("x86_64")["bin"], json!({ "timenav": "bin/timenav" }));
        assert!(manifest(&program("riscv64")).is_err());
    }
}
