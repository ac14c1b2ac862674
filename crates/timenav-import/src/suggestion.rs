use crate::limits::SUGGESTION_BYTES_MAX;

/// Minimum similarity for a suggestion, from 0 to 1.
const LIKENESS_MIN: f64 = 0.5;

pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The comparison is quadratic in the length.
    if word.len() > SUGGESTION_BYTES_MAX {
        return None;
    }
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= SUGGESTION_BYTES_MAX)
        .map(|candidate| {
            let likeness = strsim::normalized_damerau_levenshtein(&word, &candidate.to_lowercase());
            (candidate, likeness)
        })
        .filter(|(_, likeness)| *likeness >= LIKENESS_MIN)
        .max_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(candidate, _)| candidate)
}

/// The nearest candidate as a question, or else the full list: `the fields are …`.
pub(crate) fn hint<const COUNT: usize>(what: &str, word: &str, candidates: [&'static str; COUNT]) -> String {
    let canonical = crate::other_names::canonical_name(word, &candidates);
    match canonical.or_else(|| nearest(word, candidates)) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("{what} are `{}`", candidates.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word_is_suggested() {
        let check = |word: &str, expected| {
            assert_eq!(nearest(word, ["time", "end_time", "description"]), expected, "{word}");
        };
        check("tiem", Some("time"));
        check("TIME", Some("time"));
        check("descripton", Some("description"));
        check("endtime", Some("end_time"));
        check("zzz", None);
        check("", None);
        let word = |bytes: usize| "x".repeat(bytes);
        assert!(nearest(&word(SUGGESTION_BYTES_MAX), [word(SUGGESTION_BYTES_MAX - 1).as_str()]).is_some());
        assert!(nearest(&word(SUGGESTION_BYTES_MAX + 1), [word(SUGGESTION_BYTES_MAX).as_str()]).is_none());
        assert!(nearest(&word(SUGGESTION_BYTES_MAX), [word(SUGGESTION_BYTES_MAX + 1).as_str()]).is_none());
    }
}
