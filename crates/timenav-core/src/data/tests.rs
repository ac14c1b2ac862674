use data_encoding::HEXLOWER;

use super::*;

fn key(text: &str) -> EncryptionKey {
    EncryptionKey::new(Zeroizing::new(text.to_owned())).unwrap()
}

#[test]
fn key_kind_is_detected_from_its_form() {
    let hex = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    let base64 = BASE64.encode(&[0xfb; 32]);
    let url = BASE64URL.encode(&[0xfb; 32]);
    for random in [hex, &hex.to_uppercase(), &base64, &url] {
        assert_eq!(key(random).kind(), KeyKind::Random, "{random}");
    }
    assert_eq!(*key(&base64).random_bytes().unwrap(), [0xfb; 32]);
    assert_eq!(*key(&url).random_bytes().unwrap(), [0xfb; 32]);
    let not_canonical = format!("{}d=", &BASE64.encode(&[0; 32])[..42]);
    for passphrase in
        ["x", "correct horse battery staple", &hex[1..], &format!("{hex}0"), &base64[..43], &url[..43], &not_canonical]
    {
        assert_eq!(key(passphrase).kind(), KeyKind::Passphrase, "{passphrase}");
    }
    assert_eq!(key(&"g".repeat(64)).kind(), KeyKind::Passphrase);
}

#[test]
fn encryption_key_length_is_limited() {
    let made = |length: usize| EncryptionKey::new(Zeroizing::new("x".repeat(length)));
    assert!(made(0).is_err() && made(ENCRYPTION_KEY_BYTES_MAX + 1).is_err());
    assert!(made(1).is_ok() && made(ENCRYPTION_KEY_BYTES_MAX).is_ok());
}

#[test]
fn debug_output_hides_secrets() {
    assert_eq!(format!("{:?}", key("hush")), "EncryptionKey(..)");
    assert_eq!(format!("{:?}", Plaintext::new(Zeroizing::new("hush".to_owned()))), "Plaintext(..)");
}

#[test]
fn associated_data_is_unambiguous() {
    let of = |timeline: &str, data: &str| {
        associated_data(1, &TimelineId::new(timeline).unwrap(), &DataId::new(data).unwrap(), KeyKind::Random)
    };
    assert_ne!(of("ab", "c"), of("a", "bc"));
    let hex = HEXLOWER.encode(&of("t", "d"));
    let expected = concat!(
        "000000000000000c74696d656e61762064617461",
        "000000000000000101",
        "000000000000000174",
        "000000000000000164",
        "000000000000000101",
    );
    assert_eq!(hex, expected);
}

#[test]
fn key_kind_numbers_are_frozen() {
    assert_eq!(KeyKind::from_number(1), Some(KeyKind::Random));
    assert_eq!(KeyKind::from_number(2), Some(KeyKind::Passphrase));
    assert_eq!((KeyKind::from_number(0), KeyKind::from_number(3)), (None, None));
}
