//! `import --guess`, `timenav mapping`, and what `--map` takes.

use super::line_command;
use crate::support::service::{Service, ends, fails, run, succeeds, timenav};

const QUAKES: &str = "\"Search Parameters\"\tYear\tMo\tDy\tHr\tMn\tSec\tLocation Name\tLatitude\tLongitude\n\"[]\"\n\
    \t-2150\t\t\t\t\t\tJORDAN\t31.1\t35.5\n\t1906\t4\t18\t13\t12\t21\tSAN FRANCISCO\t37.67\t-122.48\n";

#[test]
fn guessed_mapping_can_be_saved_and_used_for_import() {
    let service = Service::start();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, saved) = (path("quakes.tsv"), path("quakes.json"));
    std::fs::write(&file, QUAKES).unwrap();

    // No service is contacted.
    let (code, mapping, stderr) = run(timenav().args(["import", "--guess", &file]), "");
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("is csv; of its first records 2 are events"), "{stderr}");
    assert!(stderr.contains("unsure: `Year` has years such as -2150"), "{stderr}");
    std::fs::write(&saved, &mapping).unwrap();

    let at_home = |line: &str| {
        let mut command = line_command(&service, line);
        command.env("XDG_CONFIG_HOME", folder.path());
        command
    };
    let output_of = |line: &str| ends(&mut at_home(line), 0);
    let imported = output_of(&format!("import {file} --map @{saved}"));
    assert!(imported.starts_with(&format!("{file}: 2 imported, 0 unchanged, 0 rejected\n")), "{imported}");
    let list = || succeeds(&mut at_home("mapping list"));
    assert_eq!(list(), "");
    output_of(&format!("mapping save quakes {saved}"));
    assert_eq!(list(), "quakes\n");
    assert_eq!(succeeds(&mut at_home("mapping show quakes")), mapping);
    let again = output_of(&format!("import {file} --map quakes"));
    assert_eq!(again, format!("{file}: 0 imported, 2 unchanged, 0 rejected\n"));
    fails(&mut at_home(&format!("import {file} --map quaks")), 1, "there is no mapping `quaks` (there are quakes)");
    output_of("mapping remove quakes");
    assert_eq!(list(), "");

    let jordan = &service.find_all("main", "*", "../1900-01-01T00:00:00Z", "10")[0];
    assert_eq!((&jordan["time"], &jordan["precision"]), (&"-002149-01-01T00:00:00Z".into(), &"year".into()));
    fails(timenav().args(["import", "--guess", &saved]), 1, "no time was recognized");
    service.audit();
}
