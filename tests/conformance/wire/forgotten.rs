use actix_web::web;
use article_webhook_actix_web::{ArticleComplete, RawDelivery, Receiver, Retry};
use article_webhook_tests::serve;

use crate::{
    answers::{Answer, NO_RECEIVER, UNAUTHORIZED},
    connection::Connection,
    request::delivery,
    site::Site,
};

async fn on_article(_: ArticleComplete) -> Result<(), Retry> {
    unreachable!("no receiver, no article")
}

async fn on_delivery(_: RawDelivery) -> Result<(), Retry> {
    unreachable!("no receiver, no delivery")
}

fn ask(connection: &mut Connection, path: &str, answer: Answer) {
    connection.send(delivery().wire(path));
    let found = connection.response().expect("there is an answer");
    assert_eq!((found.status, found.body.as_str()), (answer.status, answer.body));
    for &(name, value) in answer.headers {
        assert_eq!(found.header(name), Some(value));
    }
}

/// In axum the same mistake does not compile.
#[test]
fn a_forgotten_receiver_is_a_500_that_names_the_fix() {
    let address = serve::actix_web(|config| {
        config.service(web::resource("/article").route(web::post().to(on_article)));
        config.service(web::resource("/delivery").route(web::post().to(on_delivery)));
    });
    for path in ["/article", "/delivery"] {
        let mut connection = Connection::open(address);
        ask(&mut connection, path, NO_RECEIVER);
    }
}

/// The receiver of the token for another site, which `web::Data` holds instead.
#[test]
fn a_receiver_in_web_data_is_found() {
    let address = serve::actix_web(|config| {
        let receiver: Receiver = Site::TwoTargets.receiver();
        config.app_data(web::Data::new(receiver));
        config.service(web::resource("/article").route(web::post().to(on_article)));
    });
    let mut connection = Connection::open(address);
    ask(&mut connection, "/article", UNAUTHORIZED);
}
