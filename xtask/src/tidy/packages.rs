//! Checks the number of packages that the program is built from. Everyone who builds it pays for each of them.

use std::path::Path;

use super::Problem;
use crate::build_time::{PACKAGES_MAX, packages};

const BUDGET: &str = "xtask/src/build_time.rs";

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let count = packages(root)?.len();
    Ok(compare(count).into_iter().collect())
}

fn compare(count: usize) -> Option<Problem> {
    let message = match count {
        PACKAGES_MAX => return None,
        ..PACKAGES_MAX => format!("the program has {count} packages; lower PACKAGES_MAX to that"),
        _ => format!(
            "the program has {count} packages, and {PACKAGES_MAX} are allowed; do without the new ones, or raise \
             PACKAGES_MAX and give the output of `cargo xtask build-time` before and after in the commit"
        ),
    };
    Some(Problem::new(BUDGET, 1, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_count_other_than_the_budget_is_a_problem() {
        assert_eq!(compare(PACKAGES_MAX), None);
        assert!(compare(PACKAGES_MAX + 1).unwrap().message.contains("do without the new ones"));
        assert!(compare(PACKAGES_MAX - 1).unwrap().message.contains("lower PACKAGES_MAX"));
    }
}
