const SIMILARITY_MIN: f64 = 0.7;

pub(super) fn unknown_key(key: &str, keys: &[String]) -> String {
    if ["accept_rollback", "join", "trusted_checkpoint"].contains(&key) {
        let flag = key.replace('_', "-");
        return format!("`{key}` is for one start and cannot be set here; use --{flag} instead");
    }
    let close = keys.iter().map(|known| (strsim::jaro_winkler(known, &key.replace('-', "_")), known));
    let nearest = close.max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest.filter(|(similarity, _)| *similarity >= SIMILARITY_MIN) {
        Some((_, known)) => format!("there is no setting `{key}`; did you mean `{known}`?"),
        None => format!("there is no setting `{key}`; the settings are {}", keys.join(", ")),
    }
}
