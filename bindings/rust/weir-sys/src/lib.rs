// SPDX-License-Identifier: BSD-3-Clause
//! libweir, made safe. All `unsafe` code of weir is here; programs use the crate `weir`.
mod ffi;

use ffi::{Address, BATCH, NEVER};
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, mem, ptr, slice};

/// Why a call failed. `line` and `column` count from 1 in the text that was given; 0: no place in
/// it is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Error {
    /// As of errno: 22 (EINVAL), 12 (ENOMEM), 62 (ETIME), ...
    pub code: i32,
    pub line: u32,
    pub column: u32,
    pub text: String,
}

fn wrong(code: i32, text: impl Into<String>) -> Error {
    Error { code, text: text.into(), ..Error::default() }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.text),
            line => write!(f, "line {line}, column {}: {}", self.column, self.text),
        }
    }
}

impl std::error::Error for Error {}

/// How a network is made; all are optional.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Of all random draws; None: that of the scenario.
    pub seed: Option<u64>,
    /// The folder of files that the scenario names; None: the working directory.
    pub folder: Option<PathBuf>,
    /// The most memory for frames in the network; 0: 1 GiB.
    pub memory_bytes: u64,
}

impl Options {
    /// Returns them for C, and the folder, which has to outlive them.
    fn raw(&self) -> Result<(ffi::Options, CString), Error> {
        let folder = self.folder.as_ref().map_or(&b""[..], |f| f.as_os_str().as_encoded_bytes());
        let (base, size) = (c_string(folder)?, mem::size_of::<ffi::Options>());
        let (seed, has_seed) = (self.seed.unwrap_or(0), self.seed.is_some().into());
        let (memory_bytes, begin_ns) = (self.memory_bytes, 0);
        let base_ptr = base.as_ptr();
        Ok((ffi::Options { size, seed, has_seed, base: base_ptr, memory_bytes, begin_ns }, base))
    }
}

/// A frame that has left the network, when, and at which port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub t: Duration,
    pub port: String,
    /// An Ethernet frame, without preamble and FCS.
    pub data: Vec<u8>,
}

/// A UDP datagram that has left the network, when, and at which port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    pub t: Duration,
    pub port: String,
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub payload: Vec<u8>,
    /// The ECN bits: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
}

/// What becomes of a packet at a cloud, decided at `t`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate<'a> {
    pub t: Duration,
    pub cloud: &'a str,
    /// When the packet will leave the cloud; None: it is dropped.
    pub leaves: Option<Duration>,
    /// Why it is dropped: `loss`, `queue-full`, ...
    pub reason: Option<&'a str>,
    /// Its number at `port`, where it entered, from 1; 0: the network has made it.
    pub packet: u64,
    pub port: u32,
    pub wire_bytes: u32,
}

type Callback = Box<dyn FnMut(&Fate<'_>) + Send>;

/// A network made from a scenario. Networks are independent of each other. Time begins at 0, and no
/// call may go back.
pub struct Network {
    net: *mut ffi::Net,
    ports: Vec<String>,
    // Boxed twice: the address of the inner box goes through C.
    callback: Option<Box<Callback>>,
}

// SAFETY: libweir has no global state, and any thread may call it, one at a time for each network.
unsafe impl Send for Network {}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("ports", &self.ports).finish_non_exhaustive()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // SAFETY: the network is ours, and nobody uses it any more.
        unsafe { ffi::weir_close(self.net) }
    }
}

impl Network {
    /// Makes a network from the text of a scenario: ports, clouds and their statements.
    pub fn open(scenario: &str, options: &Options) -> Result<Self, Error> {
        let (text, (raw, _folder), mut error) = (c_string(scenario)?, options.raw()?, no_error());
        // SAFETY: all pointers are valid during the call.
        Self::of(unsafe { ffi::weir_open(text.as_ptr(), &raw, &mut error) }, &error)
    }

