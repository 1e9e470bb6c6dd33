//! What the tool refuses before it begins: settings and arguments. What the text says to give is accepted.

use crate::stage::Stage;

#[test]
fn a_secret_that_is_missing_or_wrong_is_given_as_the_refusal_says() {
    let stage = Stage::new();
    stage.follow(
        "article-webhook order Shoes",
        "error: ARTICLE_API_KEY is not set\n\
         fix:   set ARTICLE_API_KEY, name a file with --api-key-file PATH, or a .env file with --env-file PATH",
        &[
            "ARTICLE_API_KEY=sk-simulator article-webhook order Shoes",
            "article-webhook order Shoes --api-key-file key",
            "article-webhook order Shoes --env-file service.env",
        ],
    );
    stage.follow(
        "article-webhook send $RECEIVER",
        "error: ARTICLE_WEBHOOK_TOKEN is not set\n\
         fix:   set ARTICLE_WEBHOOK_TOKEN, name a file with --token-file PATH, or a .env file with --env-file PATH",
        &[
            "ARTICLE_WEBHOOK_TOKEN=$(cat token) article-webhook send $RECEIVER",
            "article-webhook send $RECEIVER --token-file token",
            "article-webhook send $RECEIVER --env-file service.env",
        ],
    );
    stage.follow(
        "article-webhook order Shoes --api-key-file nowhere",
        "error: --api-key-file: the file cannot be read: No such file or directory (os error 2)\n\
         fix:   name a file that has the secret: --api-key-file PATH",
        &["article-webhook order Shoes --api-key-file key"],
    );
    stage.follow(
        "article-webhook order Shoes --env-file none.env",
        "error: --env-file: none.env cannot be read: No such file or directory (os error 2)\n\
         fix:   name a file that you may read: --env-file PATH",
        &["article-webhook order Shoes --env-file service.env"],
    );
    stage.follow(
        "echo 'ARTICLE_API_KEY is sk-simulator' >wrong.env; article-webhook order Shoes --env-file wrong.env",
        "error: --env-file: wrong.env has a line that is no NAME=VALUE\n\
         fix:   write each variable as NAME='VALUE' on a line of its own",
        &["echo \"ARTICLE_API_KEY='sk-simulator'\" >wrong.env; article-webhook order Shoes --env-file wrong.env"],
    );
    stage.follow(
        "echo ARTICLE_API_KEY= >empty.env; article-webhook order Shoes --env-file empty.env",
        "error: ARTICLE_API_KEY is not set\n\
         fix:   set ARTICLE_API_KEY, name a file with --api-key-file PATH, or a .env file with --env-file PATH",
        &[],
    );
    stage.follow(
        "article-webhook order Shoes --env-file ARTICLE_API_KEY=sk-simulator",
        "error: --env-file is given a variable and not a file\n\
         fix:   write NAME='VALUE' into a file, and name that: --env-file PATH",
        &["echo \"ARTICLE_API_KEY='sk-simulator'\" >key.env; article-webhook order Shoes --env-file key.env"],
    );
    let order = "article-webhook order Shoes $K";
    let keys = [
        ("", "is empty\nfix:   give the key that the service issued"),
        (
            "Bearer sk-simulator",
            "begins with `Bearer`\nfix:   give the key alone, the scheme word is added",
        ),
        (
            "<API_KEY>",
            "is the placeholder `<API_KEY>`\nfix:   give the key that the service issued",
        ),
        (
            "sk sim",
            "contains white space or a character that no header can carry\nfix:   give the key that the service issued",
        ),
    ];
    for (key, says) in keys {
        let wrong = format!(
            "echo '{key}' >wrong-key; article-webhook order Shoes --api-key-file wrong-key"
        );
        stage.follow(&wrong, &format!("error: the API key {says}"), &[order]);
    }
    // The file goes before the variable.
    stage.follow(
        "echo sk-other >other-key; article-webhook order Shoes --api-key-file other-key",
        "error: invalid_api_key (401): The API key is bad or missing.\n\
         fix:   give the key that the service issued for this URL",
        &[order],
    );
    stage.follow(
        "echo Bearer >wrong-token; article-webhook send $RECEIVER --token-file wrong-token",
        "error: --token-file: the token is the scheme word `Bearer` alone\nfix:   give it as in `Bearer <token>`",
        &["article-webhook send $RECEIVER $T"],
    );
}

