// SPDX-License-Identifier: BSD-3-Clause
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weir::{Clock, Network, Options};

const TEXT: &str = "port a\nport b\ncloud down from a to b\ncloud down delay 10ms\n\
                    cloud up from b to a\ncloud up loss random 50%\n";

fn addresses() -> (SocketAddr, SocketAddr) {
    ("198.18.0.1:5000".parse().unwrap(), "198.18.0.2:6000".parse().unwrap())
}

fn open(seed: u64) -> Network {
    Network::open(TEXT, &Options { seed: Some(seed), ..Options::default() }).unwrap()
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_datagram_comes_out_as_it_went_in() {
    let mut net = open(1);
    assert_eq!((net.ports(), net.next()), (&["a".to_owned(), "b".to_owned()][..], None));
    let six = ("[2001:2::1]:9".parse().unwrap(), "[2001:2::2]:7".parse().unwrap());
    for (from, to) in [addresses(), six] {
        let t = net.now();
        net.send_datagram(t, "a", from, to, b"hello", 2).unwrap();
        assert_eq!(net.next(), Some(t + ms(10)));
        let [got] = &net.receive_datagrams(t + ms(10)).unwrap()[..] else { panic!() };
        assert_eq!(
            (got.t, &*got.port, got.from, got.to, &*got.payload, got.ecn),
            (t + ms(10), "b", from, to, &b"hello"[..], 2)
        );
    }
    assert_eq!((net.skipped(), net.lacked(), net.next()), (0, None, None));
}

#[test]
fn the_same_seed_gives_the_same_and_fates_say_why() {
    let run = |seed| {
        let (mut net, (from, to)) = (open(seed), addresses());
        let fates = Arc::new(Mutex::new(Vec::new()));
        let told = fates.clone();
        net.on_fate(move |f| told.lock().unwrap().push((f.t, f.reason.map(str::to_owned))));
        for n in 0..100 {
            net.send_datagram(ms(n), "b", to, from, &n.to_be_bytes(), 0).unwrap();
        }
        let out = net.receive_datagrams(ms(1000)).unwrap();
        let fates = fates.lock().unwrap().clone();
        let lost = fates.iter().filter(|fate| fate.1.as_deref() == Some("loss")).count();
        assert_eq!((out.len() + lost, fates.len()), (100, 100));
        (out, fates)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_clone_and_a_state_continue_as_the_first_would() {
    let (mut net, frame) = (open(3), [[2u8; 12].as_slice(), &[0x88, 0xb5], &[0; 50]].concat());
    net.send(ms(0), "a", &frame).unwrap();
    net.change(ms(1), "cloud down delay 20ms\n").unwrap();
    net.send(ms(2), "a", &frame).unwrap();
    let saved = net.save().unwrap();
    assert_eq!(Network::load(&saved[1..], &Options::default()).unwrap_err().code, 22);
    let loaded = Network::load(&saved, &Options::default()).unwrap();
    let mut all = [net.try_clone().unwrap(), loaded, net];
    for net in &mut all {
        let out = net.receive(ms(1000)).unwrap();
        assert_eq!(out.iter().map(|f| f.t).collect::<Vec<_>>(), [ms(10), ms(22)]);
        assert!(out[1].data == frame && net.report().unwrap().contains("\"clouds\""));
    }
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let wrong = Network::open(
        "port a\nport b\ncloud c from a to b\ncloud c dealy 5ms\n",
        &Options::default(),
    )
    .unwrap_err();
    assert_eq!((wrong.line, wrong.column), (4, 9));
    assert!(wrong.to_string().contains("line 4, column 9") && wrong.text.contains("dealy"));
    let mut net = open(1);
    assert_eq!(net.change(ms(0), "cloud down rat 1mbit").unwrap_err().column, 12);
    let (from, to) = addresses();
    let wrong = net.send_datagram(ms(0), "c", from, to, b"", 0).unwrap_err();
    assert!(wrong.text.contains("`c`; there are a, b"));
    net.receive(ms(5)).unwrap();
    assert_eq!(net.send_datagram(ms(4), "a", from, to, b"", 0).unwrap_err().code, 62);
    assert_eq!(net.send(ms(5), "a", &[1, 2, 3]).unwrap_err().code, 90);
}

#[test]
fn a_clock_jumps_to_what_is_first() {
    let (mut net, (from, to), mut clock) = (open(1), addresses(), Clock::default());
    let began: Instant = clock.now();
    assert_eq!(clock.step(&mut net, None).unwrap(), None);
    net.send_datagram(ms(0), "a", from, to, b"x", 0).unwrap();
    assert_eq!(clock.step(&mut net, Some(began + ms(4))).unwrap(), Some(vec![]));
    assert_eq!(clock.now(), began + ms(4));
    let arrived = clock.step(&mut net, Some(began + ms(3_600_000))).unwrap().unwrap();
    assert_eq!((arrived.len(), clock.elapsed()), (1, ms(10)));
    assert_eq!(clock.step(&mut net, Some(began)).unwrap(), Some(vec![]));
    assert_eq!(clock.elapsed(), ms(10));
}

#[test]
fn a_network_may_move_to_another_thread() {
    let mut net = open(1);
    let (from, to) = addresses();
    let out = std::thread::spawn(move || {
        net.send_datagram(ms(0), "a", from, to, b"x", 0).unwrap();
        net.receive_datagrams(ms(100)).unwrap().len()
    });
    assert_eq!(out.join().unwrap(), 1);
}
