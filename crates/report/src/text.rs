//! Text that fits: widths as a terminal shows them, wrapping, what a stranger's text may hold.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

/// Columns that the text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Text from outside (names of files, messages of libraries) in one line and without
/// characters that steer a terminal or turn the direction of writing: white space becomes a
/// space, the others their escape.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let steers = |c: char| {
        c.is_control()
            || matches!(c,
                '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_whitespace() => out.push(' '),
            c if steers(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The text with at most `most` characters; an ellipsis says that there was more.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    Cow::Owned(kept + "…")
}

/// The end of the text in at most `most` columns: ids differ at their ends.
pub(crate) fn end_of(text: &str, most: usize) -> Cow<'_, str> {
    if width(text) <= most {
        return Cow::Borrowed(text);
    }
    let fits = |start: usize| width(text.get(start..).unwrap_or_default()) < most;
    let start = text.char_indices().map(|(at, _)| at).find(|at| fits(*at));
    Cow::Owned(format!("…{}", start.and_then(|at| text.get(at..)).unwrap_or_default()))
}

/// Appends the text and spaces up to `columns`, on the side that leaves it aligned.
pub(crate) fn pad(out: &mut String, text: &str, columns: usize, right: bool) {
    let spaces = columns.saturating_sub(width(text));
    if right {
        let _ = write!(out, "{:spaces$}{text}", "");
    } else {
        let _ = write!(out, "{text}{:spaces$}", "");
    }
}

/// Appends lines of at most `most` columns, broken at spaces: the first begins with `first`,
/// the others with as many spaces. A word that is longer has a line of its own; a per cent
/// sign stays with its number.
pub(crate) fn wrap(out: &mut String, first: &str, text: &str, most: Option<usize>) {
    let glued = text.replace(" %", "\u{a0}%");
    let words = glued.split(' ').filter(|word| !word.is_empty());
    wrap_items(out, first, 1, words, most);
}

/// As [`wrap`], but broken only between `items`, which have `gap` spaces between them.
pub(crate) fn wrap_items<'a>(
    out: &mut String,
    first: &str,
    gap: usize,
    items: impl IntoIterator<Item = &'a str>,
    most: Option<usize>,
) {
    let indent = width(first);
    let most = most.unwrap_or(usize::MAX);
    out.push_str(first);
    let mut column = indent;
    for (at, word) in items.into_iter().enumerate() {
        let wide = width(word);
        if at > 0 {
            if column.saturating_add(gap + wide) > most {
                let _ = write!(out, "\n{:indent$}", "");
                column = indent;
            } else {
                let _ = write!(out, "{:gap$}", "");
                column += gap;
            }
        }
        out.extend(word.chars().map(|c| if c == '\u{a0}' { ' ' } else { c }));
        column += wide;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_steers_is_made_harmless() {
        for (text, expected) in [
            ("serde_json", "serde_json"),
            ("größe 数据", "größe 数据"),
            ("two\nlines\tand", "two lines and"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("\u{202e}gnp.exe", "\\u{202e}gnp.exe"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn widths_are_those_of_a_terminal() {
        let mut out = String::new();
        pad(&mut out, "数据", 6, false);
        pad(&mut out, "µs", 4, true);
        assert_eq!(out, "数据    µs");
        assert_eq!(end_of("json/serde_json/compact", 10), "…n/compact");
        assert_eq!(end_of("数据数据", 5), "…数据");
        assert_eq!(end_of("short", 5), "short");
        assert_eq!(shortened("größer", 4), "grö…");
        assert_eq!(shortened("groß", 4), "groß");
    }

    #[test]
    fn lines_break_at_spaces_and_hang() {
        let mut out = String::new();
        wrap(&mut out, "note  ", "one two three incomprehensibilities four", Some(15));
        wrap(&mut out, "- ", "all in one line", None);
        wrap(&mut out, "", "within 3.5 % of it", Some(10));
        assert_eq!(
            out,
            "note  one two\n      three\n      incomprehensibilities\n      four\n- all in one line\nwithin\n3.5 % of\nit\n"
        );
    }
}
