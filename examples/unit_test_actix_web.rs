//! How an application on actix-web tests its handler, without a socket: `cargo test --test unit_test_actix_web`.

use std::sync::Mutex;

use actix_web::web::{self, Data, ServiceConfig};
use article_webhook_actix_web::{Article, ArticleComplete, Receiver, Retry};

/// The addresses of the published articles.
type Published = Data<Mutex<Vec<String>>>;

fn address(target: &str, article: &Article) -> String {
    format!("/{target}/{}", article.title.to_lowercase().replace(' ', "-"))
}

async fn on_article(
    published: Published,
    ArticleComplete(result, delivery): ArticleComplete,
) -> Result<(), Retry> {
    let mut published = published.lock().map_err(|_| "a publisher panicked")?;
    published.push(address(delivery.target(), &result.article));
    Ok(())
}

/// For `App::configure`.
fn routes(receiver: Receiver, published: Published) -> impl FnOnce(&mut ServiceConfig) {
    let articles = web::resource("/webhooks/articles").route(web::post().to(on_article));
    move |app| {
        app.app_data(receiver).app_data(published).service(articles);
    }
}

#[cfg(test)]
mod tests {
    use actix_web::{
        App,
        test::{call_service, init_service},
    };
    use article_webhook_actix_web::fixture::{self, Defect, DeliveryRequestExt};

    use super::*;

    #[test]
    fn an_address_is_made_of_target_and_title() {
        let article = fixture::article().article;
        assert_eq!(address("blog", &article), "/blog/how-to-choose-running-shoes");
    }

    #[actix_web::test]
    async fn the_handler_publishes_an_article() {
        let published = Published::default();
        let delivered = fixture::complete().title("Ten Tips").target("shop").extracted();
        on_article(published.clone(), delivered).await.unwrap();
        assert_eq!(*published.lock().unwrap(), ["/shop/ten-tips"]);
    }

    #[actix_web::test]
    async fn a_forged_request_is_refused() {
        let published = Published::default();
        let app = App::new().configure(routes(fixture::receiver(), published.clone()));
        let app = init_service(app).await;
        let forged = fixture::complete().defect(Defect::WrongToken).request("/webhooks/articles");
        let response = call_service(&app, forged.to_request()).await;
        assert_eq!(response.status(), 401);
        assert!(published.lock().unwrap().is_empty());
    }
}
