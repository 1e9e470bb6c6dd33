#![no_main]

article_webhook_fuzz::fuzz!(article_webhook_fuzz::properties::sanitizer::check);
