// SPDX-License-Identifier: BSD-3-Clause

// Package quictest moves bytes between two endpoints of quic-go in a bubble.
package quictest

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
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
		sha256.Sum256(data))
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
		stream.Write(make([]byte, binary.BigEndian.Uint64(request)))
		stream.Close()
	}
}

// transfer requests so many bytes, and returns the log and the goodput in bit/s.
func transfer(t *testing.T, scenario string, seed uint64, count int) (log string, goodput float64) {
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
		transports := map[string]*quic.Transport{}
		for n, port := range []string{"a", "b"} {
			address := []string{"198.18.0.1:443", "198.18.0.2:50000"}[n]
			socket, err := hosts.Listen(port, netip.MustParseAddrPort(address))
			if err != nil {
				t.Fatal(err)
			}
			transports[port] = &quic.Transport{
				Conn: &logged{socket, port, time.Now(), &mu, &written}}
			defer transports[port].Close()
		}
		server, client := credentials(t)
		listener, err := transports["a"].Listen(server, config)
		if err != nil {
			t.Fatal(err)
		}
		go serve(listener)
		ctx := context.Background()
		to := net.UDPAddrFromAddrPort(netip.MustParseAddrPort("198.18.0.1:443"))
		connection, err := transports["b"].Dial(ctx, to, client, config)
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
		got, err := io.ReadAll(stream)
		if err != nil || len(got) != count {
			t.Fatal(len(got), err)
		}
		goodput = float64(count) * 8 / time.Since(began).Seconds()
		connection.CloseWithError(0, "")
		time.Sleep(10 * time.Second)
		mu.Lock()
		log = written.String()
		mu.Unlock()
	})
	return log, goodput
}

func TestATransferIsTheSameEachTime(t *testing.T) {
	runtime.GOMAXPROCS(1) // what one endpoint does at one instant is in one order
	seeds, count := number("WEIR_SEEDS", 2), int(number("WEIR_BYTES", 2_000_000))
	os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	for _, scenario := range []string{"geo-satellite", "lte-driving", "home-router"} {
		t.Run(scenario, func(t *testing.T) {
			logs := map[string]bool{}
			for seed := uint64(1); seed <= seeds; seed++ {
				first, goodput := transfer(t, scenario, seed, count)
				again, _ := transfer(t, scenario, seed, count)
				if again != first {
					t.Errorf("seed %d: two logs differ:\n%s", seed, difference(first, again))
				}
				t.Logf("seed %d: %.0f bit/s, %d lines", seed, goodput,
					strings.Count(first, "\n"))
				logs[first] = true
			}
			if uint64(len(logs)) != seeds {
				t.Errorf("%d seeds give %d logs", seeds, len(logs))
			}
		})
	}
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