#[test]
fn a_url_that_is_missing_or_wrong_is_given_as_the_refusal_says() {
    let stage = Stage::new();
    let order = "article-webhook order Shoes $K --api-url $ARTICLE_API_URL";
    stage.follow(
        "unset ARTICLE_API_URL; article-webhook order Shoes $K",
        "error: the URL of the service is not known\nfix:   give --api-url URL, or set ARTICLE_API_URL",
        &[order, "article-webhook order Shoes $K"],
    );
    stage.follow(
        "article-webhook order Shoes $K --api-url $ARTICLE_API_URL/v1",
        "error: not_found (404): There is no such call.\n\
         fix:   check --api-url or ARTICLE_API_URL: the part of the URL before /v1",
        &[order],
    );
    stage.follow(
        "article-webhook order Shoes $K --api-url \"$ARTICLE_API_URL?a=b\"",
        "error: the base URL has a query or a fragment: end it with the path before /v1\n\
         fix:   give --api-url URL, such as https://service.example/api",
        &[order],
    );
    stage.follow(
        "article-webhook order Shoes $K --api-url http://127.0.0.1:9",
        "error: the service cannot be reached: error sending request: client error (Connect): tcp connect error: Connection refused (os \
         error 111)\n\
         fix:   check --api-url or ARTICLE_API_URL, and try again",
        &[order],
    );
    stage.follow(
        "article-webhook send http://127.0.0.1:9/ $T",
        "error: the receiver did not answer: Connection refused (os error 111)\n\
         fix:   start the receiver, or check host and port of the URL",
        &["article-webhook send $RECEIVER $T"],
    );
    let moved = stage.output("article-webhook send $MOVED/ $T");
    assert!(
        moved.contains("not accepted: a redirect is not followed; give the service the final URL"),
        "{moved}"
    );
    stage.works("article-webhook send $RECEIVER $T");
    stage.follow(
        "article-webhook send http://0.0.0.0:$PORT/ $T",
        "error: the URL's host is not this machine, and without TLS the token can be read on the way\n\
         fix:   add --allow-remote where that does no harm",
        &["article-webhook send http://0.0.0.0:$PORT/ $T --allow-remote"],
    );
    stage.follow(
        "article-webhook send http://shop:secret@127.0.0.1:$PORT/ $T",
        "error: invalid value for '<URL>': a user or a password in a URL can be read by other users of this machine: leave it out, a \
         delivery is authenticated by its token, and a call by the API key\n\nFor more information, try '--help'.",
        &["article-webhook send http://127.0.0.1:$PORT/ $T"],
    );
    stage.follow(
        "article-webhook simulate --deliver-to https://127.0.0.1:$PORT/ $T",
        "error: the simulated service speaks no TLS\n\
         fix:   give --deliver-to an http URL, of the receiver itself or of a proxy before it",
        &["article-webhook simulate --deliver-to $RECEIVER $T"],
    );
}

