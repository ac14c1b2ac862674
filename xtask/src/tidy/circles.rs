//! Finds circular dependencies between the modules of a crate.
//!
//! A module and its submodules may depend on each other, because they are one unit in several files. All other modules
//! of a crate must have an order in which they can be read, tested and moved. So uses of parent modules do not count,
//! and all other uses do. A use counts for the module that declares the name, wherever it was imported from, so that
//! re-exports neither hide a dependency nor add one.

mod source;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Problem;
use super::tree::{Tree, is_test, split};
use source::{ModulePath, Modules, Named};

/// Maximum length of an import chain that is followed to a declaration.
const IMPORTS_FOLLOWED_MAX: usize = 32;

/// For each module, the modules it depends on, each with one of the names it uses.
type Needs<'a> = BTreeMap<&'a ModulePath, BTreeMap<&'a ModulePath, &'a Named>>;

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let roots = tree.sources(&[".rs"]).map(|(path, _)| path).filter(|path| is_root(path));
    roots
        .flat_map(|root| source::read(tree, root).map_or_else(|broken| vec![broken], |modules| circles(&modules)))
        .collect()
}

fn is_root(path: &str) -> bool {
    let (folder, file) = split(path);
    !is_test(path) && (matches!(file, "lib.rs" | "main.rs") || folder.ends_with("/src/bin/"))
}

fn circles(modules: &Modules) -> Vec<Problem> {
    let needs = needs(modules);
    let mut reported = BTreeSet::new();
    let mut problems = Vec::new();
    for module in needs.keys() {
        if reported.contains(module) {
            continue;
        }
        let Some(way) = shortest_circle(&needs, module) else { continue };
        let mut circle = reached(&needs, module);
        circle.retain(|other| reached(&needs, other).contains(module));
        problems.push(problem(modules, &needs, &way, circle.len()));
        reported.extend(circle);
    }
    problems
}

fn problem(modules: &Modules, needs: &Needs<'_>, way: &[&ModulePath], modules_count: usize) -> Problem {
    let step =
        |pair: &[&ModulePath]| format!("`{}` takes `{}`", path_text(pair[0]), needs[pair[0]][pair[1]].path.join("::"));
    let steps: Vec<String> = way.windows(2).map(step).collect();
    let message = format!(
        "{modules_count} modules depend on each other in a cycle: {}; move shared code to a module below them",
        steps.join(", ")
    );
    Problem::new(&modules[way[0]].file, needs[way[0]][way[1]].line, message)
}

fn path_text(module: &ModulePath) -> String {
    if module.is_empty() { "crate".to_owned() } else { module.join("::") }
}

/// Returns the dependencies of each module, except for its parents.
fn needs(modules: &Modules) -> Needs<'_> {
    let mut needs = Needs::new();
    for (path, module) in modules {
        let needed = needs.entry(path).or_default();
        for named in &module.named {
            let home = home(modules, path, &named.path, IMPORTS_FOLLOWED_MAX);
            if let Some(home) = home.filter(|home| !path.starts_with(home)) {
                needed.entry(home).or_insert(named);
            }
        }
    }
    needs
}

/// Returns all direct and indirect dependencies of a module.
fn reached<'a>(needs: &Needs<'a>, from: &ModulePath) -> BTreeSet<&'a ModulePath> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&ModulePath> = needs[from].keys().copied().collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(needs[module].keys().copied());
        }
    }
    reached
}

/// Returns a shortest circle through a module, with the module at both ends.
fn shortest_circle<'a>(needs: &Needs<'a>, from: &'a ModulePath) -> Option<Vec<&'a ModulePath>> {
    let mut ways = VecDeque::from([vec![from]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for module in needs[way[way.len() - 1]].keys().copied() {
            if module == from || seen.insert(module) {
                let longer = [way.as_slice(), &[module]].concat();
                if module == from {
                    return Some(longer);
                }
                ways.push_back(longer);
            }
        }
    }
    None
}

/// Returns the module of the crate that declares what a path refers to.
fn home<'a>(modules: &'a Modules, from: &[String], path: &[String], followed_max: usize) -> Option<&'a ModulePath> {
    let followed_max = followed_max.checked_sub(1)?;
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => inside(modules, &[], rest, followed_max),
        "self" => inside(modules, from, rest, followed_max),
        "super" => {
            let mut around = from;
            let mut rest = path;
            while let Some((_, after)) = rest.split_first().filter(|(first, _)| *first == "super") {
                (around, rest) = (around.split_last()?.1, after);
            }
            inside(modules, around, rest, followed_max)
        }
        _ => provides(modules, from, first, followed_max).then(|| inside(modules, from, path, followed_max))?,
    }
}

/// Returns whether a module has a name: declared, imported, or imported by a glob.
fn provides(modules: &Modules, module: &[String], name: &str, followed_max: usize) -> bool {
    let Some(followed_max) = followed_max.checked_sub(1) else { return false };
    let Some(module_source) = modules.get(module) else { return false };
    let is_own = module_source.children.contains(name)
        || module_source.items.contains(name)
        || module_source.imports.contains_key(name);
    is_own || from_glob(modules, module, name, followed_max).is_some()
}

/// Returns the module that provides a name through a glob import.
fn from_glob<'a>(modules: &'a Modules, module: &[String], name: &str, followed_max: usize) -> Option<&'a ModulePath> {
    let mut imported = modules.get(module)?.globs.iter().filter_map(|glob| home(modules, module, glob, followed_max));
    imported.find(|other| *other != module && provides(modules, other, name, followed_max))
}

/// Returns the module that declares the item at a path inside a module.
fn inside<'a>(modules: &'a Modules, at: &[String], path: &[String], followed_max: usize) -> Option<&'a ModulePath> {
    let followed_max = followed_max.checked_sub(1)?;
    let (place, module) = modules.get_key_value(at)?;
    let Some((name, rest)) = path.split_first() else { return Some(place) };
    // A module and a function may have the same name. A path that ends with it refers to the function.
    if rest.is_empty() && module.items.contains(name) {
        return Some(place);
    }
    if module.children.contains(name) {
        let child = [at, std::slice::from_ref(name)].concat();
        return inside(modules, &child, rest, followed_max);
    }
    if let Some(import) = module.imports.get(name) {
        // An import from another crate counts as declared here.
        return home(modules, at, &[import, rest].concat(), followed_max).or(Some(place));
    }
    if module.items.contains(name) {
        return Some(place);
    }
    // A name that no module declares was generated by a macro of this module.
    from_glob(modules, at, name, followed_max).map_or(Some(place), |other| inside(modules, other, path, followed_max))
}

#[cfg(test)]
mod tests;
