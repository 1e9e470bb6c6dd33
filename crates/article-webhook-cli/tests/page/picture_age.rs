use std::fs;

use crate::picture::{DIGEST, PICTURE, digest};

#[test]
fn the_picture_of_the_page_is_up_to_date() {
    let renew =
        "PAGE_PICTURE=write cargo test $(tests/run --flags) --test browser picture_of_the_readme";
    assert_eq!(
        fs::read_to_string(DIGEST).unwrap(),
        digest(),
        "the page looks different now: {renew}"
    );
    assert!(fs::metadata(PICTURE).unwrap().len() < 100_000);
}
