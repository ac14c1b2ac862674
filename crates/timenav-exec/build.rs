//! Compiles the image: a small ELF file with the names of the kernel's vDSO, which programs on a virtual clock call.

use std::path::Path;
use std::process::Command;

/// What makes a file that can be mapped anywhere as it is, with nothing to relocate and nothing to link.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-shared",
    "-nostdlib",
    "-ffreestanding",
    "-fno-stack-protector",
    "-fno-builtin",
    "-fvisibility=default",
    "-fcf-protection=branch",
    "-mno-red-zone",
    "-mgeneral-regs-only",
    "-fasynchronous-unwind-tables",
    "-Wall",
    "-Werror",
    "-Wl,--hash-style=both",
    "-Wl,-soname=linux-vdso.so.1",
    "-Wl,-Bsymbolic",
    "-Wl,-z,max-page-size=4096",
    "-Wl,-z,noexecstack",
    "-Wl,--build-id=none",
    "-Wl,--eh-frame-hdr",
];

#[expect(clippy::disallowed_methods, reason = "a build script is told everything by its environment")]
fn main() {
    println!("cargo:rerun-if-changed=image");
    let told = |name: &str| std::env::var(name).unwrap_or_default();
    if told("CARGO_CFG_TARGET_OS") != "linux" || told("CARGO_CFG_TARGET_ARCH") != "x86_64" {
        return;
    }
    let image = Path::new(&told("OUT_DIR")).join("image.so");
    // Only the compiler is asked for, not the flags of this build: the image is the same in each profile.
    let compiler = cc::Build::new().get_compiler();
    let mut command = Command::new(compiler.path());
    command.args(FLAGS).args(["-Wl,-T,image/image.ld", "-o"]).arg(&image).arg("image/image.c");
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?}: {status}"),
        Err(error) => panic!("{command:?}: {error}; a C compiler is needed, such as gcc"),
    }
}