#[test]
fn an_inbox_that_cannot_be_meant_is_named_as_the_refusal_says() {
    let stage = Stage::new();
    let counts = "article-webhook inbox list inbox.db";
    let of_variable = "DATABASE_URL=inbox.db article-webhook inbox list env:DATABASE_URL";
    for (inbox, says, ways) in [
        (
            "''",
            "the inbox has no name\nfix:   name a file, a PostgreSQL URL, or env:NAME for a variable with one of them",
            [counts, of_variable],
        ),
        (
            "env:",
            "what follows env: is not the name of a variable\nfix:   write env:DATABASE_URL, and set DATABASE_URL to the inbox",
            [of_variable; 2],
        ),
        (
            "env:DATABASE_URL",
            "DATABASE_URL is not set, or is empty\nfix:   set it to the inbox: its file, or the URL of a PostgreSQL database",
            [of_variable; 2],
        ),
        (
            "mysql://db.example/blog",
            "the inbox is neither a file nor a PostgreSQL URL\nfix:   name a file, or write postgresql://USER@HOST:PORT/DATABASE",
            [counts; 2],
        ),
        (
            "nowhere.db",
            "nowhere.db does not exist\nfix:   check the path; the receiver creates the file when it starts",
            [
                counts,
                "article-webhook listen --inbox nowhere.db --port 0 --no-page $T; article-webhook inbox list nowhere.db",
            ],
        ),
    ] {
        stage.follow(
            &format!("article-webhook inbox list {inbox}"),
            &format!("error: {says}"),
            &ways,
        );
    }
    stage.follow(
        "cp inbox.db kept; mv inbox.db gone; article-webhook inbox list inbox.db",
        "error: inbox.db does not exist\nfix:   put it back: its lock file shows that a receiver has used it",
        &["mv gone inbox.db", counts],
    );
    stage.follow(
        "article-webhook inbox migrate inbox.db",
        "error: an inbox in a file is brought up to this version by its receiver\n\
         fix:   name a PostgreSQL URL, or env:NAME for a variable with one",
        &[],
    );
    let of_url = [
        (
            "postgresql://127.0.0.1:9/blog",
            "the database has no user\nfix:   name one in its URL or configuration",
        ),
        (
            "postgresql://blog@127.0.0.1:9/blog?schema=1",
            "the schema is no plain name\nfix:   begin with a lower-case letter, go on with these, digits and _, at most 63, and not with \
             pg_",
        ),
        (
            "postgresql://blog@127.0.0.1:9/blog?sslrootcert=a",
            "the URL of the database names certificates and does not ask for TLS\nfix:   add sslmode=verify-full",
        ),
        (
            "postgresql://blog@127.0.0.1:9/blog?connect_timeout=soon",
            "the URL of the database is not valid\nfix:   write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters of \
             the password as %XX",
        ),
        (
            "postgresql://blog:secret@127.0.0.1:9/blog",
            "the URL of the inbox has a password, which other users of this machine can read in an argument\n\
             fix:   set a variable to the URL, such as DATABASE_URL, also in a file for --env-file, and write env:DATABASE_URL",
        ),
    ];
    for (url, says) in of_url {
        stage.follow(
            &format!("article-webhook inbox list '{url}'"),
            &format!("error: {says}"),
            &[],
        );
    }
    // As far as a server, which is not there.
    let way = "echo DATABASE_URL=postgresql://blog:secret@127.0.0.1:9/blog?schema=b >db.env; \
        article-webhook inbox list env:DATABASE_URL --env-file db.env";
    let says = "error: PostgreSQL cannot be reached: error connecting to server: Connection refused (os error 111)\n\
        fix:   start it, or correct the host and the port of the URL";
    stage.follow(way, says, &[]);
}

#[test]
fn a_port_an_address_or_a_header_that_cannot_be_used_is_replaced() {
    let stage = Stage::new();
    let listen = "article-webhook listen --inbox new.db --port 0 $T";
    let refused = listen.replace("new.db", "none.db");
    let page = format!("{listen} --page 127.0.0.1:0");
    stage.follow(
        "article-webhook listen --inbox none.db --port $PORT $T",
        "error: cannot listen on port $PORT: Address already in use (os error 98)\n\
         fix:   end the program that has the port, or choose another with --port",
        &[listen],
    );
    stage.follow(
        &format!("{refused} --page 127.0.0.1:$PORT"),
        "error: cannot show the page on 127.0.0.1:$PORT: Address already in use (os error 98)\n\
         fix:   end the program that has the port, or choose another with --page",
        &[&page],
    );
    let remote = "--page 0.0.0.0:0";
    stage.follow(
        &format!("{refused} {remote}"),
        "error: 0.0.0.0:0 can be reached by other machines, and the page shows all articles, without encryption\n\
         fix:   use 127.0.0.1 and a tunnel such as ssh -L, or say --page-allow-remote",
        &[&page, &format!("{listen} {remote} --page-allow-remote")],
    );
    for (name, says) in [
        (
            "'X Event'",
            "`X Event` is not a header name\nfix:   no spaces, colons or non-ASCII characters, as in `X-Service-Event`",
        ),
        (
            "X-Service-Job-Id",
            "the header `x-service-job-id` has another meaning already\nfix:   give the event and the job id a header of their own each",
        ),
    ] {
        stage.follow(
            &format!("{refused} --event-header {name}"),
            &format!("error: {says}"),
            &[&format!("{listen} --event-header X-Event --job-id-header X-Job")],
        );
    }
    stage.works("! ls none.db*");
    stage.follow(
        "article-webhook --json inbox 2>error; cut -d, -f3- error >&2; exit 2",
        "\"code\":\"usage\",\"error\":\"a command or an argument is missing\",\"exit\":2,\"fix\":\"add --help to see them\"}",
        &["article-webhook inbox --help"],
    );
    stage.follow(
        "article-webhook simulate --fault none",
        "error: invalid value 'none' for '--fault <FAULT>': not a fault: see `article-webhook simulate --help`\n\nFor more information, try '--help'.",
        &[],
    );
    let faults = stage.output("article-webhook simulate --help");
    assert!(faults.contains("cut"), "{faults}");
    stage.works("article-webhook simulate --port 0 --fault cut");
    stage.follow(
        "article-webhook doctor --event-header 'X Event'",
        "error: invalid value 'X Event' for '--event-header <NAME>': expected the name of a header\n\nFor more information, try '--help'.",
        &["article-webhook doctor --event-header X-Event"],
    );
    stage.follow(
        "article-webhook simulate --port $PORT",
        "error: the simulator cannot start: the simulator cannot listen on port $PORT of 127.0.0.1: is it in use?: Address already in use \
         (os error 98)\n\
         fix:   choose another --port, or leave it out; correct --deliver-to and --fault",
        &["article-webhook simulate --port 0", "article-webhook simulate"],
    );
    stage.follow(
        "article-webhook simulate --credits 0 --order Hats 2>&1 >/dev/null | sed 's/{.*}/{}/' >&2; exit 1",
        "error: the order failed: the simulator answered 402: {}\nfix:   correct the topic of --order, or give more --credits",
        &["article-webhook simulate --credits 1 --order Hats"],
    );
}

