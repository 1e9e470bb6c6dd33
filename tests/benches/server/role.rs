//! Which server a process of this bench is.

use std::{env, net::TcpListener};

use crate::{
    actix, axum,
    common::child::{self, ServerProcess},
};

/// A framework and what it does with a request.
#[derive(Clone, Copy)]
pub(crate) struct Role {
    pub(crate) framework: Framework,
    pub(crate) handler: Handler,
}

#[derive(Clone, Copy)]
pub(crate) enum Framework {
    Axum,
    Actix,
}

#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// This project's extractor.
    Article,
    /// The framework's `Json` into owned structs. Checks nothing.
    Json,
    /// Takes the whole body before it looks at the token.
    Buffering,
}

impl Role {
    const ALL: [Self; 6] = {
        use {Framework::*, Handler::*};
        const fn role(framework: Framework, handler: Handler) -> Role {
            Role { framework, handler }
        }
        [
            role(Axum, Article),
            role(Axum, Json),
            role(Axum, Buffering),
            role(Actix, Article),
            role(Actix, Json),
            role(Actix, Buffering),
        ]
    };

    /// The argument that makes a process take this role.
    pub(crate) fn arg(self) -> String {
        let handler = match self.handler {
            Handler::Article => "article",
            Handler::Json => "json",
            Handler::Buffering => "buffering",
        };
        format!("--serve={}/{handler}", self.framework.name())
    }

    pub(crate) fn from_args() -> Option<Self> {
        let arg = env::args().nth(1)?;
        Self::ALL.into_iter().find(|role| role.arg() == arg)
    }

    pub(crate) fn start(self) -> ServerProcess {
        ServerProcess::start(&self.arg())
    }

    /// Serves on a free port of the loopback interface, which it prints.
    pub(crate) fn serve(self) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        println!("{}", listener.local_addr().expect("it is bound").port());
        child::end_with_the_parent();
        match self.framework {
            Framework::Axum => axum::serve(listener, self.handler),
            Framework::Actix => actix::serve(listener, self.handler),
        }
    }
}

impl Framework {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Axum => "axum",
            Self::Actix => "actix-web",
        }
    }
}
