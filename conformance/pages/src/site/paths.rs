//! Where things are on the site and in the repository, as texts.

/// The errata have a page of their own.
pub(super) const ERRATA: &str = "golden/errata.md";

/// Where a document is on the site; pictures and other documents are to it as in the repository. Pages of HTML are at the root.
pub(super) fn page_of(path: &str) -> String {
    if path == ERRATA {
        return "errata.html".to_owned();
    }
    // Beside the document of the same name it would be one file where names differ in more than their case.
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.rsplit_once('.').is_some_and(|(_, extension)| extension == "html") {
        return name.to_owned();
    }
    format!("docs/{}.html", path.strip_suffix(".md").unwrap_or(path))
}

pub(super) fn is_outside(link: &str) -> bool {
    ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme))
}

/// The address of a text that is one, or that names a thread of GitHub.
pub(super) fn outside(text: &str) -> Option<String> {
    if is_outside(text) {
        return Some(text.to_owned());
    }
    let (repository, number) = text.split_once('#')?;
    let (owner, name) = repository.split_once('/')?;
    let is_name = |name: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !name.is_empty() && name.chars().all(fits)
    };
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    // GitHub leads from the number of an issue to the pull request, if it is one.
    (is_name(owner) && is_name(name) && is_number).then(|| format!("https://github.com/{repository}/issues/{number}"))
}

/// From one page to another, with the place there.
pub(super) fn relative(from: &str, to: &str) -> String {
    let (page, place) = to.find('#').map_or((to, ""), |at| to.split_at(at));
    if page == from {
        return if place.is_empty() { page.rsplit('/').next().unwrap_or(page).to_owned() } else { place.to_owned() };
    }
    let mut ups: Vec<&str> = from.split('/').collect();
    let mut downs: Vec<&str> = page.split('/').collect();
    while ups.len() > 1 && downs.len() > 1 && ups[0] == downs[0] {
        ups.remove(0);
        downs.remove(0);
    }
    "../".repeat(ups.len() - 1) + &downs.join("/") + place
}

/// A path that a document names, from the root of the repository.
pub(super) fn joined(document: &str, path: &str) -> String {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_leads_to_another() {
        for (from, to, expected) in [
            ("index.html", "clauses.html", "clauses.html"),
            ("index.html", "cases/agent/ids.html#a", "cases/agent/ids.html#a"),
            ("cases/agent/ids.html", "index.html", "../../index.html"),
            ("cases/agent/ids.html", "cases/agent/end.html#b", "end.html#b"),
            ("cases/agent/ids.html", "cases/agent/ids.html#b", "#b"),
            ("cases/agent/ids.html", "cases/agent/ids.html", "ids.html"),
            ("docs/conformance/README.html", "docs/golden/README.html", "../golden/README.html"),
        ] {
            assert_eq!(relative(from, to), expected, "{from} → {to}");
        }
        assert_eq!(joined("conformance/README.md", "../golden/./errata.md"), "golden/errata.md");
        assert_eq!(joined("README.md", "golden/"), "golden");
    }

    #[test]
    fn threads_and_addresses_are_known() {
        assert_eq!(outside("vercel/ai#8132").as_deref(), Some("https://github.com/vercel/ai/issues/8132"));
        assert_eq!(outside("https://example.com/a#b").as_deref(), Some("https://example.com/a#b"));
        for text in ["a/b", "a/b#", "a/b#c", "a#1", "and/or b#1", "a/b/c#1", ""] {
            assert_eq!(outside(text), None, "{text}");
        }
    }
}
