//! The number of rows, so that an edit of the table does not lose some unnoticed.

use std::collections::BTreeSet;

use crate::{print, row::Row, site::Style, table, targets::server::Framework, tokens, wire};

/// Whether the sender gets anything but a 2xx in any style.
fn is_refused(row: &Row) -> bool {
    let styles = [Style::Receive, Style::Extract].into_iter();
    let mut expected = styles.filter_map(|style| row.expected(Framework::Axum, style));
    expected.any(|exchange| exchange.answer.is_ok_and(|answer| !answer.starts_with('2')))
}

fn refused(rows: &[Row]) -> usize {
    rows.iter().filter(|row| is_refused(row)).count()
}

#[test]
fn no_situation_is_lost() {
    let rows = table::rows().len();
    let tokens = tokens::refused().len();
    let authorizations = refused(&table::authorizations());
    let heads = refused(&table::heads());
    let bodies = refused(&table::bodies());
    let wire = wire::refused().len();
    print(&format!(
        "conformance: refused: {tokens} tokens when built, {authorizations} Authorization \
         headers, {heads} heads, {bodies} bodies, {wire} requests on the wire"
    ));
    assert!(rows >= 950, "{rows}");
    assert!(tokens >= 85, "{tokens}");
    assert!(tokens::accepted().len() >= 20);
    assert!(authorizations >= 100, "{authorizations}");
    assert!(heads >= 220, "{heads}");
    assert!(bodies >= 390, "{bodies}");
    assert!(wire >= 200, "{wire}");
}

#[test]
fn each_token_and_each_request_on_the_wire_is_in_its_table_once() {
    let each_is_new = |situations: Vec<&'static str>| {
        let mut known = BTreeSet::new();
        for situation in situations {
            assert!(known.insert(situation), "{situation:?}");
        }
    };
    each_is_new(wire::refused());
    each_is_new(tokens::refused().iter().map(|row| row.situation).collect());
    let mut tokens = BTreeSet::new();
    for row in tokens::refused() {
        assert!(tokens.insert(row.token), "{:?}", row.situation);
    }
}
