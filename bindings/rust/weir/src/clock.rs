// SPDX-License-Identifier: BSD-3-Clause
use crate::{Datagram, Error, Network};
use std::time::{Duration, Instant};

/// A clock that jumps: to the next timer of the endpoints, or to the next instant of the network,
/// whichever is first.
///
/// Its instants are of [`std::time::Instant`], which endpoints take; the one at which it begins
/// stands for 0. So endpoints behave the same way each time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: Instant,
    now: Duration,
}

impl Default for Clock {
    fn default() -> Self {
        Self { began: Instant::now(), now: Duration::ZERO }
    }
}

impl Clock {
    /// The instant that the endpoints are told.
    pub fn now(&self) -> Instant {
        self.began + self.now
    }

    /// The same since the beginning, as the network counts.
    pub fn elapsed(&self) -> Duration {
        self.now
    }

    /// Jumps, and returns the datagrams that have left the network by then: often none, if a timer
    /// is due, or if something has changed inside the network. None: no timer is set, and the
    /// network does nothing more.
    pub fn step(
        &mut self,
        network: &mut Network,
        timer: Option<Instant>,
    ) -> Result<Option<Vec<Datagram>>, Error> {
        let timer = timer.map(|at| at.saturating_duration_since(self.began));
        let Some(next) = network.next().into_iter().chain(timer).min() else {
            return Ok(None);
        };
        self.now = self.now.max(next);
        network.receive_datagrams(self.now).map(Some)
    }
}
