-- What the second version changed in the schema of the first.
    ALTER TABLE article_inbox_entries ADD COLUMN since INTEGER;
    ALTER TABLE article_inbox_entries ADD COLUMN interrupted INTEGER;
    ALTER TABLE article_inbox_entries ADD COLUMN failures TEXT;
    ALTER TABLE article_inbox_entries ADD COLUMN checksum INTEGER;
    ALTER TABLE article_inbox_bodies ADD COLUMN checksum INTEGER;
    INSERT INTO article_inbox_meta (name, value) VALUES ('clock', 0);
    UPDATE article_inbox_meta SET value = 2 WHERE name = 'schema';
