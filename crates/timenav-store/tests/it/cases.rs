//! Random cases for asynchronous checks.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Handle;

use crate::cluster::variable;

/// Tests run one in this many cases. `cargo xtask soak` runs all of them.
const SHARE: u32 = 4;

/// Runs a check on up to `count` random cases and reports a minimal failing one. Needs a multi-threaded runtime.
pub(crate) fn check_cases<S: Strategy>(count: u32, strategy: &S, check: impl AsyncFn(S::Value)) {
    let cases = if variable("TIMENAV_TEST_SOAK").is_some() { count } else { count.div_ceil(SHARE) };
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let result = tokio::task::block_in_place(|| {
        TestRunner::new(config).run(strategy, |case| {
            Handle::current().block_on(check(case));
            Ok(())
        })
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}
