use super::Problem;
use super::tree::{Tree, extension, is_written_by_hand};

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    // Snapshots must keep a test's output exactly.
    for (path, text) in tree.texts().filter(|(path, _)| is_written_by_hand(path) && extension(path) != "snap") {
        let blank = text.split('\n').position(|line| line.ends_with([' ', '\t', '\r', '\u{a0}']));
        problems.extend(blank.map(|line| Problem::new(path, line + 1, "the line ends with a space; remove it")));
        let lines_count = text.lines().count();
        if !text.is_empty() && !text.ends_with('\n') {
            problems.push(Problem::new(path, lines_count, "the last line does not end with a line feed; add one"));
        }
        if text.ends_with("\n\n") {
            problems.push(Problem::new(path, lines_count, "the file ends with an empty line; remove it"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::check;

    #[test]
    fn line_and_file_ends_are_checked() {
        assert_found(check, &[("a.md", "one\ntwo\n"), ("empty", "")], &[]);
        assert_found(check, &[("a.md", "one\ntwo")], &["a.md:2"]);
        assert_found(check, &[("a.md", "one\n\n")], &["a.md:2"]);
        assert_found(check, &[("a.md", "one\ntwo \nthree\t\n")], &["a.md:2"]);
        assert_found(check, &[("a.md", "one\ntwo\r\nthree\n")], &["a.md:2"]);
    }

    #[test]
    fn fixtures_and_snapshots_keep_their_bytes() {
        assert_found(check, &[("test-data/a.csv", "a \r\n"), ("crates/a/tests/it/a.snap", "a \n\n")], &[]);
        assert_found(check, &[("image.png", "\0 ")], &[]);
    }
}
