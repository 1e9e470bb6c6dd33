//! How an application tests its own handlers, without a socket: `cargo test --example unit_test`.
//!
//! The feature `fixture` of the adapters adds deliveries as the service sends them (`DeliveryRequest`), defects
//! for them (`Defect`), and `test_request`, which makes a framework request from a delivery.
#![allow(clippy::print_stdout)] // `main` only says how to run the tests

fn main() {
    println!("These are tests. Run them with:\n\n  cargo test --example unit_test\n");
}

#[cfg(test)]
mod with_axum {
    use std::sync::{Arc, Mutex};

    use article_webhook_axum::{
        ArticleComplete, Receiver, Retry,
        fixture::{self, Defect, DeliveryRequest},
        test_request,
    };
    use axum::{
        Router,
        extract::{FromRef, State},
        http::StatusCode,
        routing::post,
    };
    use tower::ServiceExt;

    /// The application: it publishes titles, and has room for one.
    #[derive(Clone)]
    struct Shop {
        receiver: Receiver,
        titles: Arc<Mutex<Vec<String>>>,
    }

    /// How the extractor finds the receiver in the application's own state.
    impl FromRef<Shop> for Receiver {
        fn from_ref(shop: &Shop) -> Self {
            shop.receiver.clone()
        }
    }

    async fn on_article(
        State(shop): State<Shop>,
        ArticleComplete(result, ..): ArticleComplete,
    ) -> Result<(), Retry> {
        let mut titles = shop.titles.lock().expect("no publisher panics");
        if titles.len() == 1 {
            return Err(Retry::because("the shop is full"));
        }
        titles.push(result.article.title);
        Ok(())
    }

    fn shop() -> Shop {
        let (receiver, titles) = (fixture::receiver(), Arc::default());
        Shop { receiver, titles }
    }

    async fn deliver(shop: &Shop, delivery: DeliveryRequest) -> StatusCode {
        let app = Router::new().route("/", post(on_article)).with_state(shop.clone());
        let response = app.oneshot(test_request(&delivery, "/")).await;
        response.expect("a router answers everything").status()
    }

    #[tokio::test]
    async fn an_article_is_published() {
        let shop = shop();
        assert_eq!(deliver(&shop, DeliveryRequest::complete()).await, 200);
        assert_eq!(*shop.titles.lock().unwrap(), ["How to Choose Running Shoes"]);
    }

    #[tokio::test]
    async fn a_forged_article_is_refused() {
        let forged = DeliveryRequest::complete().with_defect(Defect::WrongToken);
        assert_eq!(deliver(&shop(), forged).await, 401);
    }

    #[tokio::test]
    async fn nothing_spoiled_is_published() {
        let shop = shop();
        for spoil in Defect::ALL {
            deliver(&shop, DeliveryRequest::complete().with_defect(spoil)).await;
            assert!(shop.titles.lock().unwrap().is_empty(), "{spoil:?}");
        }
    }

    #[tokio::test]
    async fn a_full_shop_asks_the_service_to_come_again() {
        let shop = shop();
        assert_eq!(deliver(&shop, DeliveryRequest::complete()).await, 200);
        assert_eq!(deliver(&shop, DeliveryRequest::article(1, 9_000).job_id("job_2")).await, 503);
    }
}

/// A worker's handler. No server is needed, and the inbox is in memory.
#[cfg(test)]
mod with_an_inbox {
    use article_webhook_axum::{Reply, Sink, fixture::DeliveryRequest};
    use article_webhook_inbox::{Failed, Inbox, Job, State};

    async fn publish(job: Job) -> Result<(), Failed> {
        match job.article().featured_image {
            Some(_) => Ok(()),
            None => Err(Failed::dead("an article without a picture")),
        }
    }

    #[tokio::test]
    async fn an_article_without_a_picture_is_not_published() {
        let inbox = Inbox::memory();
        for delivery in [DeliveryRequest::complete(), DeliveryRequest::minimal().job_id("job_2")] {
            assert_eq!(inbox.accept(delivery.delivery().unwrap()).await, Reply::Stored);
        }
        inbox.worker(publish).run_until_idle().await.unwrap();
        let counts = inbox.counts().await.unwrap();
        assert_eq!((counts.of(State::Done), counts.of(State::Dead)), (1, 1));
    }
}

#[cfg(test)]
mod with_actix_web {
    use std::sync::Mutex;

    use actix_web::{
        App, HttpResponse,
        http::StatusCode,
        test,
        web::{self, Data},
    };
    use article_webhook_actix_web::{
        ArticleComplete, Retry,
        fixture::{self, Defect, DeliveryRequest},
        test_request,
    };

    /// The application: it publishes titles, and has room for one.
    type Shop = Data<Mutex<Vec<String>>>;

    async fn on_article(
        shop: Shop,
        ArticleComplete(result, ..): ArticleComplete,
    ) -> Result<HttpResponse, Retry> {
        let mut titles = shop.lock().expect("no publisher panics");
        if titles.len() == 1 {
            return Err(Retry::because("the shop is full"));
        }
        titles.push(result.article.title);
        Ok(HttpResponse::Ok().finish())
    }

    async fn deliver(shop: &Shop, delivery: DeliveryRequest) -> StatusCode {
        let app = App::new()
            .app_data(fixture::receiver())
            .app_data(shop.clone())
            .service(web::resource("/").route(web::post().to(on_article)));
        let app = test::init_service(app).await;
        let request = test_request(&delivery, "/").to_request();
        test::call_service(&app, request).await.status()
    }

    #[actix_web::test]
    async fn an_article_is_published() {
        let shop = Shop::default();
        assert_eq!(deliver(&shop, DeliveryRequest::complete()).await, 200);
        assert_eq!(*shop.lock().unwrap(), ["How to Choose Running Shoes"]);
    }

    #[actix_web::test]
    async fn a_forged_article_is_refused() {
        let forged = DeliveryRequest::complete().with_defect(Defect::WrongToken);
        assert_eq!(deliver(&Shop::default(), forged).await, 401);
    }

    #[actix_web::test]
    async fn nothing_spoiled_is_published() {
        let shop = Shop::default();
        for spoil in Defect::ALL {
            deliver(&shop, DeliveryRequest::complete().with_defect(spoil)).await;
            assert!(shop.lock().unwrap().is_empty(), "{spoil:?}");
        }
    }

    #[actix_web::test]
    async fn a_full_shop_asks_the_service_to_come_again() {
        let shop = Shop::default();
        assert_eq!(deliver(&shop, DeliveryRequest::complete()).await, 200);
        assert_eq!(deliver(&shop, DeliveryRequest::article(1, 9_000).job_id("job_2")).await, 503);
    }
}
