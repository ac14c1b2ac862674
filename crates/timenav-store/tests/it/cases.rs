//! Random cases for checks that are async.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Handle;

use crate::cluster::said;

/// In the tests one of so many cases runs; all of them run with `cargo xtask soak`.
const SHARE: u32 = 4;

/// Runs a check on up to `count` random cases and shows the smallest that fails. Needs a runtime with several threads.
pub(crate) fn check_cases<S: Strategy>(count: u32, strategy: &S, check: impl AsyncFn(S::Value)) {
    let cases = if said("TIMENAV_TEST_SOAK").is_some() { count } else { count.div_ceil(SHARE) };
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
