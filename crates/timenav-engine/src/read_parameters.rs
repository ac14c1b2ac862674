//! What is kept of the parameters of a read.
//!
//! Entries are never deleted, and a read costs its caller next to nothing. So an entry keeps the beginning of long
//! parameters, and the hash of the whole for whoever wants to show what a read asked for.

use timenav_core::ledger::sha256;

use crate::json::json;
use crate::payload::ParametersCut;

/// Bytes of JSON text of the parameters of a read that its entry keeps.
pub const READ_PARAMETERS_BYTES_MAX: usize = 256;

/// Returns what an entry keeps of parameters, which are JSON text.
pub(crate) fn kept(parameters: String) -> String {
    if parameters.len() <= READ_PARAMETERS_BYTES_MAX {
        return parameters;
    }
    let sha256 = data_encoding::HEXLOWER.encode(sha256(&[parameters.as_bytes()]).as_bytes());
    json(&ParametersCut {
        parameters_begin: beginning(&parameters).to_owned(),
        parameters_bytes: parameters.len(),
        sha256,
    })
}

/// Returns as much of the beginning as has so many bytes when it is a text in JSON itself.
fn beginning(text: &str) -> &str {
    let mut bytes = 0;
    let cost = |letter: char| match letter {
        '"' | '\\' => 2,
        letter if letter.is_ascii_control() => 6,
        letter => letter.len_utf8(),
    };
    let end = text.char_indices().find(|(_, letter)| {
        bytes += cost(*letter);
        bytes > READ_PARAMETERS_BYTES_MAX
    });
    &text[..end.map_or(text.len(), |(end, _)| end)]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(location: &str) -> String {
        json!({ "location": location, "time_range": "../.." }).to_string()
    }

    #[test]
    fn what_is_short_is_kept_as_it_is() {
        let around = of("").len();
        let whole = of(&"x".repeat(READ_PARAMETERS_BYTES_MAX - around));
        assert_eq!(whole.len(), READ_PARAMETERS_BYTES_MAX);
        assert_eq!(kept(whole.clone()), whole);
        assert_ne!(kept(of(&"x".repeat(READ_PARAMETERS_BYTES_MAX - around + 1))).len(), whole.len() + 1);
    }

    #[test]
    fn what_is_long_is_cut_and_named_by_its_hash() {
        for location in ["\u{1}".repeat(512), "é".repeat(256), "\"\\".repeat(256), "x".repeat(100_000)] {
            let whole = of(&location);
            let kept = kept(whole.clone());
            assert!(kept.len() <= READ_PARAMETERS_BYTES_MAX + 160, "{}", kept.len());
            let kept: Value = serde_json::from_str(&kept).unwrap();
            assert!(whole.starts_with(kept["parameters_begin"].as_str().unwrap()));
            assert!(kept["parameters_begin"].as_str().unwrap().len() > 100);
            assert_eq!(kept["parameters_bytes"], whole.len());
            let hash = data_encoding::HEXLOWER.encode(sha256(&[whole.as_bytes()]).as_bytes());
            assert_eq!(kept["parameters_sha256"], hash);
        }
    }
}
