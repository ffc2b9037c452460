//! Listings of folders: a page for people and programs that read links, or JSON.

use zarr_array::traits::{Prefix, StoreResult};
use zarr_array::{Storage, block_on};

use super::object::waiting;
use super::path::{encoded, is_hidden};
use crate::out::json;
use crate::out::table::bytes;

/// The children of a folder that are served, in the order of their names.
#[derive(Debug)]
pub(super) struct Listing {
    folders: Vec<String>,
    objects: Vec<(String, Option<u64>)>,
}

impl Listing {
    /// Lists a folder. Returns `None` if nothing is in it.
    pub(super) async fn read(storage: &Storage, folder: &Prefix) -> StoreResult<Option<Self>> {
        let (storage, prefix) = (storage.clone(), folder.clone());
        let dir = waiting(move || block_on(storage.list_dir(&prefix))).await?;
        let below =
            |text: &str| text.strip_prefix(folder.as_str()).map(|name| name.trim_end_matches('/').to_owned());
        let shown = |name: &String| !name.is_empty() && !is_hidden(name);
        let mut folders: Vec<_> =
            dir.prefixes.iter().filter_map(|prefix| below(prefix.as_str())).filter(shown).collect();
        let objects =
            dir.objects.iter().filter_map(|object| Some((below(object.key.as_str())?, object.meta.size)));
        let mut objects: Vec<_> = objects.filter(|(name, _)| shown(name)).collect();
        folders.sort_unstable();
        objects.sort_unstable();
        Ok((!folders.is_empty() || !objects.is_empty()).then_some(Self { folders, objects }))
    }

    pub(super) fn to_json(&self) -> String {
        let objects = self
            .objects
            .iter()
            .map(|(name, size)| json::object([("name", name.into()), ("bytes", (*size).into())]));
        let folders = self.folders.iter();
        json::pretty(&json::document([("folders", folders.collect()), ("objects", objects.collect())]).into())
    }

    /// Makes the page. `path` is the decoded path of the folder below the root, for its title.
    pub(super) fn to_html(&self, path: &str, is_root: bool) -> String {
        let title = escaped(&format!("/{path}"));
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\n\
             <style>:root{{color-scheme:light dark;font-family:system-ui}}td+td{{text-align:right;padding-left:2em}}</style>\n\
             <h1>{title}</h1>\n<table>\n"
        );
        page += match is_root {
            true => "<tr><td><a href=\"/.page/\">show as a page</a><td>\n",
            false => "<tr><td><a href=\"../\">../</a><td>\n",
        };
        let folders = self.folders.iter().map(|name| (name, "/", None));
        let objects = self.objects.iter().map(|(name, size)| (name, "", *size));
        for (name, end, size) in folders.chain(objects) {
            let size = size.map(|size| bytes(size.into())).unwrap_or_default();
            let (link, name) = (encoded(name), escaped(name));
            page += &format!("<tr><td><a href=\"{link}{end}\">{name}{end}</a><td>{size}\n");
        }
        page + "</table>\n"
    }
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_change_the_page() {
        let name = "<script>\"&".to_owned();
        let listing = Listing { folders: vec![name.clone()], objects: vec![("a:b".to_owned(), Some(3))] };
        let page = listing.to_html(&name, false);
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("<a href=\"%3Cscript%3E%22%26/\">&lt;script&gt;&quot;&amp;/</a>"), "{page}");
        assert!(page.contains("<a href=\"a%3Ab\">a:b</a><td>3 bytes"), "{page}");
    }
}
