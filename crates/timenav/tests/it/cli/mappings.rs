//! `import --guess`, `timenav mapping`, and what `--map` takes.

use super::command;
use crate::support::service::{Service, run, timenav};

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

    let with_home = |arguments: &[&str]| {
        let mut command = command(&service, arguments);
        let (code, stdout, stderr) = run(command.env("XDG_CONFIG_HOME", folder.path()), "");
        (code, stdout, stderr)
    };
    let (code, stdout, stderr) = with_home(&["import", &file, "--map", &format!("@{saved}")]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.starts_with(&format!("{file}: 2 imported, 0 unchanged, 0 rejected\n")), "{stdout}");
    assert_eq!(with_home(&["mapping", "list"]).1, "");
    assert_eq!(with_home(&["mapping", "save", "quakes", &saved]).0, Some(0));
    assert_eq!(with_home(&["mapping", "list"]).1, "quakes\n");
    assert_eq!(with_home(&["mapping", "show", "quakes"]).1, mapping);
    let (code, stdout, stderr) = with_home(&["import", &file, "--map", "quakes"]);
    assert_eq!((code, stdout), (Some(0), format!("{file}: 0 imported, 2 unchanged, 0 rejected\n")), "{stderr}");
    let (code, _, stderr) = with_home(&["import", &file, "--map", "quaks"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("there is no mapping `quaks` (there are quakes)"), "{stderr}");
    assert_eq!(with_home(&["mapping", "remove", "quakes"]).0, Some(0));
    assert_eq!(with_home(&["mapping", "list"]).1, "");

    let jordan = &service.find_all("main", "*", "../1900-01-01T00:00:00Z", "10")[0];
    assert_eq!((&jordan["time"], &jordan["precision"]), (&"-002149-01-01T00:00:00Z".into(), &"year".into()));
    let (code, stdout, stderr) = run(timenav().args(["import", "--guess", &saved]), "");
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("no time was recognized"), "{stderr}");
    service.audit();
}
