use aws_lc_rs::hmac;
use proptest::prelude::*;

use super::*;

#[test]
fn a_salt_is_not_shown() {
    assert_eq!(format!("{:?}", Salt::from_bytes([7; 16])), "Salt(..)");
}

proptest! {
    #[test]
    fn a_part_has_a_salt_that_another_library_derives_too(salt in any::<[u8; 16]>(), number in any::<u32>()) {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &salt);
        let code = hmac::sign(&key, &number.to_be_bytes());
        let derived = Salt::from_bytes(salt).derive(number);
        prop_assert_eq!(derived.as_bytes(), &code.as_ref()[..16]);
    }
}
