//! Checks that links between documents have a target.

use super::Problem;
use super::tree::{Tree, extension, split};

#[derive(Debug, PartialEq, Eq)]
struct Link<'a> {
    line: usize,
    target: &'a str,
}

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.sources(&[".md"]) {
        for Link { line, target } in links(text) {
            if !is_elsewhere(target) {
                problems.extend(follow(tree, path, target).map(|message| Problem::new(path, line, message)));
            }
        }
    }
    problems
}

/// Returns what is wrong with a link inside this repository.
fn follow(tree: &Tree, from: &str, target: &str) -> Option<String> {
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() { from.to_owned() } else { resolve(split(from).0, file)? };
    if !path.is_empty() && !tree.has(&path) {
        return Some(format!("the link `{target}` is broken; there is no `{path}`"));
    }
    let text = anchor.and_then(|_| tree.text(&path)).filter(|_| extension(&path) == "md")?;
    let anchor = anchor.filter(|anchor| !anchors(text).iter().any(|known| known == anchor))?;
    Some(format!("the link `{target}` is broken; `{path}` has no heading `#{anchor}`"))
}

/// Returns the path from the root for a relative path, or `None` if it is outside the repository, which is not checked.
fn resolve(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = if relative.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    parts.retain(|part| !part.is_empty());
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn is_elsewhere(target: &str) -> bool {
    let scheme = target.split(['/', '#', '?']).next().unwrap_or_default();
    scheme.contains(':') || target.starts_with("//")
}

/// Returns the links of a Markdown text: `[…](target)`, and `[…]: target` on its own line.
fn links(text: &str) -> Vec<Link<'_>> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let reference = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        if let Some((_, target)) = reference {
            found.push(Link { line: number, target: first_word(target) });
        }
        for (start, _) in line.match_indices("](").filter(|(start, _)| !is_code(line, *start)) {
            let target = line[start + 2..].split(')').next().unwrap_or_default();
            found.push(Link { line: number, target: first_word(target) });
        }
    }
    found.retain(|link| !link.target.is_empty());
    found
}

/// Returns the target without its title and brackets.
fn first_word(target: &str) -> &str {
    target.split_whitespace().next().unwrap_or_default().trim_matches(['<', '>'])
}

fn is_code(line: &str, at: usize) -> bool {
    line[..at].matches('`').count() % 2 == 1
}

/// Returns the lines outside fenced code, with their numbers from 1.
pub(super) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => {
                fence = Some(mark);
                None
            }
            (Some(open), Some(mark)) if open == mark => {
                fence = None;
                None
            }
            (Some(_), _) => None,
            (None, None) => Some((index + 1, line)),
        }
    })
}

/// Returns the anchors of headings, as GitHub generates them.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if (1..=6).contains(&level) && title.starts_with(' ') {
            let slug = slug(title.trim());
            let again = (1..).map(|number| format!("{slug}-{number}"));
            let free = std::iter::once(slug.clone()).chain(again).find(|name| !found.contains(name));
            found.extend(free);
        }
        for (start, _) in line.match_indices("id=\"") {
            found.extend(line[start + 4..].split('"').next().map(str::to_owned));
        }
    }
    found
}

fn slug(title: &str) -> String {
    let mut visible = String::new();
    let mut rest = title;
    // Only the text of a link in a heading counts.
    while let Some((before, after)) = rest.split_once("](") {
        visible.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    visible.push_str(rest);
    let current = visible.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    current.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::{anchors, check, links, resolve};

    #[test]
    fn links_must_lead_to_files_folders_or_headings() {
        let guide = ("docs/guide.md", "# Guide\n\n## How it works: a *short* tour\n\n## Notes\n\n## Notes\n");
        let good = "[a](docs/guide.md) [b](docs/) [c](#readme) [d](./docs/guide.md#how-it-works-a-short-tour)\n\
                    [e](https://example.org/x.md#y) [f](docs/guide.md#notes-1) [g](../elsewhere) `[h](lost.md)`\n\
                    ```\n[i](lost.md)\n```\n# Readme\n[j]: docs/guide.md \"title\"\n";
        assert_found(check, &[guide, ("README.md", good)], &[]);
        let bad = "[a](docs/lost.md)\n[b](docs/guide.md#lost)\n[c](#lost)\n[d]: lost.md\n";
        assert_found(
            check,
            &[guide, ("README.md", bad)],
            &["README.md:1", "README.md:2", "README.md:3", "README.md:4"],
        );
        let up = "[a](../README.md) [b](../lost.md) [c](/README.md)\n";
        assert_found(check, &[("README.md", ""), ("docs/a.md", up)], &["docs/a.md:1"]);
    }

    #[test]
    fn relative_paths_are_resolved() {
        assert_eq!(resolve("docs/adr/", "../a.md").as_deref(), Some("docs/a.md"));
        assert_eq!(resolve("docs/", "./b/../a.md").as_deref(), Some("docs/a.md"));
        assert_eq!(resolve("docs/", "../../a.md"), None);
        assert_eq!(resolve("docs/", "/a.md").as_deref(), Some("a.md"));
    }

    #[test]
    fn heading_anchors_match_github() {
        let text =
            "# `GET /v1/clock`\n## Why [two](x.md) times?\n## C2SP & RFC 6962\n#no heading\n<a id=\"here\"></a>\n";
        assert_eq!(anchors(text), ["get-v1clock", "why-two-times", "c2sp--rfc-6962", "here"]);
    }

    #[test]
    fn link_titles_and_brackets_are_not_part_of_the_target() {
        let targets: Vec<&str> = links("![a](a.png \"A\") [b](<b.md>)\n").into_iter().map(|link| link.target).collect();
        assert_eq!(targets, ["a.png", "b.md"]);
    }
}
