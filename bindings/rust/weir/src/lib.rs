// SPDX-License-Identifier: BSD-3-Clause
//! An emulated network inside a program, in virtual time: the library libweir.
//!
//! The program puts frames or datagrams in, each with its instant, and takes out what leaves, each
//! with its instant. The same calls give the same bytes at the same nanoseconds.
//!
//! ```no_run
//! use std::time::Duration;
//! let mut net = weir::Network::open("port a\nport b\ncloud down from a to b\n\
//!                                    cloud down delay 10ms\n", &weir::Options::default())?;
//! let (from, to) = ("198.18.0.1:5000".parse()?, "198.18.0.2:5000".parse()?);
//! net.send_datagram(Duration::ZERO, "a", from, to, b"hello", 0)?;
//! while let Some(t) = net.next() {
//!     for datagram in net.receive_datagrams(t)? {
//!         assert_eq!((datagram.t, datagram.to), (Duration::from_millis(10), to));
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An endpoint that lives on [`std::time::Instant`], such as one of `quinn-proto`, gets its instants
//! from a [`Clock`].
#![forbid(unsafe_code)]

mod clock;

pub use clock::Clock;
pub use weir_sys::{Datagram, Error, Fate, Frame, Network, Options};
