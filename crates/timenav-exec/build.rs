//! Compiles what programs on a virtual clock call: the image, a small ELF file with the names of the kernel's vDSO, and
//! the library, which has those of a C library.

use std::path::Path;
use std::process::Command;

/// What both are made with. Nothing of a C library is linked to them.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-shared",
    "-nostdlib",
    "-ffreestanding",
    "-fno-stack-protector",
    "-fno-builtin",
    "-fcf-protection=branch",
    "-fasynchronous-unwind-tables",
    "-Wall",
    "-Werror",
    "-Wl,--hash-style=both",
    "-Wl,-Bsymbolic",
    "-Wl,-z,max-page-size=4096",
    "-Wl,-z,noexecstack",
    "-Wl,--build-id=none",
];
/// What makes a file that can be mapped anywhere as it is, with nothing to relocate and nothing to link.
const FLAGS_OF_IMAGE: &[&str] = &[
    "-fvisibility=default",
    "-mno-red-zone",
    "-mgeneral-regs-only",
    "-Wl,-soname=linux-vdso.so.1",
    "-Wl,--eh-frame-hdr",
    "-Wl,-T,image/image.ld",
    "image/image.c",
];
/// What makes a library that needs no other, and whose functions stand before those of the same name.
const FLAGS_OF_LIBRARY: &[&str] = &[
    "-fvisibility=hidden",
    "-Wextra",
    "-Wl,-soname=libtimenav.so",
    "-Wl,-z,now",
    "-Wl,-z,relro",
    "-Wl,-z,noseparate-code",
    "-Wl,-s",
    "preload/clocks.c",
    "preload/lookup.c",
    "preload/notes.c",
    "preload/plain.c",
    "preload/programs.c",
    "preload/reach.c",
    "preload/start.c",
    "preload/tell.c",
    "preload/timerfd.c",
    "preload/waits.c",
];

#[expect(clippy::disallowed_methods, reason = "a build script is told everything by its environment")]
fn main() {
    println!("cargo:rerun-if-changed=image");
    println!("cargo:rerun-if-changed=preload");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") != "linux" || variable("CARGO_CFG_TARGET_ARCH") != "x86_64" {
        return;
    }
    // Only the compiler is asked for, not the flags of this build: what it makes is the same in each profile.
    let compiler = cc::Build::new().get_compiler();
    for (name, flags) in [("image.so", FLAGS_OF_IMAGE), ("library.so", FLAGS_OF_LIBRARY)] {
        let mut command = Command::new(compiler.path());
        if !compiler.is_like_clang() {
            // It would make calls of loops, to functions that nobody has linked.
            command.arg("-fno-tree-loop-distribute-patterns");
        }
        command.args(FLAGS).args(flags).arg("-o").arg(Path::new(&variable("OUT_DIR")).join(name));
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(status) => panic!("{command:?}: {status}"),
            Err(error) => panic!("{command:?}: {error}; a C compiler is needed, such as gcc"),
        }
    }
}
