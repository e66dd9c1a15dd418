// SPDX-License-Identifier: BSD-3-Clause

package weir

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"
)

// Hosts are sockets at the ports of a network, on the clock of package time: in a bubble of
// testing/synctest this is virtual, elsewhere it is real.
//
// In a bubble the network acts only while all goroutines wait: it takes what they have sent, or
// delivers one datagram, and lets them run until they wait again. So what happens at one instant
// happens one after the other, the same way each time.
type Hosts struct {
	network *Network
	began   time.Time

	mu          sync.Mutex // the network is used under it
	timer       *time.Timer
	rounds      int           // how often all others will have waited when the network acts
	turn        chan struct{} // lets it act; nil: it is closed
	sent        []Datagram
	conns       []*Conn
	bound       map[netip.AddrPort]*Conn
	undelivered map[netip.AddrPort]int
	err         error
}

// inboxSize is how many datagrams wait for a reader, as in the buffer of a socket.
const inboxSize = 4096

// Start begins to drive the network, whose instant 0 is now. Until Close, the network belongs to
// Hosts alone. In a bubble, Close comes before the end of the bubble.
func Start(network *Network) *Hosts {
	h := &Hosts{network: network, began: time.Now(), turn: make(chan struct{}, 1),
		bound: make(map[netip.AddrPort]*Conn), undelivered: make(map[netip.AddrPort]int)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timer = time.AfterFunc(time.Hour, h.due)
	h.settle()
	go h.drive(h.turn)
	return h
}

// Close stops the network and closes the sockets. The network itself stays open: it still has its
// report. The error is that of the engine, if there was one.
func (h *Hosts) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.turn == nil {
		return h.err
	}
	h.timer.Stop()
	close(h.turn)
	h.turn = nil
	for _, c := range h.conns {
		c.close()
	}
	return h.err
}

// Undelivered returns how many datagrams have reached an address where nobody waits for them, or
// whose reader has left inboxSize others unread.
func (h *Hosts) Undelivered() map[netip.AddrPort]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.undelivered)
}

// Listen returns a socket of the host at a port of the network. The host has any address that is
// asked for; the port 0 stands for a free one.
func (h *Hosts) Listen(port string, address netip.AddrPort) (*Conn, error) {
	index, err := h.network.Port(port)
	if err != nil {
		return nil, err
	}
	if !address.Addr().IsValid() || address.Addr().IsUnspecified() {
		return nil, fmt.Errorf("weir: %v is not the address of a host, like 198.18.0.1:443", address)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for free := uint16(49152); address.Port() == 0; free++ {
		if free == 0 {
			return nil, fmt.Errorf("weir: no port of %v is free", address.Addr())
		}
		if candidate := netip.AddrPortFrom(address.Addr(), free); h.bound[candidate] == nil {
			address = candidate
		}
	}
	if h.bound[address] != nil {
		return nil, fmt.Errorf("weir: %v is in use", address)
	}
	c := &Conn{hosts: h, port: index, local: address, inbox: make(chan Datagram, inboxSize),
		expired: make(chan struct{})}
	h.conns = append(h.conns, c)
	h.bound[address] = c
	return c, nil
}

// settle lets the network act once all goroutines of the bubble wait, at the same instant.
func (h *Hosts) settle() {
	if h.rounds == 0 {
		// What others do when all wait may make them wait anew, so that follows, too. Twice is
		// not enough: a deadline at the instant of a datagram is then before or after it.
		h.rounds = 3
		h.idle()
	}
}

// idle calls due when nobody runs any more. So does synctest.Wait, which others may call meanwhile:
// a timer that is pending, and is then set to this instant, goes off at that moment.
func (h *Hosts) idle() {
	h.timer.Reset(time.Hour)
	h.timer.Reset(0)
}

func (h *Hosts) due() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rounds == 0 { // the next instant of the network has come, and all wait
		h.rounds = 3
	}
	if h.rounds--; h.rounds > 0 && h.turn != nil {
		h.idle()
		return
	}
	select {
	case h.turn <- struct{}{}:
	default: // it is closed, or about to act
	}
}

// drive has a goroutine of its own, whose stack has grown: those of timers are new each time.
func (h *Hosts) drive(turn chan struct{}) {
	for range turn {
		h.mu.Lock()
		if h.turn != nil && h.err == nil {
			h.err = h.act()
		}
		h.mu.Unlock()
	}
}

// act passes on what was sent, and delivers the first datagram that has left the network by now.
func (h *Hosts) act() error {
	if err := h.pass(); err != nil {
		return err
	}
	d, ok, err := h.network.ReceiveDatagram(time.Since(h.began))
	if ok {
		h.deliver(d)
	}
	if next, more := h.network.Next(); more {
		if wait := next - time.Since(h.began); wait > 0 {
			h.timer.Reset(wait)
		} else {
			h.settle()
		}
	}
	return err
}

