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
// One goroutine drives the network. In a bubble it acts only while all others wait: it passes on what
// they have sent, or delivers one datagram, and lets them run until they wait again. So what
// happens at one instant happens one after the other, the same way each time.
type Hosts struct {
	network *Network
	began   time.Time
	wake    chan struct{}
	still   *time.Timer
	settled chan struct{}
	closing chan struct{}
	ended   chan struct{}

	closeOnce sync.Once

	mu          sync.Mutex
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
	h := &Hosts{
		network:     network,
		began:       time.Now(),
		wake:        make(chan struct{}, 1),
		settled:     make(chan struct{}),
		closing:     make(chan struct{}),
		ended:       make(chan struct{}),
		bound:       make(map[netip.AddrPort]*Conn),
		undelivered: make(map[netip.AddrPort]int),
	}
	h.still = time.AfterFunc(time.Hour, func() { h.settled <- struct{}{} })
	go h.drive()
	return h
}

// Close stops the network and closes the sockets. The network itself stays open: it still has its
// report. The error is that of the engine, if there was one.
func (h *Hosts) Close() error {
	h.mu.Lock()
	conns := slices.Clone(h.conns)
	h.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
	h.closeOnce.Do(func() { close(h.closing) })
	<-h.ended
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
	c := &Conn{hosts: h, port: index, local: address, inbox: make(chan datagram, inboxSize),
		closed: make(chan struct{}), expired: make(chan struct{})}
	h.conns = append(h.conns, c)
	h.bound[address] = c
	return c, nil
}

func (h *Hosts) drive() {
	defer close(h.ended)
	timer := time.NewTimer(0)
	for {
		select {
		case <-h.closing:
			timer.Stop()
			h.still.Stop()
			return
		case <-h.wake:
		case <-timer.C:
		}
		if err := h.step(); err != nil {
			h.mu.Lock()
			h.err = err
			h.mu.Unlock()
			<-h.closing
			return
		}
		if next, ok := h.network.Next(); ok {
			timer.Reset(max(0, next-time.Since(h.began)))
		}
	}
}

// step passes on what was sent, and delivers what has left the network by now.
func (h *Hosts) step() error {
	for {
		h.settle()
		select {
		case <-h.wake: // what was sent until now is passed on here
		default:
		}
		if err := h.pass(); err != nil {
			return err
		}
		d, ok, err := h.network.ReceiveDatagram(time.Since(h.began))
		if err != nil || !ok {
			return err
		}
		h.deliver(d)
	}
}

// settle returns once all other goroutines of the bubble wait, at the same instant. It does what
// synctest.Wait does, which others may call meanwhile: a timer that is pending, and is then set to
// this instant, goes off when nobody runs any more. Others may have set theirs in this way, too, so
// a second and a third time follow what they do.
func (h *Hosts) settle() {
	for range 3 {
		h.still.Reset(time.Hour)
		h.still.Reset(0)
		<-h.settled
	}
}

// pass hands the datagrams that were sent to the network: in the order of their instants, and those
// of one instant in the order in which the sockets were opened.
func (h *Hosts) pass() error {
	h.mu.Lock()
	var sent []outgoing
	for _, c := range h.conns {
		sent = append(sent, c.outbox...)
		c.outbox = c.outbox[:0]
	}
	h.conns = slices.DeleteFunc(h.conns, func(c *Conn) bool { return h.bound[c.local] != c })
	h.mu.Unlock()
	slices.SortStableFunc(sent, func(a, b outgoing) int { return int(a.at - b.at) })
	for _, o := range sent {
		if err := h.network.SendDatagram(o.at, o.port, o.Datagram); err != nil {
			return err
		}
	}
	return nil
}

func (h *Hosts) deliver(d Datagram) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.bound[d.To]
	if c == nil || c.port != d.Port {
		h.undelivered[d.To]++
		return
	}
	select {
	case c.inbox <- datagram{d.From, d.Payload}:
	default:
		h.undelivered[d.To]++
	}
}

type datagram struct {
	from    netip.AddrPort
	payload []byte
}

type outgoing struct {
	at   time.Duration
	port int
	Datagram
}

// Conn is a UDP socket at a port of the network.
type Conn struct {
	hosts  *Hosts
	port   int
	local  netip.AddrPort
	inbox  chan datagram
	outbox []outgoing // under hosts.mu
	closed chan struct{}

	mu       sync.Mutex
	expired  chan struct{} // closed at the deadline
	deadline *time.Timer
}

var _ net.PacketConn = (*Conn)(nil)

// ReadFrom waits for a datagram. Of a longer one, the rest is lost, as with a socket.
func (c *Conn) ReadFrom(p []byte) (int, net.Addr, error) {
	c.mu.Lock()
	expired := c.expired
	c.mu.Unlock()
	select { // an end comes before what is left to read
	case <-c.closed:
		return 0, nil, c.failed("read", net.ErrClosed)
	case <-expired:
		return 0, nil, c.failed("read", os.ErrDeadlineExceeded)
	default:
	}
	select {
	case d := <-c.inbox:
		return copy(p, d.payload), net.UDPAddrFromAddrPort(d.from), nil
	case <-c.closed:
		return 0, nil, c.failed("read", net.ErrClosed)
	case <-expired:
		return 0, nil, c.failed("read", os.ErrDeadlineExceeded)
	}
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
	if h.bound[c.local] != c {
		return 0, c.failed("write", net.ErrClosed)
	}
	if h.err != nil {
		return 0, c.failed("write", h.err)
	}
	c.outbox = append(c.outbox, outgoing{time.Since(h.began), c.port,
		Datagram{From: c.local, To: target, Payload: slices.Clone(p)}})
	select {
	case h.wake <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (c *Conn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: "udp", Source: c.LocalAddr(), Err: err}
}

// Close closes the socket. What it has sent before still goes its way.
func (c *Conn) Close() error {
	h := c.hosts
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bound[c.local] != c {
		return c.failed("close", net.ErrClosed)
	}
	delete(h.bound, c.local)
	close(c.closed)
	return c.SetReadDeadline(time.Time{})
}

// LocalAddr returns a *net.UDPAddr.
func (c *Conn) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(c.local) }

// SetDeadline sets the deadline of reads; a write never waits.
func (c *Conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetReadDeadline sets when reads fail with os.ErrDeadlineExceeded; the zero time stands for never.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deadline != nil {
		c.deadline.Stop()
		c.deadline = nil
	}
	select {
	case <-c.expired:
		c.expired = make(chan struct{})
	default:
	}
	if t.IsZero() {
		return nil
	}
	expired := c.expired
	if wait := time.Until(t); wait > 0 {
		c.deadline = time.AfterFunc(wait, func() { close(expired) })
	} else {
		close(expired)
	}
	return nil
}

// SetWriteDeadline does nothing, since a write never waits.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }
