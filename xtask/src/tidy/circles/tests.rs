use super::super::assert_found;
use super::super::tree::Tree;
use super::check;

const LIB: &str = "crates/a/src/lib.rs";

/// Checks a crate with the modules `one` and `two`, where `two` depends on `one`.
fn assert_circle(one: &str, is_circle: bool) {
    let files = [
        (LIB, "//! A.\nmod one;\nmod two;\nmod three;\npub use two::Two;\n"),
        ("crates/a/src/one.rs", one),
        ("crates/a/src/two.rs", "use crate::one::One;\npub struct Two(One);\npub fn f() {}\npub mod deep {}\n"),
        (
            "crates/a/src/three.rs",
            "pub use crate::two::Two as Other;\n#[cfg(test)]\npub use crate::two::Two as Seen;\n",
        ),
    ];
    let expected: &[&str] = if is_circle { &["crates/a/src/one.rs:2"] } else { &[] };
    assert_found(check, &files, expected);
}

#[test]
fn module_cycle_is_found_in_every_notation() {
    for one in [
        "use crate::two::Two;",
        "pub use crate::two::Two;",
        "use super::two::{self, Two};",
        "use crate::{two::Two as Another, three};",
        "use super::{three::{}, two::{Two}};",
        "use crate::two::*;",
        "use crate::two;",
        // Through a re-export, in the root and in another module.
        "use crate::Two;",
        "use crate::*; fn f(_: two::Two) {}",
        "use crate::three::Other;",
        "use crate::three::*; fn f(_: Vec<self::Other>) {}",
        // Without an import.
        "fn f() { crate::two::f() }",
        "fn f<T: Into<super::two::Two>>() {}",
        "fn f() { use super::two; }",
        "impl From<u8> for One { fn from(_: u8) -> Self { crate::two::new() } }",
        "mod inner { use super::super::two::Two; } fn f() -> inner::g {}",
        // In the tokens of a macro or an attribute.
        "fn f() { println!(\"{}\", crate::two::f()) }",
        "fn f() { assert!(matches!(x, Some(super::two::Two(_)))) }",
        "#[serde(deserialize_with = \"crate::two::read\")] struct A;",
        "#[schema(schema_with = super::two::schema)] struct A;",
        "macro_rules! m { () => { $crate::two::f() } }",
    ] {
        assert_circle(&format!("pub struct One;\n{one}\n"), true);
    }
}

#[test]
fn references_that_are_not_a_cycle_are_accepted() {
    for one in [
        "",
        "use std::two::Two;",
        "use ::two::Two;",
        "use two::Two;",
        "fn f(two: u8) -> u8 { two }",
        // A module inside the other module's file is a separate module.
        "fn f() { crate::two::deep::f() }",
        "/// See [`crate::two::Two`].\nfn f() {}",
        "pub(in crate::two) fn f() {}",
        "fn f() { println!(\"crate::two::Two\") }",
        "const TEXT: &str = \"crate::two::Two\";",
        "#[cfg(test)]\nuse crate::two::Two;",
        "#[cfg(all(test, unix))]\nmod tests { use crate::two::Two; }",
        "impl One { #[cfg(test)] fn f() -> crate::two::Two {} }",
        "#[test] fn f() { crate::two::f() }",
        "// use crate::two::Two;",
    ] {
        assert_circle(&format!("pub struct One;\n{one}\n"), false);
    }
    // Code compiled only outside of tests counts.
    assert_circle("pub struct One;\n#[cfg(not(test))] use crate::two::Two;\n", true);
}

#[test]
fn parent_and_child_modules_may_depend_on_each_other() {
    let files = [
        (LIB, "//! A.\nmod one;\nfn shared() { one::inner::f() }\n"),
        ("crates/a/src/one.rs", "pub mod inner;\npub mod other;\npub struct One;\nfn f() { inner::f() }\n"),
        ("crates/a/src/one/inner.rs", "use super::One;\nuse crate::shared;\npub fn f() { super::other::f() }\n"),
        ("crates/a/src/one/other.rs", "use crate::one::*;\npub fn f() { super::f(); crate::shared() }\n"),
    ];
    assert_found(check, &files, &[]);
    // Children that need each other are a circle, and so are a parent and a module that needs its child.
    let mut siblings = files;
    siblings[3].1 = "use super::inner;\npub fn f() { inner::f() }\n";
    assert_found(check, &siblings, &["crates/a/src/one/inner.rs:3"]);
    let files = [
        (LIB, "//! A.\nmod one;\nmod two;\n"),
        ("crates/a/src/one.rs", "mod inner;\npub struct One;\nfn f() { inner::f() }\n"),
        ("crates/a/src/one/inner.rs", "pub fn f() { crate::two::f() }\n"),
        ("crates/a/src/two.rs", "use crate::one::One;\npub fn f() {}\n"),
    ];
    assert_found(check, &files, &["crates/a/src/one.rs:3"]);
}

#[test]
fn long_cycle_is_reported_by_its_shortest_path() {
    let files = [
        (LIB, "//! A.\nmod a;\nmod b;\nmod c;\nmod d;\n"),
        ("crates/a/src/a.rs", "use crate::b::B;\npub struct A;\n"),
        ("crates/a/src/b.rs", "use crate::c::C;\npub struct B;\n"),
        ("crates/a/src/c.rs", "use crate::{a::A, b::B};\nuse crate::d::D;\npub struct C;\n"),
        ("crates/a/src/d.rs", "pub struct D;\n"),
    ];
    let found = check(&Tree::of(&files));
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].to_string(),
        "crates/a/src/a.rs:1: 3 modules depend on each other in a cycle: `a` takes `crate::b::B`, `b` takes \
         `crate::c::C`, `c` takes `crate::a::A`; move shared code to a module below them"
    );
}

#[test]
fn module_files_are_found_as_by_the_compiler() {
    let files = [
        ("crates/a/src/main.rs", "//! A.\nmod one;\nmod two;\n#[path = \"else/where.rs\"]\nmod three;\n"),
        ("crates/a/src/one/mod.rs", "mod inner;\n"),
        ("crates/a/src/one/inner.rs", "use crate::three::X;\n"),
        ("crates/a/src/two.rs", "mod flat { mod deep; }\n"),
        ("crates/a/src/two/flat/deep.rs", "use crate::one::inner::Y;\n"),
        ("crates/a/src/else/where.rs", "use crate::two::flat::deep::Z;\n"),
    ];
    assert_found(check, &files, &["crates/a/src/one/inner.rs:1"]);
    // Each root is a separate crate.
    let files = [(LIB, "//! A.\nmod one;\n"), ("crates/a/src/one.rs", "fn f("), ("crates/a/src/main.rs", "//! A.\n")];
    assert_found(check, &files, &["crates/a/src/one.rs:1"]);
}
