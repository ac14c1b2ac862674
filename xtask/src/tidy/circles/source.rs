//! Parses the modules of a crate: declarations, imports, and all paths.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Lit, Meta, UseTree};

use crate::tidy::Problem;
use crate::tidy::tree::{Tree, split};

/// Path of a module from the crate root, which is empty.
pub(super) type ModulePath = Vec<String>;

#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

/// The contents of one module, without code that is compiled only for tests.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) file: String,
    pub(super) children: BTreeSet<String>,
    /// Names of declared items, except for modules.
    pub(super) items: BTreeSet<String>,
    /// Imported names, and what they refer to.
    pub(super) imports: BTreeMap<String, Vec<String>>,
    pub(super) globs: Vec<Vec<String>>,
    /// All paths with more than one segment, including imports.
    pub(super) named: Vec<Named>,
}

pub(super) type Modules = BTreeMap<ModulePath, Module>;

pub(super) fn read(tree: &Tree, root: &str) -> Result<Modules, Problem> {
    let mut reader = Reader { tree, modules: Modules::new(), at: Vec::new(), broken: None };
    let (folder, _) = split(root);
    reader.file("", root, folder);
    reader.broken.map_or(Ok(reader.modules), Err)
}

struct Reader<'tree> {
    tree: &'tree Tree,
    modules: Modules,
    /// The module being parsed, and the folder with the files of its submodules.
    at: Vec<(String, String)>,
    /// The first file that cannot be parsed.
    broken: Option<Problem>,
}

impl Reader<'_> {
    fn place(&self) -> ModulePath {
        self.at.iter().skip(1).map(|(name, _)| name.clone()).collect()
    }

    fn here(&mut self) -> &mut Module {
        self.modules.entry(self.place()).or_default()
    }

    /// Parses a file as a submodule of the current one.
    fn file(&mut self, name: &str, path: &str, folder: &str) {
        // Missing files are reported by the compiler and by `forgotten`.
        let Some(text) = self.tree.text(path) else { return };
        match syn::parse_file(text) {
            Ok(file) => {
                self.at.push((name.to_owned(), folder.to_owned()));
                path.clone_into(&mut self.here().file);
                file.items.iter().for_each(|item| self.visit_item(item));
                self.at.pop();
            }
            Err(error) => {
                let line = error.span().start().line;
                self.broken.get_or_insert_with(|| Problem::new(path, line, format!("this is not Rust: {error}")));
            }
        }
    }

    fn name(&mut self, path: Vec<String>, line: usize) {
        if path.len() > 1 {
            self.here().named.push(Named { path, line });
        }
    }

    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: &syn::Ident| {
            let name = name.to_string();
            // `a::{self}` is `a`.
            if name == "self" && !before.is_empty() { before.to_vec() } else { [before, &[name]].concat() }
        };
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before)),
            UseTree::Glob(glob) => {
                let line = glob.star_token.span.start().line;
                self.here().globs.push(before.to_vec());
                self.here().named.push(Named { path: before.to_vec(), line });
            }
            UseTree::Name(name) => self.import_as(with(&name.ident), None, name.ident.span().start().line),
            UseTree::Rename(name) => {
                self.import_as(with(&name.ident), Some(name.rename.to_string()), name.ident.span().start().line);
            }
        }
    }

    fn import_as(&mut self, path: Vec<String>, name: Option<String>, line: usize) {
        let Some(name) = name.or_else(|| path.last().cloned()) else { return };
        if path.len() > 1 || path[0] != name {
            self.here().imports.insert(name, path.clone());
        }
        self.here().named.push(Named { path, line });
    }

    /// Finds paths in the tokens of a macro or an attribute, which are not parsed as Rust. An attribute may name a
    /// function in a string: `deserialize_with = "wire::number"`.
    fn tokens(&mut self, tokens: TokenStream, of_attribute: bool) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) if colons == 2 && !path.is_empty() => path.push(ident.to_string()),
                TokenTree::Ident(ident) => {
                    self.name(std::mem::take(&mut path), line);
                    // A path with leading colons is in another crate.
                    if colons < 2 {
                        path.push(ident.to_string());
                    }
                    line = ident.span().start().line;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => {
                    self.name(std::mem::take(&mut path), line);
                    self.tokens(group.stream(), of_attribute);
                }
                TokenTree::Literal(literal) if of_attribute => {
                    self.text(&literal.to_string(), literal.span().start().line);
                }
                TokenTree::Literal(_) | TokenTree::Punct(_) => self.name(std::mem::take(&mut path), line),
            }
            colons = 0;
        }
        self.name(path, line);
    }

    fn text(&mut self, literal: &str, line: usize) {
        let Some(text) = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return };
        if let Ok(path) = syn::parse_str::<syn::Path>(text) {
            self.name(names(&path), line);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if attributes(item).iter().any(is_for_tests) {
            return;
        }
        // A function inside a function is not an item of the module, but it does no harm here.
        if let Some(name) = declared(item) {
            self.here().items.insert(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !function.attrs.iter().any(is_for_tests) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let name = module.ident.to_string();
        self.here().children.insert(name.clone());
        let folder = self.at.last().map_or("", |(_, folder)| folder).to_owned();
        let own_folder = format!("{folder}{name}/");
        if let Some((_, items)) = &module.content {
            let file = self.here().file.clone();
            self.at.push((name, own_folder));
            self.here().file = file;
            for item in items {
                self.visit_item(item);
            }
            self.at.pop();
            return;
        }
        if let Some(given) = module.attrs.iter().find_map(path_attribute) {
            let own_file = self.here().file.clone();
            let (siblings, _) = split(&own_file);
            let path = format!("{siblings}{given}");
            let folder = split(&path).0.to_owned();
            return self.file(&name, &path, &folder);
        }
        let paths = [format!("{folder}{name}.rs"), format!("{own_folder}mod.rs")];
        if let Some(path) = paths.iter().find(|path| self.tree.has(path)) {
            self.file(&name, path, &own_folder);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.import(&item.tree, &[]);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let line = path.segments.first().map_or(0, |first| first.ident.span().start().line);
            self.name(names(path), line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone(), false);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        match &attribute.meta {
            Meta::List(list) => self.tokens(list.tokens.clone(), true),
            // Links in documentation are not dependencies.
            Meta::Path(_) | Meta::NameValue(_) => {}
        }
    }

    /// `pub(in crate::a)` restricts visibility and imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

fn names(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn declared(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Returns whether an attribute limits its item to test builds.
fn is_for_tests(attribute: &Attribute) -> bool {
    fn needs_test(meta: &Meta) -> bool {
        match meta {
            Meta::Path(path) => path.is_ident("test"),
            Meta::List(list) if list.path.is_ident("all") => inner(list).iter().any(needs_test),
            Meta::List(_) | Meta::NameValue(_) => false,
        }
    }
    fn inner(list: &syn::MetaList) -> Vec<Meta> {
        let parser = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
        list.parse_args_with(parser).map(|metas| metas.into_iter().collect()).unwrap_or_default()
    }
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => inner(list).iter().any(needs_test),
        Meta::List(_) | Meta::Path(_) | Meta::NameValue(_) => attribute.path().is_ident("test"),
    }
}

fn path_attribute(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { return None };
    pair.path.is_ident("path").then(|| text.value())
}