#[test]
fn a_command_that_is_forbidden_or_needs_a_word_more_gets_it() {
    let stage = Stage::new();
    stage.follow(
        "article-webhook inbox pause inbox.db --read-only",
        "error: this command changes the inbox, and --read-only forbids that\nfix:   leave it out",
        &["article-webhook inbox pause inbox.db"],
    );
    let forbidden = "error: this command changes the inbox, and ARTICLE_INBOX_READ_ONLY forbids that\n\
        fix:   unset ARTICLE_INBOX_READ_ONLY, or remove it from the file of --env-file";
    stage.follow(
        "ARTICLE_INBOX_READ_ONLY=1 article-webhook inbox resume inbox.db",
        forbidden,
        &["unset ARTICLE_INBOX_READ_ONLY; article-webhook inbox resume inbox.db"],
    );
    stage.follow(
        "echo ARTICLE_INBOX_READ_ONLY=1 >some.env; article-webhook inbox resume inbox.db --env-file some.env",
        forbidden,
        &["sed -i /READ_ONLY/d some.env; article-webhook inbox resume inbox.db --env-file some.env"],
    );
    let discard = "article-webhook inbox discard inbox.db";
    stage.follow(
        discard,
        "error: discard: expected jobs, a filter, or --all\n\
         fix:   article-webhook inbox discard INBOX --state dead --dry-run",
        &["article-webhook inbox discard inbox.db --state waiting --dry-run"],
    );
    let some = format!("{discard} --state waiting");
    stage.follow(
        &some,
        "error: discard of 2 entries needs a confirmation\nfix:   add --yes; --dry-run shows what would be done",
        &[&format!("{some} --dry-run"), &format!("{some} --yes")],
    );
    let url = "--webhook-url http://127.0.0.1:$PORT/";
    let targets = format!("article-webhook targets brand_1 $K {url} $T");
    stage.follow(
        &targets,
        "error: replacing all publish targets of brand_1 needs a confirmation\n\
         fix:   add --yes; --dry-run shows what would be done",
        &[&format!("{targets} --dry-run"), &format!("{targets} --yes")],
    );
    let named = "give one --name for each URL, in their order";
    for (more, says, way) in [
        (url.to_owned(), format!("2 URLs, and no --name\nfix:   {named}"), format!("{url} --name a --name b")),
        ("--name a --name b".to_owned(), format!("1 URLs, and 2 times --name\nfix:   {named}"), "--name a".to_owned()),
        (
            format!("{url} --name a --name a"),
            "two targets have the name a\nfix:   give each target another --name".to_owned(),
            format!("{url} --name a --name b"),
        ),
        (
            format!("{url} --name a --name b $T $T"),
            "2 --webhook-url and 3 --token-file\nfix:   give one --token-file for each URL, in their order, or one for all".to_owned(),
            format!("{url} --name a --name b $T"),
        ),
    ] {
        let targets = format!("{targets} --dry-run");
        stage.follow(&format!("{targets} {more}"), &format!("error: {says}"), &[&format!("{targets} {way}")]);
    }
}
