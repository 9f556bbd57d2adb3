//! Checks that the links of documents lead to files and headings that exist.

use super::prose::lines_of_prose;
use super::root;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// The address of the repository's files, which packaged documents use.
const FILES: &str = "https://github.com/threadspec/threadspec/blob/main/";

/// Returns the lines of a page without its code.
fn without_code(page: &str) -> String {
    let text: String = lines_of_prose(page).flat_map(|(_, line)| [line, "\n"]).collect();
    text.split('`').step_by(2).collect()
}

/// Returns the targets of the links and pictures of a page.
fn targets(page: &str) -> Vec<String> {
    let page = without_code(page);
    let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let pictures = ["src=\"", "srcset=\""].into_iter().flat_map(|name| page.split(name).skip(1));
    links.chain(pictures.filter_map(|rest| rest.split('"').next())).map(str::to_owned).collect()
}

/// Returns the anchors of a page, as GitHub makes them of headings, and those that are written out.
fn anchors(page: &str) -> Vec<String> {
    let lines = lines_of_prose(page).map(|(_, line)| line);
    let headings = lines.filter(|line| line.starts_with('#')).map(|line| {
        let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
        line.trim_start_matches('#').trim().chars().filter(kept).collect::<String>().to_lowercase().replace(' ', "-")
    });
    let written = page.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    headings.chain(written).collect()
}

/// Resolves a path that a page names, from the root of the repository.
fn resolved(page: &Path, target: &str) -> PathBuf {
    let mut path = page.parent().map(Path::to_path_buf).unwrap_or_default();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(part) => path.push(part),
            _ => {}
        }
    }
    path
}

/// Returns what is wrong with a target of a page.
fn fault(page: &str, target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let file = match path.strip_prefix(FILES) {
        Some(file) => PathBuf::from(file),
        None if path.contains("://") || path.starts_with("mailto:") => return None,
        None if path.is_empty() => PathBuf::from(page),
        None => resolved(Path::new(page), path),
    };
    let Ok(text) = fs::read_to_string(root().join(&file)) else {
        return (!root().join(&file).exists()).then(|| format!("{page}: there is no {}", file.display()));
    };
    let is_page = file.extension().is_some_and(|extension| extension == "md");
    let is_missing = |anchor: &&str| is_page && anchors(&text).iter().all(|known| known != anchor);
    anchor.filter(is_missing).map(|anchor| format!("{page}: {} has no heading `{anchor}`", file.display()))
}

#[test]
fn links_lead_somewhere() {
    let output = Command::new("git").args(["ls-files", "*.md"]).current_dir(root()).output().expect("Git runs");
    let pages = String::from_utf8(output.stdout).expect("UTF-8");
    let (mut wrong, mut links) = (Vec::new(), 0);
    for page in pages.lines() {
        let text = fs::read_to_string(root().join(page)).expect("the page is readable");
        for target in targets(&text) {
            links += 1;
            wrong.extend(fault(page, &target));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(links > 100, "{links}");
}

#[test]
fn a_dead_link_is_found() {
    for (target, is_dead) in [
        ("golden/README.md#adding-a-case", false),
        ("golden/README.md#removing-a-case", true),
        ("golden/none.md", true),
        ("golden", false),
        ("https://example.org/none.md#none", false),
        ("https://github.com/threadspec/threadspec/blob/main/golden/none.json", true),
    ] {
        assert_eq!(fault("README.md", target).is_some(), is_dead, "{target}");
    }
    assert_eq!(targets("[a](b.md) `[c](d)`\n```\n[e](f)\n```\n<img src=\"g\">"), ["b.md", "g"]);
}
