//! Finds unidiomatic phrases in texts for users.

use std::sync::LazyLock;

use regex::Regex;

use super::tree::Tree;
use super::{Problem, prose};

/// Phrases not allowed in texts for users, ignoring case and matching whole words only.
const TURNS: &[(&str, &str)] = &[
    (r"not (?:yours|theirs|mine) to see", "\"you don't have access to it\""),
    (r"hangs? on (?:it|each|an event|the event)|what hangs on", "\"depends on\""),
    (r"comes? back by itself", "\"Reconnecting…\""),
    (r"named nearly so|nearly so", "\"similar\""),
    (r"nothing is against|against anything else", "\"no conflicts\""),
    (r"whose it is", "\"the user it belongs to\", \"its timeline\""),
    (r"do not belong together", "\"wrong user name or password\""),
    (r"the first (?:word|one) decides", "\"start with a verb\""),
    (r"if it is left out|if they are left out", "\"Defaults to …\""),
    (r"(?:of|with) .{0,30} as it stands, if it does", "\"if it occurs\""),
    (r"where (?:it|that|this) stands in the ledger", "\"its place in the ledger\""),
    (r"stands? alike", "\"is the same\""),
    (r"take[ns]? .{0,30} for more", "\"not fully imported\""),
    (r"(?:changed|taken away|put there) by another hand|another hand changed", "\"modified outside timenav\""),
    (r"as far as .{0,30} looks", "\"(depth …)\""),
    (r"restricted to looking|operations that only look", "\"read-only\", \"read operations\""),
    (r"an operator's business", "\"only operators can …\""),
    (r"cannot be had later", "\"you cannot get it later\""),
    (r"by another way", "\"through another channel\""),
    (r"at most so many", "\"the maximum number of …\""),
    (r"a (?:key|user|timeline|record|password) (?:that was|to be) made", "\"created\", \"to create\""),
    (r"exists already", "\"already exists\""),
    (r"is none such|there is none such", "\"there is no such …\""),
    (r"unless given", "\"Defaults to …\""),
    (r"there is no way back", "\"this cannot be undone\""),
    (r"names? (?:it|the (?:key|session)) without giving it away", "\"the public id of …\""),
    (r"needs? another look", "\"needs attention\""),
    (r"for ever", "\"forever\""),
    (r"in silence", "\"silently\""),
    (r"told to come back", "\"told to retry later\""),
    (r"counts? from the next start", "\"takes effect at the next start\""),
    (r"mend(?:ed|s|ing)?", "\"correct\", \"fix\""),
    (r"(?:is|are|was|were) passed over", "\"skipped\""),
    (r"ends? TLS", "\"terminates TLS\""),
    (r"its maker", "\"whoever created it\""),
    (r"(?:by|for) whomever|from wherever", "\"by anybody\", \"for all users\", \"from all addresses\""),
    (r"(?:begins?|began|begun|written|made|hashed|computed) anew", "\"starts over\", \"rewritten\", \"again\""),
    (r"stands? in (?:the|every|each|its|no|an?) (?:log|ledger|answer|response|checkpoint|entry|body|row)", "\"is in\""),
    (r"(?:sessions?|keys?) (?:that )?(?:has|have|had) run out", "\"expired\""),
    (r"room on (?:the )?disk", "\"free disk space\""),
    (r"behind (?:an|each|the) entry", "\"after the entry\""),
    (r"go(?:es)? on with (?:it|the|an?)", "\"continues\""),
    (r"(?:it|this|that|which) is no (?:error|conflict|difference|finding|snapshot|scan)", "\"is not a …\""),
    (r"whatever else is asked", "\"whatever the flags\", \"in any case\""),
];

/// The phrases, and what to write instead.
static BANNED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let regex = |pattern| Regex::new(&format!(r"(?i)\b(?:{pattern})\b")).expect("the patterns are tested");
    TURNS.iter().map(|(pattern, right)| (regex(pattern), *right)).collect()
});

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, line, text) in prose::texts_for_users(tree) {
        for (banned, right) in BANNED.iter() {
            if let Some(found) = banned.find(&text) {
                let message = format!("\"{}\" reads as translated; write {right}", found.as_str());
                problems.push(Problem::new(path, line, message));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::check;

    #[test]
    fn banned_phrases_are_found_in_user_facing_text() {
        let code = "//! It is not yours to see.\nconst A: &str = \"it is not yours to see\";\n";
        assert_found(check, &[("crates/a/src/a.rs", code)], &["crates/a/src/a.rs:2"]);
        let page = "<!-- It comes back by itself. -->\n<p>10 events hang on it</p>\n<p>Nothing is against it.</p>\n";
        assert_found(check, &[("console/src/a.svelte", page)], &["console/src/a.svelte:2", "console/src/a.svelte:3"]);
        assert_found(check, &[("README.md", "Ended. There is no\nway back. Kept for ever.\n")], &["README.md:2"]);
        let paper =
            "Mend the file.\nThe log begins anew.\nIt stands in every checkpoint.\nBlank lines are passed over.\n";
        let lines = ["docs/a.md:1", "docs/a.md:2", "docs/a.md:3", "docs/a.md:4"];
        assert_found(check, &[("docs/a.md", paper)], &lines);
    }

    #[test]
    fn innocent_phrases_are_accepted() {
        for line in [
            "The proof depends on the size; hang on a second.",
            "An event stands for what happened. It was forever ago.",
            "Nothing speaks against the plan.",
            "The file already exists, and nearly all of it is read.",
            "A key that was revoked is refused; a user was created.",
            "We recommend that you amend it: there is no error, and a stub stands in for the ledger.",
        ] {
            assert_found(check, &[("docs/a.md", line)], &[]);
        }
    }

    #[test]
    fn decisions_and_tests_may_use_banned_phrases() {
        let text = "\"it exists already, in the file\"";
        for path in ["docs/adr/0001-a.md", "CHANGELOG.md", "crates/a/tests/it/a.rs", "crates/a/src/tests.rs", "x.rs"] {
            assert_found(check, &[(path, text)], &[]);
        }
    }
}
