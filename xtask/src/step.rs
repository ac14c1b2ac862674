use std::fmt;

use clap::ValueEnum;

pub(crate) const FUZZ: &str = "fuzz/Cargo.toml";
/// One step, in the order in which they run: the quickest to fail come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    /// The code is formatted.
    Fmt,
    /// Everything compiles, tests included, and no lint of the compiler or of clippy reports anything.
    Build,
    /// All tests pass, those in documentation too.
    Test,
    /// The console of the browser is what its sources make, and a browser can use it.
    Console,
    /// The clients for Python and TypeScript are built, formatted and typed, and their tests pass. The packages of the
    /// program can be installed.
    Clients,
    /// The documentation builds, and its links lead somewhere.
    Doc,
    /// Licences, banned crates and sources of all dependencies are as `deny.toml` wants them.
    Deny,
    /// Every dependency that a manifest names is used, and every file is compiled.
    Shear,
    /// Nothing is left over: names, lengths, links, layers, circles.
    Tidy,
}

impl Step {
    /// Returns the Cargo commands of the step, if Cargo runs it. Those of [`Self::Build`] and [`Self::Doc`] compile
    /// with clippy, and share what they compile. The fuzz targets are a separate workspace.
    pub(crate) const fn cargo_calls(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Fmt => &[&["fmt", "--all", "--check"], &["fmt", "--manifest-path", FUZZ, "--check"]],
            Self::Build => &[
                // As newcomers build it, without the features that tests enable.
                &["check", "--workspace", "--exclude", "timenav-bench", "--exclude", "xtask"],
                &["check", "--manifest-path", FUZZ, "--all-targets"],
            ],
            // With the features of the check in `build`, whose results it uses.
            Self::Doc => &[&[
                "doc",
                "--workspace",
                "--exclude",
                "timenav-bench",
                "--exclude",
                "xtask",
                "--no-deps",
                "--document-private-items",
            ]],
            Self::Test | Self::Console | Self::Clients | Self::Deny | Self::Shear | Self::Tidy => &[],
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}
