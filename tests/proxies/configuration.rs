//! The guide's configurations, of which the test changes the addresses and leaves out TLS.

use std::net::SocketAddr;

use article_webhook_tests::serve::Framework;

use crate::program::Program;

const PAGE: &str = include_str!("../../crates/article-webhook/src/guide/proxies.md");

/// The guide's configuration, or what is tried beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) name: &'static str,
    /// What of the guide's configuration is replaced by what.
    changes: &'static [(&'static str, &'static str)],
}

impl Form {
    pub(crate) const GUIDE: Self = Self::new("as in the guide", &[]);

    pub(crate) const fn new(
        name: &'static str,
        changes: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { name, changes }
    }
}

/// A site of a proxy: what comes to the address goes to one receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub(crate) form: Form,
    pub(crate) address: SocketAddr,
    pub(crate) framework: Framework,
    pub(crate) receiver: SocketAddr,
}

/// A file with all of these sites. Nothing is written outside of the folder in which the proxy is started.
pub(crate) fn file(program: Program, sites: &[Site]) -> String {
    let sites: String = sites.iter().map(|&of| site(program, of)).collect();
    match program {
        Program::Nginx => format!(
            "daemon off; master_process off; pid pid; error_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n\
             client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;\n\
             uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n{sites}}}\n"
        ),
        Program::Haproxy => format!("global\n    maxconn 100\n{sites}"),
        Program::Caddy => format!("{{\n    admin off\n    auto_https off\n}}\n{sites}"),
    }
}

fn site(program: Program, site: Site) -> String {
    let Site { form, address, receiver, .. } = site;
    let (ip, port) = (address.ip(), address.port());
    let mut text = block(program.name());
    for (from, to) in form.changes {
        text = replaced(&text, from, to);
    }
    text = replaced(&text, "127.0.0.1:3000", &receiver.to_string());
    match program {
        Program::Nginx => {
            let is_tls = |line: &&str| line.trim_start().starts_with("ssl_");
            text = text.split_inclusive('\n').filter(|line| !is_tls(line)).collect();
            replaced(&text, "listen 443 ssl;", &format!("listen {address};"))
        }
        Program::Haproxy => {
            let tls = "bind :443 ssl crt /etc/haproxy/hooks.example.com.pem";
            text = replaced(&text, tls, &format!("bind {address}"));
            replaced(&text, "listen articles", &format!("listen articles_{port}"))
        }
        Program::Caddy => {
            let bind = format!("http://hooks.example.com:{port} {{\n    bind {ip}");
            replaced(&text, "hooks.example.com {", &bind)
        }
    }
}

/// The only block of the page in this language.
fn block(language: &str) -> String {
    let mut blocks = PAGE.split("```").skip(1).step_by(2);
    let block = blocks.find_map(|block| block.strip_prefix(language));
    block.unwrap_or_else(|| panic!("the guide has no configuration of {language}")).to_owned()
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from:?} is not once in:\n{text}");
    text.replace(from, to)
}
