//! What the tool reads and writes.

use article_webhook::fixture;
use article_webhook_inbox::Inbox;

use crate::{sample, stage::Stage};

#[test]
fn a_file_that_cannot_be_read_or_written_is_replaced() {
    let stage = Stage::new();
    let json = "fix:   name a file that you may read, and that has one JSON object, such as {\"name\":\"My shop\"}";
    let none = "nowhere cannot be read: No such file or directory (os error 2)";
    for (command, says, ways) in [
        (
            "article-webhook brand $K nowhere",
            format!("{none}\n{json}"),
            &["article-webhook brand $K brand.json"][..],
        ),
        (
            "article-webhook brand $K token",
            format!("token is not one JSON object: expected value at line 1 column 1\n{json}"),
            &["echo '{\"name\":\"My shop\"}' >shop; article-webhook brand $K shop"],
        ),
        (
            "article-webhook send $RECEIVER $T --file nowhere",
            format!("{none}\nfix:   name a file that you may read, or leave out --file for a sample"),
            &["article-webhook send $RECEIVER $T"],
        ),
        (
            "article-webhook send $RECEIVER $T --file brand.json",
            "brand.json is not an article result with a job id\nfix:   add --job JOB to send it all the same".to_owned(),
            &["article-webhook send $RECEIVER $T --file brand.json --job job_1"],
        ),
        (
            "article-webhook collect --inbox inbox.db --from nowhere $K",
            format!("{none}\nfix:   name a file that you may read, or - for standard input"),
            &[
                "article-webhook collect --inbox inbox.db --from ids --dry-run",
                "article-webhook collect --inbox inbox.db --from - --dry-run <ids",
            ],
        ),
        (
            "printf 'job_1\\na b\\n' >wrong; article-webhook collect --inbox inbox.db --from wrong --dry-run",
            "line 2 is not a job id: a job id is UTF-8 without white space and control characters\n\
             fix:   correct line 2 of wrong, or remove it"
                .to_owned(),
            &[
                "sed 's/a b/a_b/' wrong >corrected; article-webhook collect --inbox inbox.db --from corrected --dry-run",
                "sed -i 2d wrong; article-webhook collect --inbox inbox.db --from wrong --dry-run",
            ],
        ),
        (
            "echo '# job_1' >empty; article-webhook collect --inbox inbox.db --from empty --dry-run",
            "there is no job id in it\nfix:   write one job id a line; `#` begins a comment".to_owned(),
            &["echo job_1 >empty; article-webhook collect --inbox inbox.db --from empty --dry-run"],
        ),
        (
            "article-webhook demo --headless --inbox inbox.db",
            "inbox.db exists, and the demo would handle what is in it\n\
             fix:   name a file that does not exist; this shows what an earlier demo left: article-webhook inbox list inbox.db"
                .to_owned(),
            &["article-webhook inbox list inbox.db"],
        ),
    ] {
        stage.follow(command, &format!("error: {says}"), ways);
    }
}

