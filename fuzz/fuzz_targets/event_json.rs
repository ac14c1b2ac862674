//! Events as JSON: what is read keeps the limits and is read back the same, and what is refused is
//! refused in few words.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_fuzz::{check_draft, check_refusal};
use timenav_import::EventRecord;

fuzz_target!(|bytes: &[u8]| {
    match EventRecord::from_json(bytes).and_then(EventRecord::into_draft) {
        Ok(draft) => check_draft(&draft),
        Err(error) => check_refusal(&error),
    }
});
