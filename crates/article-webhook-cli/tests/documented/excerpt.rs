//! Whether a command prints what the page shows.

/// The first line of an excerpt that was not printed where it should be. A line `…` stands for any lines.
pub(crate) fn differs(shown: &[String], printed: &str) -> Option<String> {
    let mut printed = printed.lines().map(str::trim_end);
    let mut is_left_out = false;
    for line in shown.iter().map(|line| line.trim_end()) {
        if line == "…" {
            is_left_out = true;
            continue;
        }
        let is_there = match is_left_out {
            true => printed.any(|it| it == line),
            false => printed.next() == Some(line),
        };
        if !is_there {
            return Some(line.to_owned());
        }
        is_left_out = false;
    }
    let rest = printed.next().filter(|_| !is_left_out && !shown.is_empty());
    rest.map(|line| format!("{line}, which it does not show"))
}

#[test]
fn an_excerpt_that_is_not_what_is_printed_is_found_out() {
    let printed = "one\ntwo  \nthree\nfour\n";
    for (shown, differing) in [
        (vec![], None),
        (vec!["one", "two", "three", "four"], None),
        (vec!["…", "two", "…", "four"], None),
        (vec!["one", "…"], None),
        (vec!["one", "three", "…"], Some("three")),
        (vec!["…", "two", "four"], Some("four")),
        (vec!["…", "three", "…", "two"], Some("two")),
        (vec!["…", "three"], Some("four, which it does not show")),
    ] {
        let lines: Vec<_> = shown.iter().map(|&line| line.to_owned()).collect();
        assert_eq!(differs(&lines, printed).as_deref(), differing, "{shown:?}");
    }
}
