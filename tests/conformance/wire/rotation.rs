use article_webhook::{AuthToken, Targets};

use crate::{
    call_log::Ledger,
    connection::Connection,
    request::{TOKEN, delivery},
    site::{Site, Style},
    targets::server::{Framework, Mount},
};

const NEW: &str = "Bearer rotated-a84be02f71c69d";

fn token(token: &str) -> AuthToken {
    AuthToken::new(token).expect("the token is a legal one")
}

fn is_let_in(connection: &mut Connection, style: Style, token: &str) -> bool {
    let request = delivery().with("Authorization", token);
    connection.send(request.wire(&Site::Default.path(style)));
    match connection.response().map(|answer| answer.status) {
        Ok(200 | 204) => true,
        Ok(401) => false,
        other => panic!("neither let in nor refused: {other:?}"),
    }
}

#[test]
fn replaced_tokens_count_from_the_next_request_on_an_open_connection_too() {
    for framework in Framework::ALL {
        for style in framework.styles() {
            let ledger = Ledger::default();
            let mount = Mount::of(Site::Default, &ledger);
            let receiver = mount.receiver.clone();
            let server = framework.serve(vec![mount], ledger);
            let mut open = server.connect();
            let mut let_in = |token| {
                let on_new = is_let_in(&mut server.connect(), style, token);
                assert_eq!(is_let_in(&mut open, style, token), on_new);
                on_new
            };

            assert!(let_in(TOKEN));
            assert!(!let_in(NEW));

            let both = Targets::new("old", token(TOKEN)).and_then(|old| old.and("new", token(NEW)));
            receiver.replace_targets(both.expect("the tokens differ"));
            assert!(let_in(TOKEN));
            assert!(let_in(NEW));

            receiver.replace_targets(token(NEW));
            assert!(!let_in(TOKEN));
            assert!(let_in(NEW));
        }
    }
}
