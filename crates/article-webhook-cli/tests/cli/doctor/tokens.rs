use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use super::{doctor, found};
use crate::tool::{skipped, text};

#[test]
fn a_token_that_is_weak_quoted_or_a_placeholder_is_found_and_not_shown() {
    for (token, code, severity) in [
        ("Bearer 0d9c4b7fa3e81625c7", "token.sound", "ok"),
        ("Bearer 0d9c4b7f", "token.short", "warn"),
        ("Bearer abababababababababab", "token.weak", "warn"),
        ("0d9c4b7fa3e81625c7", "token.no_scheme", "warn"),
        ("'Bearer 0d9c4b7fa3e81625c7'", "token.quoted", "fail"),
        ("Bearer \"0d9c4b7fa3e81625c7\"", "token.quoted", "warn"),
        ("Bearer changeme", "token.placeholder", "fail"),
        ("Bearer your-token-here", "token.placeholder", "fail"),
        ("Bearer ${WEBHOOK_TOKEN}", "token.placeholder", "fail"),
        ("Bearer 5f2b9c0e7a1d4e38", "token.example", "fail"),
        ("Bearer my-secret-token-1234", "token.example", "fail"),
        ("Bearer ", "token.invalid", "fail"),
        ("Bearer Bearer 0d9c4b7fa3e81625c7", "token.invalid", "fail"),
    ] {
        let found = found(doctor(&[]).env("ARTICLE_WEBHOOK_TOKEN", token));
        found.has(code, severity);
        assert_eq!(found.of("token.sound") == "ok", code == "token.sound", "{token}");
        if (code, severity) == ("token.quoted", "warn") {
            let fix = "remove the quotation marks, unless they are part of the auth_token";
            let removed = token.replace('"', "");
            let removed = super::found(doctor(&[]).env("ARTICLE_WEBHOOK_TOKEN", removed));
            found.is_cured(code, severity, fix, &removed);
        }
        for secret in ["0d9c4b7f", "abababab", "5f2b9c0e", "1234"] {
            assert!(!found.out.contains(secret), "{token}: {}", found.out);
        }
    }
}

#[test]
fn a_file_with_a_secret_that_all_users_can_read_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let may_enter = |folder: &Path| folder.metadata().unwrap().permissions().mode() & 1 != 0;
    if !folder.path().canonicalize().unwrap().ancestors().skip(1).all(may_enter) {
        return skipped("others may not enter the folder of temporary files");
    }
    let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let [token, key, env] = ["token", "key's", ".env"].map(|name| folder.path().join(name));
    fs::write(&token, "Bearer 0d9c4b7fa3e81625c7").unwrap();
    fs::write(&key, "sk-0d9c4b7fa3e8").unwrap();
    fs::write(&env, "ARTICLE_API_URL=http://127.0.0.1:9\n").unwrap();
    let codes = ["token.open_to_others", "service.key_open_to_others", "env_file.open_to_others"];
    let run = |of_folder, of_files| {
        mode(folder.path(), of_folder);
        [&token, &key, &env].into_iter().for_each(|file| mode(file, of_files));
        let mut run = doctor(&["--token-file", text(&token), "--api-key-file", text(&key)]);
        let found = found(run.args(["--env-file", text(&env)]));
        assert!(!found.out.contains("0d9c4b7f"), "{}", found.out);
        (codes.map(|code| found.of(code).to_owned()), found.out)
    };
    for (of_folder, of_files, severity) in [
        (0o755, 0o644, "warn"),
        (0o755, 0o602, "warn"),
        (0o755, 0o640, "none"),
        (0o755, 0o600, "none"),
        // They cannot enter the folder.
        (0o750, 0o644, "none"),
    ] {
        let (found, out) = run(of_folder, of_files);
        assert_eq!(found, [severity; 3], "{of_folder:o}, {of_files:o}: {out}");
    }
    let (_, out) = run(0o755, 0o644);
    let shown = folder.path().canonicalize().unwrap().display().to_string();
    for fix in [format!("chmod o= {shown}/token"), format!("chmod o= '{shown}/key'\\\\''s'")] {
        assert!(out.contains(&fix), "{fix}: {out}");
    }
}
