//! The table of docs/schedulers.md.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const HEAD: &str = "| program | rate 60 | after a pause | rate 3600 | jumped over | after a jump of a day | libfaketime, \
                    rate 3600 |\n| --- | --- | --- | --- | --- | --- | --- |\n";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schedulers.md")
}

/// Returns whether the page is to be written.
#[expect(clippy::disallowed_methods, reason = "it is how snapshots are updated")]
pub(super) fn is_update() -> bool {
    std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always")
}

/// Returns the cells of a row that do not depend on the machine: without delays, and without libfaketime.
fn stable(line: &str) -> Vec<&str> {
    let cells = line.trim_matches('|').split('|').map(|cell| cell.split(" (").next().unwrap_or(cell).trim());
    let mut cells: Vec<&str> = cells.collect();
    cells.pop();
    cells
}

/// Compares the table with the observed rows. Rows of programs that are not installed are kept.
pub(super) fn check_page(names: &[&str], lines: &[(&str, String)]) {
    let text = std::fs::read_to_string(path()).unwrap();
    let start = text.find(HEAD).expect("the page has the table") + HEAD.len();
    let table_lines: Vec<&str> = text[start..].lines().take_while(|line| line.starts_with('|')).collect();
    let end = start + table_lines.iter().map(|line| line.len() + 1).sum::<usize>();
    let (mut table, mut wrong) = (String::new(), String::new());
    for name in names {
        let table_lines = table_lines.iter().find(|line| line.starts_with(&format!("| {name} |"))).copied();
        let seen = lines.iter().find(|(program, _)| program == name).map(|(_, line)| line.as_str());
        let Some(line) = seen.or(table_lines) else { continue };
        let _ = writeln!(table, "{line}");
        if table_lines.map(stable) != Some(stable(line)) {
            let _ = writeln!(wrong, "{}\n  was seen as\n{line}", table_lines.unwrap_or_default());
        }
    }
    if is_update() {
        std::fs::write(path(), format!("{}{table}{}", &text[..start], &text[end..])).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{wrong}run this test with INSTA_UPDATE=always, then check the difference");
    assert_eq!(table.lines().count(), table_lines.len(), "rows of the page");
}

#[test]
fn stable_cells_have_no_delays() {
    let cells = stable("| cron | 3 of 3 (12 ms) | 0 of 1 | 5 of 5 |");
    assert_eq!(cells, ["cron", "3 of 3", "0 of 1"]);
}
