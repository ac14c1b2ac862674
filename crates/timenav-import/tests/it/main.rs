//! What holds for every format: real files, hostile ones, and bounded memory.

mod guess_corpus;
mod hostile_files;
mod memory;
mod real_files;

use std::io::Read;
use std::ops::ControlFlow;

use timenav_import::{Format, ImportError, Item, Mapping, read};

fn items(format: Format, map: &str, file: impl Read) -> (Vec<Item>, Result<(), ImportError>) {
    let mapping = Mapping::parse(map).expect("the tests write mappings that can be read");
    let mut items = Vec::new();
    let outcome = read(format, &mapping, file, &mut |item| {
        items.push(item);
        ControlFlow::Continue(())
    });
    (items, outcome)
}

#[test]
fn sink_can_end_the_import() {
    let time = "2024-07-20T20:17:40Z";
    let feature = format!("{{\"type\":\"Feature\",\"properties\":{{\"time\":\"{time}\"}}}}");
    for (format, file) in [
        (Format::Ndjson, format!("{{\"time\":\"{time}\"}}\n").repeat(3)),
        (Format::Csv, format!("time\n{time}\n{time}\n{time}\n")),
        (Format::GeoJson, format!("{{\"features\":[{feature},{feature},{feature}]}}")),
        (Format::GeoJson, feature),
    ] {
        let mut count = 0;
        let outcome = read(format, &Mapping::default(), file.as_bytes(), &mut |_| {
            count += 1;
            ControlFlow::Break(())
        });
        outcome.unwrap();
        assert_eq!(count, 1, "{format:?}");
    }
}
