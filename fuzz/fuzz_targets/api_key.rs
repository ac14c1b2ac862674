//! API keys: what is well formed has the form that is documented, every key that is made is well
//! formed, and no key is with another of its characters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::key::{KEY_BYTES, KEY_PREFIX, is_well_formed_key, key_text};

fuzz_target!(|bytes: &[u8]| {
    if let Some(key) = key_text(bytes) {
        assert!(is_well_formed_key(&key), "{key}");
        check_typos(&key);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if is_well_formed_key(text) {
        assert_eq!(text.len(), KEY_BYTES);
        let rest = text.strip_prefix(KEY_PREFIX).expect("a key has its prefix");
        assert!(rest.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        check_typos(text);
    }
});

fn check_typos(key: &str) {
    for at in 0..KEY_BYTES {
        let mut typo = key.as_bytes().to_vec();
        typo[at] = if typo[at] == b'7' { b'1' } else { b'7' };
        let typo = std::str::from_utf8(&typo).expect("keys are of ASCII");
        assert!(!is_well_formed_key(typo), "{typo}");
    }
}
