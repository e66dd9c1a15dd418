// SPDX-License-Identifier: BSD-3-Clause
//! What weir.h declares.
use std::ffi::{c_char, c_int, c_void};

pub const NEVER: i64 = i64::MAX;
pub const BATCH: usize = 256;

pub type Net = c_void; // opaque

#[repr(C)]
pub struct Options {
    pub size: usize,
    pub seed: u64,
    pub has_seed: c_int,
    pub base: *const c_char,
    pub memory_bytes: u64,
    pub begin_ns: i64,
}

#[repr(C)]
pub struct Error {
    pub code: c_int,
    pub line: u32,
    pub column: u32,
    pub text: [c_char; 1012],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Frame {
    pub t_ns: i64,
    pub port: u32,
    pub bytes: u32,
    pub wire_bytes: u32,
    pub reserved: u32,
    pub data: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Address {
    pub family: u16,
    pub port: u16,
    pub bytes: [u8; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Datagram {
    pub t_ns: i64,
    pub port: u32,
    pub bytes: u32,
    pub payload: *const c_void,
    pub from: Address,
    pub to: Address,
    pub ecn: u8,
    pub dscp: u8,
    pub ttl: u8,
    pub reserved: [u8; 5],
}

#[repr(C)]
pub struct Fate {
    pub t_ns: i64,
    pub packet: u64,
    pub port: u32,
    pub to_port: u32,
    pub kind: u32,
    pub flags: u32,
    pub cloud: *const c_char,
    pub statement: *const c_char,
    pub reason: *const c_char,
    pub reason_kind: *const c_char,
    pub arrived_ns: i64,
    pub leaves_ns: i64,
    pub queue_bytes: u64,
    pub wire_bytes: u32,
    pub bytes: u32,
    pub data: *const c_void,
}

pub type OnFate = extern "C" fn(argument: *mut c_void, fate: *const Fate);

extern "C" {
    pub fn weir_open(text: *const c_char, options: *const Options, error: *mut Error) -> *mut Net;
    pub fn weir_close(net: *mut Net);
    pub fn weir_ports(net: *const Net) -> u32;
    pub fn weir_port_name(net: *const Net, port: u32) -> *const c_char;
    pub fn weir_send(net: *mut Net, t: i64, port: u32, frame: *const c_void, n: u32) -> c_int;
    pub fn weir_next(net: *const Net) -> i64;
    pub fn weir_now(net: *const Net) -> i64;
    pub fn weir_receive(net: *mut Net, until_ns: i64, frames: *mut Frame, n: u32) -> c_int;
    pub fn weir_udp_send(net: *mut Net, datagrams: *const Datagram, n: u32) -> c_int;
    pub fn weir_udp_receive(net: *mut Net, until: i64, datagrams: *mut Datagram, n: u32) -> c_int;
    pub fn weir_udp_skipped(net: *const Net) -> u64;
    pub fn weir_change(net: *mut Net, t: i64, lines: *const c_char, error: *mut Error) -> c_int;
    pub fn weir_report(net: *mut Net) -> *mut c_char;
    pub fn weir_lacked(net: *const Net) -> i64;
    pub fn weir_on_fate(net: *mut Net, f: OnFate, argument: *mut c_void, kinds: u32) -> c_int;
    pub fn weir_clone(net: *mut Net, error: *mut Error) -> *mut Net;
    pub fn weir_save(net: *mut Net, bytes: *mut usize, error: *mut Error) -> *mut c_void;
    pub fn weir_load(s: *const c_void, n: usize, o: *const Options, e: *mut Error) -> *mut Net;
    pub fn weir_free(memory: *mut c_void);
}
