//! Tokens that cannot be right are refused when they are built, also those of a file, and what says so holds nothing of
//! them.

use std::{env, fs, path::PathBuf, process};

use article_webhook::{AuthToken, Receiver, TokenError};

use crate::tokens::{SECRET, Token, accepted, refused};

/// Whether any four letters of the secret stand in the text.
fn leaks(text: &str) -> bool {
    SECRET.as_bytes().windows(4).any(|part| text.as_bytes().windows(4).any(|own| own == part))
}

/// The errors are compared by what they say, with their fields.
fn is_refused(result: Result<AuthToken, TokenError>, row: &Token) {
    let Token { situation, token, fate } = row;
    let found = result.err().unwrap_or_else(|| panic!("{situation}: accepted"));
    let [shown, debug, pretty] = [format!("{found}"), format!("{found:?}"), format!("{found:#?}")];
    assert_eq!(debug, *fate, "{situation}");
    for text in [shown, debug, pretty] {
        assert!(!leaks(&text), "{situation}: {text}");
        assert!(!token.contains(SECRET) || !text.contains(token), "{situation}: {text}");
    }
}

#[test]
fn a_token_that_cannot_be_right_is_refused() {
    for row in refused() {
        is_refused(AuthToken::new(&row.token), &row);
    }
}

#[test]
fn a_file_is_checked_by_the_same_rules() {
    let path = env::temp_dir().join(format!("article-webhook-tokens-{}", process::id()));
    let read = |content: &[u8]| {
        fs::write(&path, content).expect("there is a folder for temporary files");
        AuthToken::from_file(&path)
    };
    for row in refused() {
        let ended = |end: &str| [&row.token, end].concat();
        is_refused(read(ended("\r\n").as_bytes()), &row);
        // Together with a carriage return, it would be one line end, which belongs to the file.
        if !row.token.ends_with('\r') {
            is_refused(read(ended("\n").as_bytes()), &row);
        }
    }
    for bytes in
        [&b"Bearer \xff"[..], b"\xff\xfeB\0e\0a\0r\0", b"\x1f\x8b\x08\0", b"Bearer caf\xe9\n"]
    {
        let error = read(bytes).expect_err("it is no UTF-8");
        assert!(matches!(error, TokenError::ForbiddenCharacter), "{bytes:?}: {error}");
    }
    fs::remove_file(&path).expect("the file is there");
    for unreadable in [path, env::temp_dir(), PathBuf::new()] {
        let error = AuthToken::from_file(&unreadable).expect_err("it is no file");
        assert!(matches!(error, TokenError::Unreadable { .. }), "{unreadable:?}: {error}");
    }
}

#[test]
fn a_token_that_is_unusual_opens_the_door_for_itself_alone() {
    for Token { situation, token, .. } in accepted() {
        let built = AuthToken::new(&token).unwrap_or_else(|error| panic!("{situation}: {error}"));
        assert!(!leaks(&format!("{built:?} {built:#?}")), "{situation}");
        let receiver = Receiver::new(built);
        let opens = |presented: &str| {
            let content = ("Content-Type", "application/json");
            receiver.open(&[("Authorization", presented), content]).is_ok()
        };
        assert!(opens(&token), "{situation}");
        assert!(opens(&[" ", &token, "\t"].concat()), "{situation}");
        assert!(!opens(&[&token, "x"].concat()), "{situation}");
        assert!(!opens(&token[1..]), "{situation}");
        assert!(!opens(&["Bearer ", &token].concat()), "{situation}");
        assert!(!opens(&token.replace('e', "E")) || !token.contains('e'), "{situation}");
    }
}
