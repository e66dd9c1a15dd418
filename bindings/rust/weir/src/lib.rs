// SPDX-License-Identifier: BSD-3-Clause
//! An emulated network inside a program, in virtual time: the library libweir.
//!
//! The program puts frames or datagrams in, each with its instant, and takes out what leaves, each
//! with its instant. The same calls give the same bytes at the same nanoseconds.
//!
//! An endpoint that lives on [`std::time::Instant`], such as one of `quinn-proto`, gets its instants
//! from a [`Clock`].
#![forbid(unsafe_code)]

mod clock;

pub use clock::Clock;
pub use weir_sys::{Datagram, Error, Fate, Frame, Network, Options};
