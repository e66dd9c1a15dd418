// SPDX-License-Identifier: BSD-3-Clause
//! What weir.h declares.
use std::ffi::{c_char, c_int, c_void};

pub const NEVER: i64 = i64::MAX;
pub const BATCH: usize = 256;

pub type Net = c_void; // opaque

macro_rules! structs {
    ($($name:ident { $($field:ident: $of:ty),* })*) => {
        $(#[repr(C)] pub struct $name { $(pub $field: $of),* })*
    };
}

structs! {
    Options { size: usize, seed: u64, has_seed: c_int, base: *const c_char, memory_bytes: u64,
              begin_ns: i64 }
    Error { code: c_int, line: u32, column: u32, text: [c_char; 1012] }
    Frame { t_ns: i64, port: u32, bytes: u32, wire_bytes: u32, reserved: u32, data: *const c_void }
    Address { family: u16, port: u16, bytes: [u8; 16] }
    Datagram { t_ns: i64, port: u32, bytes: u32, payload: *const c_void, from: Address, to: Address,
               ecn: u8, dscp: u8, ttl: u8, reserved: [u8; 5] }
    Fate { t_ns: i64, packet: u64, port: u32, to_port: u32, kind: u32, flags: u32,
           cloud: *const c_char, statement: *const c_char, reason: *const c_char,
           reason_kind: *const c_char, arrived_ns: i64, leaves_ns: i64, queue_bytes: u64,
           wire_bytes: u32, bytes: u32, data: *const c_void }
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
    pub fn weir_words(code: c_int) -> *const c_char;
}
