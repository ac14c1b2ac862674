//! Names and documentation in Rust.

/// Longest line of a comment, in characters.
const WIDTH: usize = 118;

/// Returns a name as types have it: `event_id` as `EventId`.
pub(super) fn camel(name: &str) -> String {
    let parts = name.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(|part| part[..1].to_ascii_uppercase() + &part[1..]).collect()
}

/// Returns a name as functions and fields have it: `Idempotency-Key` as `idempotency_key`.
pub(super) fn snake(name: &str) -> String {
    let name = name.replace(['-', '.'], "_").to_ascii_lowercase();
    match name.as_str() {
        "type" | "match" | "move" | "ref" | "use" | "in" | "where" | "as" | "for" | "loop" | "mod" | "fn" => {
            format!("r#{name}")
        }
        _ => name,
    }
}

/// Returns a text as documentation, wrapped and indented.
pub(super) fn docs(text: &str, indent: usize) -> String {
    let start = format!("{}/// ", " ".repeat(indent));
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && start.len() + line.chars().count() + word.chars().count() >= WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.iter().map(|line| format!("{start}{line}\n")).collect()
}

/// Returns a summary as a sentence.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_rust() {
        assert_eq!((camel("event_id"), camel("tlog-proof")), ("EventId".to_owned(), "TlogProof".to_owned()));
        assert_eq!((snake("Idempotency-Key"), snake("type")), ("idempotency_key".to_owned(), "r#type".to_owned()));
    }

    #[test]
    fn comments_are_wrapped() {
        assert_eq!(docs("Short.", 4), "    /// Short.\n");
        let long = docs(&"word ".repeat(40), 0);
        assert!(long.lines().count() == 2 && long.lines().all(|line| line.len() < 120), "{long}");
    }
}
