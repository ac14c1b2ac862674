//! Events as they are written and read back. The first byte chooses the format.

#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use timenav_core::time::Instant;
use timenav_import::{EventRecord, Export, ExportFormat, Format, Mapping, read};

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, json)) = bytes.split_first() else { return };
    let (export, import) = [
        (ExportFormat::Ndjson, Format::Ndjson),
        (ExportFormat::Csv, Format::Csv),
        (ExportFormat::GeoJson, Format::GeoJson),
        (ExportFormat::ICalendar, Format::ICalendar),
    ][usize::from(*choice) % 4];
    let Ok(mut draft) = EventRecord::from_json(json).and_then(EventRecord::into_draft) else { return };
    let Some(event_id) = draft.event_id.clone() else { return };
    let mut writer = Export::new(export, Instant::EPOCH);
    let mut text = String::new();
    writer.begin(&mut text);
    writer.event(&timenav_fuzz::stored(&draft), &mut text).expect("what was read can be written");
    writer.end(&mut text);
    let mut found = Vec::new();
    let outcome = read(import, &Mapping::default(), text.as_bytes(), &mut |item| {
        found.push(item.event.expect("what is written can be read"));
        ControlFlow::Continue(())
    });
    assert!(outcome.is_ok(), "{outcome:?} {text}");
    if export == ExportFormat::ICalendar {
        assert!(text.split_terminator("\r\n").all(|line| line.len() <= 75), "{text}");
        assert!(found.len() <= 1 && found.iter().all(|found| found.event_id.as_ref() == Some(&event_id)), "{text}");
        return;
    }
    if export != ExportFormat::Ndjson {
        // The one thing that these have no form for.
        draft.asserts.clear();
    }
    assert_eq!(found, [draft], "{text}");
});