#[test]
fn an_export_is_written_elsewhere_and_an_import_adds_what_is_there() {
    let stage = Stage::new();
    let there = "error: ids cannot be written: File exists (os error 17)\n\
        fix:   name a file that does not exist, in a folder that you may write to";
    stage.follow(
        "article-webhook inbox export inbox.db --output ids",
        there,
        &["article-webhook inbox export inbox.db --output lines"],
    );
    let new = "article-webhook listen --inbox new.db --port 0 --no-page $T";
    stage.works(new);
    let import = "article-webhook inbox import new.db";
    let all = "article-webhook inbox status new.db --json | grep '\"total\":5'";
    let again = "fix:   export again, or add what is there with --partial";
    let from_pipe = format!("{import} <lines");
    for (command, says, ways) in [
        (
            format!("{import} nowhere"),
            "nowhere cannot be read: No such file or directory (os error 2)\n\
             fix:   name a file that you may read, or leave it out for standard input"
                .to_owned(),
            vec![from_pipe],
        ),
        (
            format!("cat lines | TMPDIR=/nowhere {import}"),
            "the lines to import cannot be kept in a temporary file: No such file or directory (os error 2)\n\
             fix:   write the export to a file, and name that file"
                .to_owned(),
            vec![format!("TMPDIR=/nowhere {import} lines")],
        ),
        (
            format!("head -n 3 lines >cut; {import} cut"),
            format!("the export was cut off at line 3, because its last line, with counts and a hash, is missing\n{again}"),
            vec![format!("{import} cut --partial"), format!("article-webhook inbox export inbox.db | {import}")],
        ),
        (
            format!("sed s/job_waits/job_other/ lines >changed; {import} <changed"),
            format!("the lines before line 6 are not those that were exported, because they have another SHA-256\n{again}"),
            vec![format!("{import} --partial <changed"), format!("article-webhook inbox erase new.db job_other")],
        ),
        (
            format!("head -n 3 lines | {import}"),
            format!("the export was cut off at line 3, because its last line, with counts and a hash, is missing\n{again}"),
            vec![],
        ),
        (
            format!("cp lines bytes; printf '\\377\\n' >>bytes; {import} bytes"),
            format!("line 7 is not UTF-8 text\n{again}"),
            vec!["! ls new.db-wal".to_owned()],
        ),
        (
            format!("cat lines lines >two; {import} two"),
            format!("line 7 comes after the end of the export: import each export by itself\n{again}"),
            vec![format!("{import} lines"), format!("{import} two --partial")],
        ),
        (
            format!("sed '2s/.*/no entry/' lines >wrong; {import} wrong"),
            format!("line 2 is no line of an export: expected ident before column 2\n{again}"),
            vec![format!("sed 2d wrong | {import} --partial")],
        ),
        (
            format!("{import} wrong --partial"),
            "line 2 is no line of an export: expected ident before column 2\n\
             fix:   correct or remove that line; what was before it is added, and a repeated import leaves it as it is"
                .to_owned(),
            vec![format!("sed -i 2d wrong; {import} wrong --partial")],
        ),
    ] {
        let ways: Vec<_> = ways.iter().map(String::as_str).chain([all]).collect();
        stage.follow(&command, &format!("error: {says}"), &ways);
    }
}

