// SPDX-License-Identifier: BSD-3-Clause

// Package quictest moves bytes between two endpoints of quic-go in a bubble.
package quictest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"weir.example.org/weir"
)

// logged writes down what a socket sends and receives, and when.
type logged struct {
	net.PacketConn
	name  string
	began time.Time
	mu    *sync.Mutex
	log   *strings.Builder
}

func (l *logged) say(what string, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.log, "%d %s %s %d %x\n", time.Since(l.began), l.name, what, len(data),
		crc32.ChecksumIEEE(data))
}

func (l *logged) WriteTo(data []byte, to net.Addr) (int, error) {
	l.say("sends", data)
	return l.PacketConn.WriteTo(data, to)
}

func (l *logged) ReadFrom(data []byte) (int, net.Addr, error) {
	n, from, err := l.PacketConn.ReadFrom(data)
	if err == nil {
		l.say("receives", data[:n])
	}
	return n, from, err
}

// pipe is a socket whose datagrams another one has at once, without a network.
type pipe struct {
	net.PacketConn // nil: the rest is not called
	address        net.Addr
	in, out        chan []byte
	closed         chan struct{}
}

func (p *pipe) LocalAddr() net.Addr { return p.address }

func (p *pipe) WriteTo(data []byte, _ net.Addr) (int, error) {
	p.out <- slices.Clone(data)
	return len(data), nil
}

func (p *pipe) ReadFrom(data []byte) (int, net.Addr, error) {
	select {
	case got := <-p.in:
		return copy(data, got), p.address, nil
	case <-p.closed:
		return 0, nil, os.ErrDeadlineExceeded
	}
}

func (p *pipe) SetReadDeadline(at time.Time) error {
	if !at.IsZero() {
		close(p.closed)
	}
	return nil
}

func (p *pipe) Close() error { return nil }

// The windows are so large that they are never widened: what reads a stream and what sends are two
// goroutines, and which of them is first is the scheduler's.
var config = &quic.Config{MaxIdleTimeout: 10 * time.Minute, InitialStreamReceiveWindow: 1 << 30,
	MaxStreamReceiveWindow: 1 << 30, InitialConnectionReceiveWindow: 1 << 30,
	MaxConnectionReceiveWindow: 1 << 30}

func credentials(t *testing.T) (server, client *tls.Config) {
	const file = "../../../tests/bindings/certificate.pem"
	pair, err := tls.LoadX509KeyPair(file, file)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	return &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"weir"}},
		&tls.Config{RootCAs: roots, ServerName: "a", NextProtos: []string{"weir"},
			// The bubble begins in 2000, before the certificate.
			Time: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }}
}

// zeros is what is transferred.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func serve(listener *quic.Listener) {
	connection, err := listener.Accept(context.Background())
	if err != nil {
		return
	}
	stream, err := connection.AcceptStream(context.Background())
	if err != nil {
		return
	}
	request, err := io.ReadAll(stream)
	if err == nil && len(request) == 8 {
		io.CopyN(stream, zeros{}, int64(binary.BigEndian.Uint64(request)))
		stream.Close()
	}
}

// fetch requests so many bytes, and returns how long they take.
func fetch(t *testing.T, transport *quic.Transport, to net.Addr, count int) time.Duration {
	_, client := credentials(t)
	ctx := context.Background()
	connection, err := transport.Dial(ctx, to, client, config)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := connection.OpenStreamSync(ctx)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	stream.Write(binary.BigEndian.AppendUint64(nil, uint64(count)))
	stream.Close()
	got, err := io.Copy(io.Discard, stream)
	if err != nil || got != int64(count) {
		t.Fatal(got, err)
	}
	took := time.Since(began)
	connection.CloseWithError(0, "")
	return took
}

