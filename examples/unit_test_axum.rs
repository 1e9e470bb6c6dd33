//! How an application on axum tests its handler, without a socket: `cargo test --test unit_test_axum`.

use std::sync::{Arc, Mutex};

use article_webhook_axum::{Article, ArticleComplete, Receiver, Retry};
use axum::{
    Router,
    extract::{FromRef, State},
    routing::post,
};

/// The addresses of the published articles.
type Published = Arc<Mutex<Vec<String>>>;

#[derive(Clone, FromRef)]
struct App {
    receiver: Receiver,
    published: Published,
}

fn address(target: &str, article: &Article) -> String {
    format!("/{target}/{}", article.title.to_lowercase().replace(' ', "-"))
}

async fn on_article(
    State(published): State<Published>,
    ArticleComplete(result, delivery): ArticleComplete,
) -> Result<(), Retry> {
    let mut published = published.lock().map_err(|_| "a publisher panicked")?;
    published.push(address(delivery.target(), &result.article));
    Ok(())
}

fn router(app: App) -> Router {
    Router::new().route("/webhooks/articles", post(on_article)).with_state(app)
}

#[cfg(test)]
mod tests {
    use article_webhook_axum::fixture::{self, Defect, DeliveryRequestExt};
    use tower::ServiceExt;

    use super::*;

    #[test]
    fn an_address_is_made_of_target_and_title() {
        let article = fixture::article().article;
        assert_eq!(address("blog", &article), "/blog/how-to-choose-running-shoes");
    }

    #[tokio::test]
    async fn the_handler_publishes_an_article() {
        let published = Published::default();
        let delivered = fixture::complete().title("Ten Tips").target("shop").extracted();
        on_article(State(published.clone()), delivered).await.unwrap();
        assert_eq!(*published.lock().unwrap(), ["/shop/ten-tips"]);
    }

    #[tokio::test]
    async fn a_forged_request_is_refused() {
        let app = App { receiver: fixture::receiver(), published: Published::default() };
        let forged = fixture::complete().defect(Defect::WrongToken).request("/webhooks/articles");
        let response = router(app.clone()).oneshot(forged).await.unwrap();
        assert_eq!(response.status(), 401);
        assert!(app.published.lock().unwrap().is_empty());
    }
}
