use aws_lc_rs::hmac;
use proptest::prelude::*;

use super::*;

#[test]
fn debug_output_hides_the_salt() {
    assert_eq!(format!("{:?}", Salt::from_bytes([7; 16])), "Salt(..)");
}

proptest! {
    #[test]
    fn derived_salt_matches_another_library(salt in any::<[u8; 16]>(), number in any::<u32>()) {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &salt);
        let code = hmac::sign(&key, &number.to_be_bytes());
        let derived = Salt::from_bytes(salt).derive(number);
        prop_assert_eq!(derived.as_bytes(), &code.as_ref()[..16]);
    }
}
