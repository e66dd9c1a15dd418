// SPDX-License-Identifier: BSD-3-Clause
//! A transfer between two endpoints of `quinn-proto`, over a network of weir in virtual time.
#![forbid(unsafe_code)]

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    EndpointConfig, Event, ReadError, ServerConfig, StreamId, TransportConfig, VarInt, WriteError,
};
use rustls::pki_types::{pem::PemObject, CertificateDer, PrivateKeyDer};
use std::error::Error;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const CERTIFICATE: &[u8] = include_bytes!("../../../../tests/bindings/certificate.pem");

/// What the server answers, again and again.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// What a transfer was.
pub struct Outcome {
    /// Each datagram that was sent or received, each fate and each event, with its instant.
    pub log: String,
    /// Of the transfer, from the request to the last byte.
    pub goodput_bps: f64,
    /// How long it was in virtual time.
    pub took: Duration,
}

/// Requests so many bytes from the host at port `a`, as the host at port `b`.
pub fn transfer(scenario: &str, seed: u64, bytes: usize) -> Result<Outcome, Box<dyn Error>> {
    let options = weir::Options { seed: Some(seed), ..Default::default() };
    let mut network = weir::Network::open_file(scenario, &options)?;
    let fates = Arc::new(Mutex::new(String::new()));
    let told = fates.clone();
    network.on_fate(move |f| {
        let (mut told, reason) = (told.lock().unwrap(), f.reason.unwrap_or("delivered"));
        let _ = writeln!(told, "{:?} {} {reason} {} {:?}", f.t, f.cloud, f.packet, f.leaves);
    });
    let mut clock = weir::Clock::default();
    let mut log = String::new();
    let (mut server, mut client) = (Side::server(seed)?, Side::client(seed)?);
    client.connect(server.address, clock.now())?;
    let (mut began, mut got) = (None, 0);
    loop {
        for side in [&mut server, &mut client] {
            side.poll(&clock, &mut network, &mut log)?;
        }
        if began.is_none() {
            if let Some(stream) = client.open() {
                began = Some(clock.elapsed());
                client.write(stream, &(bytes as u64).to_be_bytes())?;
                client.finish(stream)?;
            }
        }
        server.answer()?;
        let finished = client.read(&mut got)?;
        for side in [&mut server, &mut client] {
            side.poll(&clock, &mut network, &mut log)?;
        }
        if finished {
            break;
        }
        let timer = [server.timer(), client.timer()].into_iter().flatten().min();
        let arrived = clock.step(&mut network, timer)?.ok_or("nothing happens any more")?;
        for datagram in arrived {
            let side = if datagram.port == server.port { &mut server } else { &mut client };
            side.handle(datagram, &clock, &mut network, &mut log)?;
        }
        for side in [&mut server, &mut client] {
            side.expire(clock.now());
        }
    }
    assert_eq!(got, bytes);
    let seconds = (clock.elapsed() - began.unwrap_or_default()).as_secs_f64();
    log.push_str(&fates.lock().unwrap());
    Ok(Outcome { log, goodput_bps: bytes as f64 * 8.0 / seconds, took: clock.elapsed() })
}

/// A host: an endpoint, and its one connection.
struct Side {
    endpoint: Endpoint,
    port: &'static str,
    address: SocketAddr,
    config: Option<ClientConfig>,
    connection: Option<(ConnectionHandle, Connection)>,
    ready: bool,
    stream: Option<StreamId>,
    request: Vec<u8>,
    left: Option<usize>,
}

fn seeded(seed: u64, side: u8) -> Arc<EndpointConfig> {
    let mut bytes = [side; 32];
    bytes[..8].copy_from_slice(&seed.to_be_bytes());
    let mut config = EndpointConfig::default();
    config.rng_seed(Some(bytes));
    Arc::new(config)
}

fn transport() -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config.max_idle_timeout(Some(VarInt::from_u32(600_000).into()));
    config.stream_receive_window(VarInt::from_u32(1 << 26));
    config.send_window(1 << 26);
    Arc::new(config)
}

