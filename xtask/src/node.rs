//! Node, which builds the console and the client for TypeScript.

use std::process::Command;

use anyhow::bail;

/// Checks that Node is there, and new enough for the tools of the console.
pub(crate) fn require() -> anyhow::Result<()> {
    let told = Command::new("node").arg("--version").output().ok();
    let version = told.and_then(|told| String::from_utf8(told.stdout).ok()).unwrap_or_default();
    if !is_new_enough(&version) {
        bail!(
            "Node 20.19 or later is missing, with npm; install it, or leave the steps out with `--skip console --skip clients`"
        );
    }
    Ok(())
}

/// The first version of Node that can build the console.
const NODE_VERSION_MIN: (u32, u32) = (20, 19);

fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= NODE_VERSION_MIN,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_are_compared() {
        for (version, expected) in [
            ("v20.19.0\n", true),
            ("v22.3.1", true),
            ("v20.9.9", false),
            ("v18.20.4", false),
            ("", false),
            ("next", false),
        ] {
            assert_eq!(is_new_enough(version), expected, "{version}");
        }
    }
}