    /// Makes a network from a file, which may name others beside it.
    pub fn open_file(path: impl AsRef<Path>, options: &Options) -> Result<Self, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|e| {
            wrong(e.raw_os_error().unwrap_or(22), format!("{}: {e}", path.display()))
        })?;
        let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = options.folder.clone().or_else(|| beside.map(Path::to_owned));
        Self::open(&text, &Options { folder, ..options.clone() })
    }

    fn of(net: *mut ffi::Net, error: &ffi::Error) -> Result<Self, Error> {
        if net.is_null() {
            return Err(error_of(error));
        }
        // SAFETY: the network is valid, and so is the name of each of its ports.
        let ports = unsafe {
            (0..ffi::weir_ports(net)).map(|n| text_of(ffi::weir_port_name(net, n)).unwrap_or(""))
        };
        Ok(Self { net, ports: ports.map(str::to_owned).collect(), callback: None })
    }

    /// The names of the ports, in the order of the scenario.
    pub fn ports(&self) -> &[String] {
        &self.ports
    }

    fn port(&self, name: &str) -> Result<u32, Error> {
        (0..).zip(&self.ports).find(|(_, known)| *known == name).map(|(n, _)| n).ok_or_else(|| {
            let known = self.ports.join(", ");
            wrong(2, format!("there is no port `{name}`; there are {known}"))
        })
    }

    /// Puts a frame in. What the network does with it is no error.
    pub fn send(&mut self, t: Duration, port: &str, frame: &[u8]) -> Result<(), Error> {
        let (port, data, size) = (self.port(port)?, frame.as_ptr().cast(), size(frame));
        // SAFETY: the frame is valid during the call.
        answered(unsafe { ffi::weir_send(self.net, ns(t), port, data, size) }).map(drop)
    }

    /// Puts a datagram in, in a frame with headers of Ethernet, IP and UDP.
    pub fn send_datagram(
        &mut self,
        t: Duration,
        port: &str,
        from: SocketAddr,
        to: SocketAddr,
        payload: &[u8],
        ecn: u8,
    ) -> Result<(), Error> {
        let (t_ns, port, from, to) = (ns(t), self.port(port)?, raw_address(from), raw_address(to));
        let (payload, bytes) = (payload.as_ptr().cast(), size(payload));
        let (dscp, ttl, reserved) = (0, 0, [0; 5]);
        let raw = ffi::Datagram { t_ns, port, bytes, payload, from, to, ecn, dscp, ttl, reserved };
        // SAFETY: the datagram is valid during the call.
        answered(unsafe { ffi::weir_udp_send(self.net, &raw, 1) }).map(drop)
    }

    /// The next instant at which something leaves or may change; None: never, until something is
    /// sent. A schedule without an end always has one.
    pub fn next(&self) -> Option<Duration> {
        // SAFETY: the network is valid.
        time(unsafe { ffi::weir_next(self.net) })
    }

    /// The instant that the network has reached.
    pub fn now(&self) -> Duration {
        // SAFETY: the network is valid.
        time(unsafe { ffi::weir_now(self.net) }).unwrap_or_default()
    }

    /// Lets time pass, and returns the frames that have left by then, in order.
    pub fn receive(&mut self, until: Duration) -> Result<Vec<Frame>, Error> {
        self.all(until, ffi::weir_receive, |ports, f: &ffi::Frame| Frame {
            t: time(f.t_ns).unwrap_or_default(),
            port: ports[f.port as usize].clone(),
            // SAFETY: the data are valid until the next call.
            data: unsafe { copy_of(f.data, f.bytes) },
        })
    }

    /// Lets time pass, and returns the datagrams that have left by then, in order. What a host would
    /// not pass to UDP is skipped: damaged ones, fragments, other protocols.
    pub fn receive_datagrams(&mut self, until: Duration) -> Result<Vec<Datagram>, Error> {
        self.all(until, ffi::weir_udp_receive, |ports, d: &ffi::Datagram| Datagram {
            t: time(d.t_ns).unwrap_or_default(),
            port: ports[d.port as usize].clone(),
            from: address_of(&d.from),
            to: address_of(&d.to),
            // SAFETY: the payload is valid until the next call.
            payload: unsafe { copy_of(d.payload, d.bytes) },
            ecn: d.ecn,
        })
    }

    fn all<Raw, Own>(
        &mut self,
        until: Duration,
        receive: unsafe extern "C" fn(*mut ffi::Net, i64, *mut Raw, u32) -> c_int,
        own: impl Fn(&[String], &Raw) -> Own,
    ) -> Result<Vec<Own>, Error> {
        let mut found = Vec::new();
        // Not written: that would take longer than the call.
        let mut room = mem::MaybeUninit::<[Raw; BATCH]>::uninit();
        let first = room.as_mut_ptr().cast::<Raw>();
        loop {
            // SAFETY: the array has room for so many, of which the call writes those that it returns.
            let raw = unsafe {
                let n = answered(receive(self.net, ns(until), first, BATCH as u32))?;
                slice::from_raw_parts(first, n)
            };
            if raw.is_empty() {
                return Ok(found);
            }
            found.extend(raw.iter().map(|raw| own(&self.ports, raw)));
        }
    }

    /// How many frames receive_datagrams() has skipped.
    pub fn skipped(&self) -> u64 {
        // SAFETY: the network is valid.
        unsafe { ffi::weir_udp_skipped(self.net) }
    }

    /// Changes the network at an instant, by lines as of `weir ctl`, such as
    /// `cloud down rate 2mbit`. All take effect or none.
    pub fn change(&mut self, t: Duration, lines: &str) -> Result<(), Error> {
        let (lines, mut error) = (c_string(lines)?, no_error());
        // SAFETY: all pointers are valid during the call.
        match unsafe { ffi::weir_change(self.net, ns(t), lines.as_ptr(), &mut error) } {
            0 => Ok(()),
            _ => Err(error_of(&error)),
        }
    }

    /// What has happened by now: the report of `weir replay`, in JSON.
    pub fn report(&mut self) -> Result<String, Error> {
        // SAFETY: the text ends with 0, and is freed after it has been copied.
        unsafe {
            let text = ffi::weir_report(self.net);
            let copy = text_of(text).map(str::to_owned);
            ffi::weir_free(text.cast());
            copy.ok_or_else(|| error_from(-12))
        }
    }

    /// From when on the network has lacked memory, so that it does not do what the scenario says.
    pub fn lacked(&self) -> Option<Duration> {
        // SAFETY: the network is valid.
        time(unsafe { ffi::weir_lacked(self.net) })
    }

    /// Calls `callback` for each packet that will be delivered or is dropped. A panic of the callback
    /// ends the process.
    pub fn on_fate(&mut self, callback: impl FnMut(&Fate<'_>) + Send + 'static) {
        let mut kept: Box<Callback> = Box::new(Box::new(callback));
        let argument = ptr::from_mut(&mut *kept).cast();
        // SAFETY: the callback lives as long as the network, or until it is replaced.
        unsafe { ffi::weir_on_fate(self.net, tell, argument, 0x03) };
        self.callback = Some(kept);
    }

    /// Returns a second network in the same state, which continues as this one would. It fails while
    /// a removed cloud still holds packets.
    pub fn try_clone(&mut self) -> Result<Self, Error> {
        let mut error = no_error();
        // SAFETY: both pointers are valid.
        Self::of(unsafe { ffi::weir_clone(self.net, &mut error) }, &error)
    }

    /// Returns the state as bytes, for load(). It fails when try_clone() does.
    pub fn save(&mut self) -> Result<Vec<u8>, Error> {
        let (mut bytes, mut error) = (0, no_error());
        // SAFETY: what the library returns has so many bytes, and is freed after it has been copied.
        unsafe {
            let saved = ffi::weir_save(self.net, &mut bytes, &mut error);
            if saved.is_null() {
                return Err(error_of(&error));
            }
            let copy = slice::from_raw_parts(saved.cast::<u8>(), bytes).to_vec();
            ffi::weir_free(saved);
            Ok(copy)
        }
    }

    /// Makes a network from the bytes of save(), of the same version of weir. The seed is theirs.
    pub fn load(saved: &[u8], options: &Options) -> Result<Self, Error> {
        let ((raw, _folder), mut error) = (options.raw()?, no_error());
        let start = saved.as_ptr().cast();
        // SAFETY: all pointers are valid during the call.
        Self::of(unsafe { ffi::weir_load(start, saved.len(), &raw, &mut error) }, &error)
    }
}

extern "C" fn tell(argument: *mut c_void, fate: *const ffi::Fate) {
    // SAFETY: on_fate() has given the address of a callback that still lives; the fate and its
    // strings are valid during this call.
    unsafe {
        let (callback, f) = (&mut *argument.cast::<Callback>(), &*fate);
        callback(&Fate {
            t: time(f.t_ns).unwrap_or_default(),
            cloud: text_of(f.cloud).unwrap_or(""),
            leaves: time(f.leaves_ns).filter(|_| f.kind == 0),
            reason: text_of(f.reason),
            packet: f.packet,
            port: f.port,
            wire_bytes: f.wire_bytes,
        });
    }
}

fn ns(t: Duration) -> i64 {
    i64::try_from(t.as_nanos()).unwrap_or(NEVER)
}

fn time(ns: i64) -> Option<Duration> {
    (ns != NEVER).then(|| Duration::from_nanos(ns.unsigned_abs()))
}

fn size(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

fn answered(code: c_int) -> Result<usize, Error> {
    usize::try_from(code).map_err(|_| error_from(code))
}

fn error_from(code: c_int) -> Error {
    // SAFETY: the words are there for ever.
    let words = unsafe { text_of(ffi::weir_words(code)) };
    wrong(-code, words.unwrap_or(""))
}

fn no_error() -> ffi::Error {
    ffi::Error { code: 0, line: 0, column: 0, text: [0; 1012] }
}

fn error_of(error: &ffi::Error) -> Error {
    // SAFETY: the library ends the text with 0.
    let text = unsafe { CStr::from_ptr(error.text.as_ptr()) }.to_string_lossy().into_owned();
    Error { code: -error.code, line: error.line, column: error.column, text }
}

fn c_string(text: impl Into<Vec<u8>>) -> Result<CString, Error> {
    CString::new(text).map_err(|e| wrong(22, format!("byte {} of a text is 0", e.nul_position())))
}

fn raw_address(address: SocketAddr) -> Address {
    let mut raw = Address { family: 4, port: address.port(), bytes: [0; 16] };
    match address.ip() {
        IpAddr::V4(ip) => raw.bytes[..4].copy_from_slice(&ip.octets()),
        IpAddr::V6(ip) => (raw.family, raw.bytes) = (6, ip.octets()),
    }
    raw
}

fn address_of(raw: &Address) -> SocketAddr {
    let [a, b, c, d, ..] = raw.bytes;
    let ip = if raw.family == 6 { IpAddr::from(raw.bytes) } else { IpAddr::from([a, b, c, d]) };
    SocketAddr::new(ip, raw.port)
}

unsafe fn text_of<'a>(text: *const c_char) -> Option<&'a str> {
    (!text.is_null()).then(|| CStr::from_ptr(text).to_str().unwrap_or("?"))
}

unsafe fn copy_of(start: *const c_void, bytes: u32) -> Vec<u8> {
    if bytes == 0 {
        return Vec::new();
    }
    slice::from_raw_parts(start.cast(), bytes as usize).to_vec()
}