impl Side {
    fn new(port: &'static str, address: &str, endpoint: Endpoint) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            endpoint,
            port,
            address: address.parse()?,
            config: None,
            connection: None,
            ready: false,
            stream: None,
            request: Vec::new(),
            left: None,
        })
    }

    fn server(seed: u64) -> Result<Self, Box<dyn Error>> {
        let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE)?];
        let tls = rustls::ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::from_pem_slice(CERTIFICATE)?)?;
        let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
        config.transport_config(transport());
        let endpoint = Endpoint::new(seeded(seed, 1), Some(Arc::new(config)), true, None);
        Self::new("a", "198.18.0.1:443", endpoint)
    }

    fn client(seed: u64) -> Result<Self, Box<dyn Error>> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(CERTIFICATE)?)?;
        let tls = rustls::ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
        config.transport_config(transport());
        let endpoint = Endpoint::new(seeded(seed, 2), None, true, None);
        let side = Self::new("b", "198.18.0.2:50000", endpoint)?;
        Ok(Self { config: Some(config), ..side })
    }

    fn connect(&mut self, to: SocketAddr, now: Instant) -> Result<(), Box<dyn Error>> {
        let config = self.config.take().ok_or("it is connected already")?;
        self.connection = Some(self.endpoint.connect(now, config, to, "a")?);
        Ok(())
    }

    fn handle(
        &mut self,
        datagram: weir::Datagram,
        clock: &weir::Clock,
        network: &mut weir::Network,
        log: &mut String,
    ) -> Result<(), Box<dyn Error>> {
        let (now, mut answer) = (clock.now(), Vec::new());
        let (at, size) = (datagram.t.as_nanos(), datagram.payload.len());
        let _ = writeln!(log, "{at} {} receives {size} ecn {}", self.port, datagram.ecn);
        let ecn = EcnCodepoint::from_bits(datagram.ecn);
        let payload = datagram.payload.as_slice().into();
        match self.endpoint.handle(now, datagram.from, None, ecn, payload, &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                self.connection = Some(accepted.map_err(|wrong| wrong.cause)?);
            }
            Some(DatagramEvent::Response(transmit)) => {
                let payload = &answer[..transmit.size];
                let from = (self.port, self.address);
                send(from, transmit.destination, transmit.ecn, payload, clock, network, log)?;
            }
            None => {}
        }
        Ok(())
    }

    /// Sends what the connection has to send now.
    fn poll(
        &mut self,
        clock: &weir::Clock,
        network: &mut weir::Network,
        log: &mut String,
    ) -> Result<(), Box<dyn Error>> {
        // Borrowed, since to move a connection takes as long as to poll it.
        let Some((handle, connection)) = &mut self.connection else { return Ok(()) };
        let from = (self.port, self.address);
        loop {
            while let Some(event) = connection.poll() {
                if let Event::ConnectionLost { reason } = event {
                    return Err(reason.into());
                }
                self.ready |= matches!(event, Event::Connected);
                let _ = writeln!(log, "{} {} {event:?}", clock.elapsed().as_nanos(), self.port);
            }
            let mut buffer = Vec::new();
            while let Some(transmit) = connection.poll_transmit(clock.now(), 1, &mut buffer) {
                let payload = &buffer[..transmit.size];
                send(from, transmit.destination, transmit.ecn, payload, clock, network, log)?;
                buffer.clear();
            }
            let Some(event) = connection.poll_endpoint_events() else { return Ok(()) };
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }

    fn timer(&mut self) -> Option<Instant> {
        self.connection.as_mut()?.1.poll_timeout()
    }

    fn expire(&mut self, now: Instant) {
        if self.timer().is_some_and(|at| at <= now) {
            if let Some((_, connection)) = &mut self.connection {
                connection.handle_timeout(now);
            }
        }
    }

    fn open(&mut self) -> Option<StreamId> {
        let (_, connection) = self.connection.as_mut().filter(|_| self.ready)?;
        self.stream = connection.streams().open(Dir::Bi);
        self.stream
    }

    /// Returns how many bytes were taken.
    fn write(&mut self, stream: StreamId, data: &[u8]) -> Result<usize, Box<dyn Error>> {
        let Some((_, connection)) = &mut self.connection else { return Ok(0) };
        match connection.send_stream(stream).write(data) {
            Ok(taken) => Ok(taken),
            Err(WriteError::Blocked) => Ok(0),
            Err(wrong) => Err(wrong.into()),
        }
    }

    fn finish(&mut self, stream: StreamId) -> Result<(), Box<dyn Error>> {
        let Some((_, connection)) = &mut self.connection else { return Ok(()) };
        Ok(connection.send_stream(stream).finish()?)
    }

    /// Reads what is there, and returns whether the stream has ended.
    fn drain(&mut self, mut take: impl FnMut(&[u8])) -> Result<bool, Box<dyn Error>> {
        let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) else {
            return Ok(false);
        };
        let mut received = connection.recv_stream(stream);
        let Ok(mut chunks) = received.read(true) else { return Ok(false) };
        let ended = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => take(&chunk.bytes),
                Ok(None) => break true,
                Err(ReadError::Blocked) => break false,
                Err(wrong) => return Err(wrong.into()),
            }
        };
        let _ = chunks.finalize();
        Ok(ended)
    }

    fn read(&mut self, got: &mut usize) -> Result<bool, Box<dyn Error>> {
        self.drain(|data| *got += data.len())
    }

    /// As the server: reads the request, and writes as much of the answer as fits.
    fn answer(&mut self) -> Result<(), Box<dyn Error>> {
        if self.stream.is_none() {
            let Some((_, connection)) = &mut self.connection else { return Ok(()) };
            self.stream = connection.streams().accept(Dir::Bi);
        }
        let Some(stream) = self.stream else { return Ok(()) };
        if self.left.is_none() {
            let mut request = std::mem::take(&mut self.request);
            let ended = self.drain(|data| request.extend(data))?;
            self.left = ended
                .then(|| request.as_slice().try_into().map(u64::from_be_bytes))
                .transpose()?
                .map(|count| count as usize);
            self.request = request;
        }
        while let Some(left) = self.left.filter(|left| *left > 0) {
            let taken = self.write(stream, &ZEROS[..left.min(ZEROS.len())])?;
            if taken == 0 {
                return Ok(());
            }
            self.left = Some(left - taken);
            if left == taken {
                self.finish(stream)?;
            }
        }
        Ok(())
    }
}

fn send(
    (port, from): (&str, SocketAddr),
    to: SocketAddr,
    ecn: Option<EcnCodepoint>,
    payload: &[u8],
    clock: &weir::Clock,
    network: &mut weir::Network,
    log: &mut String,
) -> Result<(), weir::Error> {
    let (at, bits) = (clock.elapsed(), ecn.map_or(0, |ecn| ecn as u8));
    let _ = writeln!(log, "{} {port} sends {} ecn {bits}", at.as_nanos(), payload.len());
    network.send_datagram(at, port, from, to, payload, bits)
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
