//! An application that uses reqwest and rustls itself, and beside them the client and the inbox in PostgreSQL: neither changes the
//! other.

use std::{
    error::Error,
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    thread,
};

use article_webhook_client::{ApiKey, Client, ClientBuilder, NewArticle};

const KEY: &str = "sk-5f2b9c0e7a1d4e38";

fn main() -> Result<(), Box<dyn Error>> {
    // Without a provider reqwest wants the application's own to be installed.
    #[cfg(all(feature = "reqwest-no-provider", feature = "rustls-ring"))]
    rustls::crypto::ring::default_provider().install_default().expect("it is the first");

    // The client comes first, so that whatever it changes is seen below.
    let plain = serve(|stream| Box::new(stream));
    let client = builder(&format!("http://{plain}")).build()?;
    assert_eq!(order(&client)?, "job_1");

    #[cfg(all(feature = "rustls", not(feature = "reqwest-no-provider")))]
    assert!(rustls::crypto::CryptoProvider::get_default().is_none(), "a provider is installed");
    #[cfg(feature = "postgres-tls")]
    postgres_over_tls();
    #[cfg(feature = "rustls")]
    let _ = rustls::ClientConfig::builder(); // panics unless the provider is clear
    let own = reqwest::Client::new(); // panics if it has TLS without a provider
    assert_eq!(status(&own, &format!("http://{plain}"))?, 200);

    let https = builder("https://localhost:1").build().map_err(|error| error.to_string());
    match https {
        Ok(_) => assert!(cfg!(feature = "tls-aws-lc")),
        Err(error) => assert!(error.contains("enable the feature tls-aws-lc"), "{error}"),
    }
    over_tls()
}

/// Both call a server whose certificate is made for this test.
#[cfg(feature = "rustls")]
fn over_tls() -> Result<(), Box<dyn Error>> {
    use std::sync::Arc;

    use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivateKeyDer};

    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = reqwest::Certificate::from_pem(made.cert.pem().as_bytes())?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())?;
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    let config = Arc::new(config);
    let server = serve(move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).expect("it is configured");
        Box::new(StreamOwned::new(connection, stream))
    });
    let base = format!("https://localhost:{}", server.port());
    let trusting = || reqwest::Client::builder().tls_certs_merge([certificate.clone()]);
    assert_eq!(status(&trusting().build()?, &base)?, 200);
    assert_eq!(order(&builder(&base).build_with(trusting())?)?, "job_1");
    // The certificate counts: without it the same server is refused.
    let error = order(&builder(&base).build_with(reqwest::Client::builder())?).unwrap_err();
    assert_eq!(error.to_string(), "the service cannot be reached");
    Ok(())
}

/// No server is there. But the inbox has a provider of TLS, or says which to name, as the application does then.
#[cfg(feature = "postgres-tls")]
fn postgres_over_tls() {
    use article_webhook_postgres::{PostgresSettings, PostgresStore};

    let refused = |mode| {
        let url = format!("postgresql://blog@localhost:1/blog?sslmode={mode}");
        let settings = PostgresSettings::new(&url).expect("it is a URL");
        let store = block_on(PostgresStore::connect(settings));
        store.err().expect("no server is there")
    };
    #[cfg(all(feature = "rustls-ring", not(feature = "postgres-tls-aws-lc")))]
    {
        let error = refused("prefer");
        assert!(!error.is_invalid(), "{error}");
        let error = refused("require");
        assert!(error.is_invalid(), "{error}");
        assert!(error.to_string().contains("install_default()"), "{error}");
        rustls::crypto::ring::default_provider().install_default().expect("it is the first");
    }
    let error = refused("require");
    assert!(!error.is_invalid(), "{error}");
}

/// The application's reqwest has no TLS, and the first call says so.
#[cfg(not(feature = "rustls"))]
fn over_tls() -> Result<(), Box<dyn Error>> {
    let client = builder("https://localhost:1").build_with(reqwest::Client::builder())?;
    let error = order(&client).unwrap_err();
    assert_eq!(error.to_string(), "the service cannot be reached");
    if !cfg!(feature = "tls-aws-lc") {
        assert!(format!("{error:?}").ends_with("invalid URL, scheme is not http"), "{error:?}");
    }
    Ok(())
}

fn builder(base_url: &str) -> ClientBuilder {
    Client::builder(ApiKey::new(KEY).expect("it is a key"), base_url)
}

fn order(client: &Client) -> Result<String, article_webhook_client::Error> {
    let created = block_on(client.create_article_once(&NewArticle::new("Running shoes")));
    Ok(created?.job_id.to_string())
}

fn status(own: &reqwest::Client, url: &str) -> Result<u16, reqwest::Error> {
    Ok(block_on(own.get(url).send())?.status().as_u16())
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("there is a runtime").block_on(future)
}

trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

/// Answers one request a connection, as the service answers an order.
fn serve(open: impl Fn(std::net::TcpStream) -> Box<dyn Stream> + Send + 'static) -> SocketAddr {
    const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\
                          Connection: close\r\n\r\n{\"job_id\":\"job_1\"}";
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it listens");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (mut stream, mut head) = (open(stream), Vec::new());
            let mut buffer = [0; 4096];
            while !head.windows(4).any(|four| four == b"\r\n\r\n") {
                match stream.read(&mut buffer) {
                    Ok(read) if read > 0 => head.extend_from_slice(&buffer[..read]),
                    _ => break,
                }
            }
            // A peer that refuses the certificate hears nothing.
            _ = stream.write_all(ANSWER.as_bytes()).and_then(|()| stream.flush());
            // A socket that is closed with unread bytes sends a reset.
            while stream.read(&mut buffer).is_ok_and(|read| read > 0) {}
        }
    });
    address
}
