/// How many characters of a cause distinguish it from others.
const MAX_CHARS: usize = 160;

/// Words after which a number is the kind of a failure, and not a figure.
const BEFORE_CODES: [&str; 5] = ["code", "error", "exit", "http", "status"];

/// What failures for one reason have in common: their cause, with `#` in place of each number, id and address, so that
/// `timed out after 31 s` and `timed out after 32 s` are one. A number after `HTTP`, `status`, `code`, `error` or `exit` stays.
/// Control characters are spaces, and a cause without a text is `(no text)`. At most 160 characters.
///
/// ```
/// use article_webhook_inbox::cause_group;
///
/// assert_eq!(cause_group("job_7c1e4a52: timed out after 31.5 s"), "#: timed out after # s");
/// assert_eq!(cause_group("HTTP 503 from 10.0.0.7:8080"), "HTTP 503 from #");
/// assert_ne!(cause_group("status: 404"), cause_group("status: 500"));
/// ```
#[must_use]
pub fn cause_group(cause: &str) -> String {
    let mut group = String::new();
    let mut before = String::new();
    let is_part = |part: char| part.is_alphanumeric() || matches!(part, '_' | '-' | '.' | ':');
    for word in words(cause, is_part) {
        // A full stop or a colon at the end is of the sentence.
        let bare = word.trim_end_matches(['.', ':', '-']);
        let is_number = bare.chars().any(|part| part.is_ascii_digit());
        let is_code = bare.parse::<u16>().is_ok() && BEFORE_CODES.contains(&&*before);
        match is_number && !is_code {
            true => {
                group.push('#');
                group.push_str(&word[bare.len()..]);
            }
            false => group.push_str(word),
        }
        if bare.starts_with(is_part) {
            before = bare.to_lowercase();
        }
    }
    // A form of a page sends no other line break than its own, and PostgreSQL stores no U+0000 in a text.
    let group = group.replace(char::is_control, " ");
    if group.trim().is_empty() {
        return "(no text)".to_owned();
    }
    match group.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => group[..end].to_owned(),
        None => group,
    }
}

/// The runs of characters that are parts of words, and of those that are not.
fn words(text: &str, is_part: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let kind = is_part(rest.chars().next()?);
        let end = rest.find(|part| is_part(part) != kind).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ids_and_addresses_are_folded_and_codes_are_not() {
        for (cause, group) in [
            ("", "(no text)"),
            ("no network", "no network"),
            ("timed out after 31 s", "timed out after # s"),
            ("the handler was stopped after 31.4s.", "the handler was stopped after #."),
            ("insert 7c1e4a52-8a1b-4f: duplicate key", "insert #: duplicate key"),
            ("line 1 column 559", "line # column #"),
            ("http://10.0.0.7:8080/a answered status 503", "http://#/a answered status 503"),
            ("error 1045 (28000)", "error 1045 (#)"),
            ("exit code: 101", "exit code: 101"),
            ("é – 5 €", "é – # €"),
            ("a\0b\nc", "a b c"),
        ] {
            assert_eq!(cause_group(cause), group);
            assert_eq!(cause_group(group), group, "a group is its own");
        }
        assert_eq!(cause_group(&"é".repeat(1_000)).chars().count(), MAX_CHARS);
    }
}