#[test]
fn a_copy_a_backup_and_a_salvage_name_a_file_that_can_be_meant() {
    let stage = Stage::new();
    stage
        .works("cp token text; echo DATABASE_URL=postgresql://blog:secret@db.example/blog >db.env");
    let of_database = "the inbox is in PostgreSQL, which has backups of its own\n\
        fix:   use pg_dump and pg_restore, or a base backup with the archived WAL: see the page postgres_restore of the guide";
    let backup = "article-webhook inbox backup inbox.db copy.db";
    for (command, says, ways) in [
        ("backup inbox.db ids", "ids exists\nfix:   name a new file", &[backup][..]),
        (
            "backup nowhere.db new.db",
            "nowhere.db does not exist\nfix:   name the database",
            &["article-webhook inbox backup inbox.db copy-2.db"],
        ),
        (
            "backup env:DATABASE_URL copy-4.db --env-file db.env",
            of_database,
            &["DATABASE_URL=inbox.db article-webhook inbox backup env:DATABASE_URL copy-4.db"],
        ),
        ("restore copy.db postgresql://blog@db.example/blog", of_database, &[]),
        (
            "restore inbox.db inbox.db",
            "inbox.db is the database itself\nfix:   name a backup first",
            &["article-webhook inbox restore copy.db inbox.db"],
        ),
        (
            "restore nowhere.db inbox.db",
            "nowhere.db does not exist\nfix:   name the backup",
            &["article-webhook inbox restore copy.db inbox.db"],
        ),
        (
            "restore text inbox.db",
            "text is no sound database\n\
             fix:   restore another backup, or read what can be trusted with `article-webhook inbox salvage text NEW`",
            &["article-webhook inbox restore copy.db inbox.db"],
        ),
        (
            "salvage nowhere.db new.db",
            "nowhere.db does not exist\nfix:   name the damaged database",
            &["article-webhook inbox salvage inbox.db salvaged.db"],
        ),
        (
            "salvage inbox.db ids",
            "ids exists\nfix:   name a new file",
            &["article-webhook inbox salvage inbox.db salvaged-2.db"],
        ),
        (
            "salvage text new.db",
            "nothing of an inbox can be read in text\n\
             fix:   name another file, or restore a backup with `article-webhook inbox restore BACKUP text`",
            &[
                "article-webhook inbox restore copy.db text; test $? = 1",
                "article-webhook inbox salvage text new.db; test $? = 1",
            ],
        ),
        (
            "backup inbox.db copy-3.db",
            "copy-3.db-unfinished exists, because another salvage, backup or restore runs or was interrupted\n\
             fix:   wait for its end, or remove that folder",
            &["rm -r copy-3.db-unfinished; article-webhook inbox backup inbox.db copy-3.db"],
        ),
    ] {
        let before = if command.contains("copy-3") { "mkdir copy-3.db-unfinished; " } else { "" };
        stage.follow(
            &format!("{before}article-webhook inbox {command}"),
            &format!("error: {says}"),
            ways,
        );
    }
    let all = "article-webhook inbox status inbox.db --json | grep '\"total\":5'";
    stage.works(all);

    let receiver = stage.runtime.block_on(Inbox::open(stage.path("inbox.db"))).unwrap();
    stage.works("article-webhook listen --inbox to.db --port 0 --no-page $T");
    stage.follow(
        "article-webhook inbox copy inbox.db to.db",
        "error: a receiver works on inbox.db\nfix:   stop the receiver first: what it stores meanwhile might not be copied",
        &[],
    );
    stage.runtime.block_on(receiver.close()).unwrap();
    drop(receiver);
    stage.works("article-webhook inbox copy inbox.db to.db");
    stage.works(&all.replace("inbox.db", "to.db"));
}

/// A limit of files ends a write as a full disk does.
#[test]
fn an_export_without_room_is_made_again_with_room() {
    let stage = Stage::new();
    stage.runtime.block_on(async {
        let inbox = Inbox::open(stage.path("large.db")).await.unwrap();
        let request = fixture::minimal().job_id("job_large").html(&"x".repeat(400_000));
        sample::deliver(&inbox, request).await;
        inbox.close().await.unwrap();
    });
    let export = "article-webhook inbox export large.db --output lines";
    stage.follow(
        &format!("trap '' XFSZ; ulimit -f 256; {export} 2>&1 | sed 's/ at path.*//' >&2; exit 1"),
        "error: lines cannot be written: File too large (os error 27)\n\
         fix:   make room on the disk, or name a file on another one",
        &["test ! -e lines", export],
    );
}

#[test]
fn a_copy_of_a_file_in_use_is_completed_and_a_backup_needs_nothing_more() {
    let stage = Stage::new();
    let job = stage.works("article-webhook order Shoes $K --json | cut -d'\"' -f12");
    let job = job.trim();
    stage.runtime.block_on(async {
        let receiver = Inbox::open(stage.path("inbox.db")).await.unwrap();
        sample::deliver(&receiver, fixture::complete().job_id(job)).await;
        stage.works("cp inbox.db used.db; article-webhook inbox backup inbox.db copy.db");
        receiver.close().await.unwrap();
    });
    let says = "the backup is a copy of a file in use, and lacks what was in its log: use `article-webhook inbox backup`, and fetch the \
        jobs of that time from the API\n";
    let used = stage.output("article-webhook inbox restore used.db old.db");
    assert!(used.contains(says), "{used}");
    stage.works(&format!("article-webhook collect --inbox old.db $K {job}"));
    let made = stage.works("article-webhook inbox restore copy.db new.db");
    assert!(!made.contains("in use"), "{made}");
    for inbox in ["old.db", "new.db"] {
        stage.works(&format!("article-webhook inbox status {inbox} --json | grep '\"total\":6'"));
    }
}