func listen(t *testing.T, transport *quic.Transport) *quic.Listener {
	server, _ := credentials(t)
	listener, err := transport.Listen(server, config)
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// exchange lets b request so many bytes from a.
func exchange(t *testing.T, a, b net.PacketConn, count int) time.Duration {
	near, far := &quic.Transport{Conn: b}, &quic.Transport{Conn: a}
	defer near.Close()
	defer far.Close()
	go serve(listen(t, far))
	defer time.Sleep(10 * time.Second)
	return fetch(t, near, a.LocalAddr(), count)
}

// transfer lets two endpoints exchange bytes through a network, and returns the log.
func transfer(t *testing.T, scenario string, seed uint64, count int) (log string, took time.Duration) {
	cryptotest.SetGlobalRandom(t, seed)
	synctest.Test(t, func(t *testing.T) {
		network, err := weir.OpenFile("../../../configs/"+scenario+".weir",
			weir.Options{Seed: &seed})
		if err != nil {
			t.Fatal(err)
		}
		defer network.Close()
		hosts := weir.Start(network)
		defer hosts.Close()
		var mu sync.Mutex
		var written strings.Builder
		var sockets [2]net.PacketConn
		for n, address := range []string{"198.18.0.1:443", "198.18.0.2:50000"} {
			port := network.Ports()[n]
			socket, err := hosts.Listen(port, netip.MustParseAddrPort(address))
			if err != nil {
				t.Fatal(err)
			}
			sockets[n] = &logged{socket, port, time.Now(), &mu, &written}
		}
		took = exchange(t, sockets[0], sockets[1], count)
		mu.Lock()
		log = written.String()
		mu.Unlock()
	})
	return log, took
}

// processor returns the time that the process has used.
func processor() time.Duration {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func TestATransferIsTheSameEachTime(t *testing.T) {
	runtime.GOMAXPROCS(1) // what one endpoint does at one instant is in one order
	seeds, count := number("WEIR_SEEDS", 2), int(number("WEIR_BYTES", 2_000_000))
	os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	for _, scenario := range []string{"geo-satellite", "lte-driving", "bad-dsl", "home-router"} {
		t.Run(scenario, func(t *testing.T) {
			logs := map[string]bool{}
			for seed := uint64(1); seed <= seeds; seed++ {
				before := processor()
				first, took := transfer(t, scenario, seed, count)
				used := processor() - before
				again, _ := transfer(t, scenario, seed, count)
				if again != first {
					t.Errorf("seed %d: two logs differ:\n%s", seed, difference(first, again))
				}
				t.Logf("seed %d: %.3f Mbit/s, %d lines; a minute takes %.2f s of processor time",
					seed, float64(count)*8e-6/took.Seconds(), strings.Count(first, "\n"),
					used.Seconds()*60/took.Seconds())
				logs[first] = true
			}
			if uint64(len(logs)) != seeds {
				t.Errorf("%d seeds give %d logs", seeds, len(logs))
			}
		})
	}
}

// What the transport itself costs: no network and no log.
func TestOverAPipe(t *testing.T) {
	runtime.GOMAXPROCS(1)
	count := int(number("WEIR_BYTES", 2_000_000))
	synctest.Test(t, func(t *testing.T) {
		there, back := make(chan []byte, 4096), make(chan []byte, 4096)
		to := &net.UDPAddr{IP: net.IPv4(198, 18, 0, 1), Port: 443}
		before := processor()
		exchange(t, &pipe{address: to, in: there, out: back, closed: make(chan struct{})},
			&pipe{address: to, in: back, out: there, closed: make(chan struct{})}, count)
		used := (processor() - before).Seconds()
		t.Logf("%d bytes: %.2f s of processor time; a minute at 10 Mbit/s takes %.2f s", count,
			used, used*75e6/float64(count))
	})
}

// The same endpoints with sockets, for `weir exec --between`: WEIR_AT=[::]:443 serves once, and
// WEIR_TO=A:443 fetches.
func TestWithSockets(t *testing.T) {
	at, to := os.Getenv("WEIR_AT"), os.Getenv("WEIR_TO")
	if at+to == "" {
		t.Skip("neither WEIR_AT nor WEIR_TO is set")
	}
	socket, err := net.ListenPacket("udp", at)
	if err != nil {
		t.Fatal(err)
	}
	transport := &quic.Transport{Conn: socket}
	if to == "" {
		serve(listen(t, transport))
		time.Sleep(time.Minute) // until it is ended
		return
	}
	server, err := net.ResolveUDPAddr("udp", to)
	if err != nil {
		t.Fatal(err)
	}
	count := int(number("WEIR_BYTES", 2_000_000))
	took := fetch(t, transport, server, count)
	t.Logf("%.3f Mbit/s", float64(count)*8e-6/took.Seconds())
}

// number returns a variable of the environment, if it is one.
func number(name string, otherwise uint64) uint64 {
	value, err := strconv.ParseUint(os.Getenv(name), 10, 64)
	if err != nil {
		return otherwise
	}
	return value
}

func difference(one, two string) string {
	a, b := strings.Split(one, "\n"), strings.Split(two, "\n")
	for n := range min(len(a), len(b)) {
		if a[n] != b[n] {
			return fmt.Sprintf("line %d:\n%s\n%s", n+1, a[n], b[n])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(a), len(b))
}
