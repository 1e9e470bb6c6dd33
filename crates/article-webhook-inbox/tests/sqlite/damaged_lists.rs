//! Damage of the lists of free pages. All pages of the database are replaced by those of a sound copy.

use article_webhook_inbox::store::Store;

use super::{
    CLAIM, Place,
    damage::{checked, closed, findings},
    damaged_pages::overwrite,
};

/// The number of free pages, in the header of the file.
pub(super) fn damage_list(place: &Place) {
    let mut bytes = std::fs::read(&place.path).unwrap();
    bytes[39] ^= 1;
    std::fs::write(&place.path, bytes).unwrap();
}

#[tokio::test]
async fn a_damaged_list_of_free_pages_is_written_anew() {
    let place = closed().await;
    damage_list(&place);
    let store = place.open();
    let told = "the lists of free pages were damaged, and were written anew";
    assert_eq!(findings(&store).await, [told]);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
    assert_eq!(store.check().await.unwrap(), []);
}

/// A start of a large file looks at the list, and not at the whole file.
#[tokio::test]
async fn a_damaged_list_of_free_pages_is_written_anew_in_a_large_file_as_the_texts_say() {
    let place = closed().await;
    let large = "CREATE TABLE large (bytes BLOB); INSERT INTO large VALUES (zeroblob(70000000))";
    place.sql().execute_batch(large).unwrap();
    damage_list(&place);
    let store = place.open();
    let told = "the lists of free pages were damaged, and were written anew";
    assert_eq!(findings(&store).await, [told]);

    place.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let free = std::fs::read(&place.path).unwrap()[39];
    overwrite(&place.path, 39, &[free ^ 1]);
    let advice = "pages of the database are damaged: start the receiver again, which mends them, or says what to do";
    assert_eq!(checked(&store).await, [advice]);
    store.close().await.unwrap();

    let store = place.open();
    assert_eq!(findings(&store).await, [told]);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
}

/// What a person is told to do where no start does it.
#[tokio::test]
async fn a_copy_by_vacuum_into_has_sound_lists_of_free_pages() {
    let (place, copy) = (closed().await, Place::new());
    damage_list(&place);
    place.sql().execute("VACUUM INTO ?1", [copy.path.to_str()]).unwrap();
    let store = copy.open();
    assert_eq!(findings(&store).await, [""; 0]);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
    assert_eq!(store.check().await.unwrap(), []);
}