// pass hands the datagrams that were sent to the network: in the order of their instants, and those
// of one instant in the order in which the sockets were opened.
func (h *Hosts) pass() error {
	h.sent = h.sent[:0]
	for _, c := range h.conns {
		h.sent = append(h.sent, c.outbox...)
		c.outbox = c.outbox[:0]
	}
	h.conns = slices.DeleteFunc(h.conns, func(c *Conn) bool { return c.closed })
	slices.SortStableFunc(h.sent, func(a, b Datagram) int { return int(a.At - b.At) })
	for _, d := range h.sent {
		if err := h.network.SendDatagram(d.At, d.Port, d); err != nil {
			return err
		}
	}
	return nil
}

func (h *Hosts) deliver(d Datagram) {
	c := h.bound[d.To]
	if c == nil || c.port != d.Port {
		h.undelivered[d.To]++
		return
	}
	select {
	case c.inbox <- d:
	default:
		h.undelivered[d.To]++
	}
}

// Conn is a UDP socket at a port of the network.
type Conn struct {
	hosts *Hosts
	port  int
	local netip.AddrPort
	inbox chan Datagram

	// Under hosts.mu.
	outbox   []Datagram
	closed   bool
	deadline *time.Timer
	expired  chan struct{} // closed at the deadline, or with the socket
}

// ReadFrom waits for a datagram. Of a longer one, the rest is lost, as with a socket.
func (c *Conn) ReadFrom(p []byte) (int, net.Addr, error) {
	c.hosts.mu.Lock()
	expired := c.expired
	c.hosts.mu.Unlock()
	select {
	case <-expired: // an end comes before what is left to read
	default:
		select {
		case d := <-c.inbox:
			return copy(p, d.Payload), net.UDPAddrFromAddrPort(d.From), nil
		case <-expired:
		}
	}
	c.hosts.mu.Lock()
	defer c.hosts.mu.Unlock()
	if c.closed {
		return 0, nil, c.failed("read", net.ErrClosed)
	}
	return 0, nil, c.failed("read", os.ErrDeadlineExceeded)
}

// WriteTo sends a datagram at this instant. It does not wait.
func (c *Conn) WriteTo(p []byte, addr net.Addr) (int, error) {
	to, ok := addr.(*net.UDPAddr)
	if !ok {
		return 0, c.failed("write", fmt.Errorf("%v is not the address of a UDP socket", addr))
	}
	target := netip.AddrPortFrom(to.AddrPort().Addr().Unmap(), to.AddrPort().Port())
	if target.Addr().Is4() != c.local.Addr().Is4() {
		return 0, c.failed("write", fmt.Errorf("%v is of another family", target))
	}
	h := c.hosts
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.closed {
		return 0, c.failed("write", net.ErrClosed)
	}
	if h.err != nil {
		return 0, c.failed("write", h.err)
	}
	c.outbox = append(c.outbox, Datagram{At: time.Since(h.began), Port: c.port, From: c.local,
		To: target, Payload: slices.Clone(p)})
	h.settle()
	return len(p), nil
}

func (c *Conn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: "udp", Source: c.LocalAddr(), Err: err}
}

// Close closes the socket. What it has sent before still goes its way.
func (c *Conn) Close() error {
	c.hosts.mu.Lock()
	defer c.hosts.mu.Unlock()
	return c.close()
}

func (c *Conn) close() error {
	if c.closed {
		return c.failed("close", net.ErrClosed)
	}
	c.closed = true
	delete(c.hosts.bound, c.local)
	c.expire(c.hosts.began)
	return nil
}

// LocalAddr returns a *net.UDPAddr.
func (c *Conn) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(c.local) }

// SetReadDeadline sets when reads fail with os.ErrDeadlineExceeded; the zero time stands for never.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.hosts.mu.Lock()
	defer c.hosts.mu.Unlock()
	if c.closed {
		return c.failed("set", net.ErrClosed)
	}
	c.expire(t)
	return nil
}

func (c *Conn) expire(at time.Time) {
	open := c.deadline == nil || c.deadline.Stop()
	select {
	case <-c.expired:
		open = false
	default:
	}
	if !open { // or about to be closed by the timer
		c.expired = make(chan struct{})
	}
	expired := c.expired
	c.deadline = nil
	if wait := time.Until(at); wait > 0 {
		c.deadline = time.AfterFunc(wait, func() { close(expired) })
	} else if !at.IsZero() {
		close(expired)
	}
}

// SetDeadline is SetReadDeadline, since a write never waits.
func (c *Conn) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }
