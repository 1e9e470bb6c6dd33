//! Fetches the featured image of an article, whose URL the author of the article chose: over https, from public addresses, and not
//! more than an image takes.
//!
//! ```text
//! cargo run --example featured_image -- https://cdn.example.com/images/running-shoes.png
//! ```
#![allow(clippy::print_stdout)] // its output is what the program is for

use std::{env, error::Error, net::IpAddr, time::Duration};

use reqwest::{Client, StatusCode, Url, redirect::Policy};
use tokio::net::lookup_host;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().nth(1).ok_or("give the URL of an image")?;
    let image = fetch(&url).await?;
    let media_type = media_type(&image).unwrap_or_default();
    println!("{} bytes of {media_type}: keep them under the job id", image.len());
    Ok(())
}

/// How large an image may be, and how long it may take.
const MAX_BYTES: usize = 5 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(20);

/// Fetches an image. Whoever wrote the article chose the URL: it must not reach what only this machine can reach, so the address
/// is checked, and no other is connected to.
async fn fetch(url: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let url = Url::parse(url)?;
    if url.scheme() != "https" {
        return Err("its URL is not https".into());
    }
    let host = url.host_str().ok_or("its URL has no host")?;
    let port = url.port_or_known_default().unwrap_or_default();
    let addresses: Vec<_> = lookup_host((host, port)).await?.collect();
    if !addresses.iter().all(|address| is_public(address.ip())) {
        return Err("its host has an address that is not public".into());
    }
    let client = Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .timeout(TIMEOUT)
        .resolve_to_addrs(host, &addresses)
        .build()?;
    let mut response = client.get(url).send().await?;
    if response.status() != StatusCode::OK {
        return Err(format!("its host answers {}", response.status()).into());
    }
    let mut image = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        image.extend(chunk);
        if image.len() > MAX_BYTES {
            return Err(format!("it has more than {MAX_BYTES} bytes").into());
        }
    }
    media_type(&image).ok_or("it is no png, jpeg, gif, webp or avif")?;
    Ok(image)
}

/// The type of an image by its first bytes, whatever its host says. SVG is none: it can have scripts.
fn media_type(image: &[u8]) -> Option<&'static str> {
    match image {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f', ..] => Some("image/avif"),
        _ => None,
    }
}

/// Whether an address is one of the public internet, by the registries of special addresses.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !matches!(
            address.octets(),
            [0 | 10 | 127 | 224..=255, ..]
                | [100, 64..=127, ..]
                | [169, 254, ..]
                | [172, 16..=31, ..]
                | [192, 0, 0 | 2, _]
                | [192, 88, 99, _]
                | [192, 168, ..]
                | [198, 18 | 19, ..]
                | [198, 51, 100, _]
                | [203, 0, 113, _]
        ),
        // Within 2000::/3, without documentation, and without tunnels, which hold an IPv4 address.
        IpAddr::V6(address) => match address.segments() {
            [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
            [first, ..] => first & 0xe000 == 0x2000,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_networks_inside_are_not_public() {
        let inside = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "2001:0:a00:1::",
            "ff02::1",
        ];
        for address in inside {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[tokio::test]
    async fn a_url_of_a_network_inside_is_not_fetched() {
        for url in [
            "https://127.0.0.1/a",
            "https://0x7f.1/a",
            "https://169.254.169.254/a",
            "https://[::1]/a",
        ] {
            assert!(fetch(url).await.is_err(), "{url}");
        }
        let refused = fetch("http://1.1.1.1/a").await.unwrap_err();
        assert_eq!(refused.to_string(), "its URL is not https");
    }
}
