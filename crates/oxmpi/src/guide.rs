//! The programs of the guide and of the crate's page, which are run as doc tests.

#[doc = include_str!("../README.md")]
struct Page;

#[doc = include_str!("../../../docs/guide/src/collectives.md")]
struct Collectives;

#[doc = include_str!("../../../docs/guide/src/communicators.md")]
struct Communicators;

#[doc = include_str!("../../../docs/guide/src/data.md")]
struct Data;

#[doc = include_str!("../../../docs/guide/src/halo.md")]
struct Halo;

#[doc = include_str!("../../../docs/guide/src/hello.md")]
struct Hello;

#[doc = include_str!("../../../docs/guide/src/messages.md")]
struct Messages;

#[doc = include_str!("../../../docs/guide/src/nonblocking.md")]
struct Nonblocking;

#[doc = include_str!("../../../docs/guide/src/persistent.md")]
struct Persistent;

#[doc = include_str!("../../../docs/guide/src/tests.md")]
struct Tests;
