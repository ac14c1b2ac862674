use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn read(json: &str) -> Result<PositionRuns, Malformed> {
    let mut scanner = Scanner::new(json.as_bytes())?;
    let runs = PositionRuns::scan(&mut scanner)?;
    scanner.end().map(|()| runs)
}

#[test]
fn runs_have_one_accepted_spelling() {
    for good in ["[]", "[[0,0]]", "[[0,4],[6,6]]", "[[9007199254740991,9007199254740991]]"] {
        assert!(read(good).is_ok(), "{good}");
    }
    let texts = "[[1,0]]|[[0,4],[5,6]]|[[0,4],[4,6]]|[[6,6],[0,4]]|[[0,0],[0,0]]|[[0]]|[0,1]|[[0,1],]|\
                 [[0,9007199254740992]]|[[-1,0]]";
    for bad in texts.split('|') {
        assert!(read(bad).is_err(), "{bad}");
    }
    let too_many: Vec<String> = (0..=POSITION_RUNS_MAX).map(|number| format!("[{0},{0}]", 2 * number)).collect();
    assert!(read(&format!("[{}]", too_many.join(","))).is_err());
    assert!(read(&format!("[{}]", too_many[1..].join(","))).is_ok());
}

#[test]
fn runs_reject_positions_out_of_order_or_over_the_limit() {
    let mut runs = PositionRuns::default();
    assert_eq!(runs.push(SEQ_MAX + 1), Err(RunsError::Order));
    (0..POSITION_RUNS_MAX as u64).for_each(|number| runs.push(2 * number).unwrap());
    let last = runs.last().unwrap();
    assert_eq!(runs.push(last), Err(RunsError::Order));
    assert_eq!(runs.push(last + 2), Err(RunsError::Full));
    // A position adjacent to the last run extends it.
    assert_eq!(runs.push(last + 1), Ok(()));
    assert_eq!((runs.as_slice().len(), runs.count()), (POSITION_RUNS_MAX, POSITION_RUNS_MAX as u64 + 1));
}

proptest! {
    #[test]
    fn positions_in_runs_are_read_back(positions in prop::collection::btree_set(0..40_u64, 0..30)) {
        let mut runs = PositionRuns::default();
        for position in &positions {
            prop_assert_eq!(runs.push(*position), Ok(()));
        }
        let found: BTreeSet<u64> = (0..50).filter(|position| runs.contains(*position)).collect();
        prop_assert_eq!(&found, &positions);
        prop_assert_eq!((runs.count(), runs.last()), (positions.len() as u64, positions.last().copied()));
        prop_assert_eq!(runs.is_empty(), positions.is_empty());
        let mut writer = Writer::default();
        runs.write(&mut writer);
        let json = String::from_utf8(writer.into_bytes()).unwrap();
        prop_assert_eq!(read(&json), Ok(runs));
    }
}
