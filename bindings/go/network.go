// SPDX-License-Identifier: BSD-3-Clause

// Package weir is an emulated network inside a program, in virtual time: the library libweir.
//
// A Network is a function of what is put in: frames or datagrams, each with its instant, go in, and
// what leaves comes out, each with its instant, at the same nanoseconds each time. Hosts connect
// programs that have sockets, such as quic-go: each gets a net.PacketConn, and in a bubble of
// testing/synctest the time of the network is that of the bubble.
package weir

/*
#cgo LDFLAGS: -lweir
#include <stdlib.h>
#include <weir.h>

// The payload is Go's: C may have its address during a call, and not in a struct of Go.
static inline int udp_send(struct weir *net, struct weir_datagram d, const void *payload)
{
	d.payload = payload;
	return weir_udp_send(net, &d, 1);
}

void weirTell(uintptr_t handle, struct weir_fate *fate);
static inline void tell(void *handle, const struct weir_fate *fate)
{
	weirTell((uintptr_t)handle, (struct weir_fate *)fate);
}
static inline int on_fate(struct weir *net, uintptr_t handle)
{
	return weir_on_fate(net, handle ? tell : NULL, (void *)handle, WEIR_FATES_DECIDED);
}
*/
import "C"

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/cgo"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// Options say how a network is made. The zero value is usable.
type Options struct {
	Seed   *uint64 // of all random draws; nil: that of the scenario
	Folder string  // of files that the scenario names; "": the working directory
	Memory uint64  // the most bytes of frames in the network; 0: 1 GiB
}

// Error is what is wrong with a text. Line and Column count from 1; 0: no place in it.
type Error struct {
	Line, Column int
	Text         string
	Errno        syscall.Errno
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return "weir: " + e.Text
	}
	return fmt.Sprintf("weir: line %d, column %d: %s", e.Line, e.Column, e.Text)
}

func (e *Error) Unwrap() error { return e.Errno }

// Frame is an Ethernet frame, without preamble and FCS, that has left the network.
type Frame struct {
	At   time.Duration
	Port int
	Data []byte
}

// Datagram is a UDP datagram. At and Port are when and where it has left the network.
type Datagram struct {
	At       time.Duration
	Port     int
	From, To netip.AddrPort
	Payload  []byte
	ECN      uint8 // 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE
}

// Fate is what becomes of a packet at a cloud, decided at an instant.
type Fate struct {
	At        time.Duration
	Cloud     string
	Reason    string        // why it is dropped: `loss`, `queue-full`, ...; "": it is delivered
	Leaves    time.Duration // when it will leave the cloud, unless it is dropped
	Packet    uint64        // its number at the port where it entered, from 1; 0: the network's own
	Port      int
	WireBytes int
}

// Network is made from a scenario. One goroutine at a time uses it; other networks do not matter.
// Its time begins at 0, and no call may go back.
type Network struct {
	net   *C.struct_weir
	ports []string
	told  cgo.Handle // of the callback for fates; 0: none
}

// raw returns the options for C; its base is to be freed.
func (o Options) raw() C.struct_weir_options {
	raw := C.struct_weir_options{size: C.sizeof_struct_weir_options,
		memory_bytes: C.uint64_t(o.Memory), base: C.CString(o.Folder)}
	if o.Seed != nil {
		raw.seed, raw.has_seed = C.uint64_t(*o.Seed), 1
	}
	return raw
}

// Open makes a network from the text of a scenario: ports, clouds and their statements.
func Open(scenario string, options Options) (*Network, error) {
	text, raw := C.CString(scenario), options.raw()
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(raw.base))
	var wrong C.struct_weir_error
	return made(C.weir_open(text, &raw, &wrong), &wrong)
}

// OpenFile makes a network from a file, which may name others beside it.
func OpenFile(path string, options Options) (*Network, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if options.Folder == "" {
		options.Folder = filepath.Dir(path)
	}
	return Open(string(text), options)
}

func made(net *C.struct_weir, wrong *C.struct_weir_error) (*Network, error) {
	if net == nil {
		return nil, errorOf(wrong)
	}
	n := &Network{net: net}
	for port := range C.weir_ports(net) {
		n.ports = append(n.ports, C.GoString(C.weir_port_name(net, port)))
	}
	return n, nil
}

func errorOf(wrong *C.struct_weir_error) error {
	return &Error{int(wrong.line), int(wrong.column), C.GoString(&wrong.text[0]),
		syscall.Errno(-wrong.code)}
}

func answered(code C.int) error {
	if code >= 0 {
		return nil
	}
	return &Error{Text: C.GoString(C.weir_words(code)), Errno: syscall.Errno(-code)}
}

// Close frees the network and what is in it.
func (n *Network) Close() {
	C.weir_close(n.net)
	n.net = nil
	n.forget()
}

// Ports returns the names of the ports, in the order of the scenario.
func (n *Network) Ports() []string { return n.ports }

// Port returns the index of a port.
func (n *Network) Port(name string) (int, error) {
	if port := slices.Index(n.ports, name); port >= 0 {
		return port, nil
	}
	return 0, &Error{Text: fmt.Sprintf("there is no port `%s`; there are %s", name,
		strings.Join(n.ports, ", ")), Errno: syscall.ENOENT}
}

// Send puts a frame in. What the network does with it is no error.
func (n *Network) Send(at time.Duration, port int, frame []byte) error {
	return answered(C.weir_send(n.net, C.int64_t(at), C.uint32_t(port),
		unsafe.Pointer(unsafe.SliceData(frame)), C.uint32_t(len(frame))))
}

// SendDatagram puts a datagram in, in a frame with headers of Ethernet, IP and UDP.
func (n *Network) SendDatagram(at time.Duration, port int, d Datagram) error {
	raw := C.struct_weir_datagram{t_ns: C.int64_t(at), port: C.uint32_t(port),
		bytes: C.uint32_t(len(d.Payload)), from: rawAddress(d.From), to: rawAddress(d.To),
		ecn: C.uint8_t(d.ECN)}
	return answered(C.udp_send(n.net, raw, unsafe.Pointer(unsafe.SliceData(d.Payload))))
}

// Next returns the next instant at which something leaves or may change; false: never, until
// something is sent. A schedule without an end always has one.
func (n *Network) Next() (time.Duration, bool) { return instant(C.weir_next(n.net)) }

func instant(at C.int64_t) (time.Duration, bool) { return time.Duration(at), at != C.WEIR_NEVER }

// Now returns the instant that the network has reached.
func (n *Network) Now() time.Duration { return time.Duration(C.weir_now(n.net)) }

// Receive lets time pass, and returns the frames that have left by then, in order.
func (n *Network) Receive(until time.Duration) ([]Frame, error) {
	var found []Frame
	var raw [C.WEIR_BATCH_MAX]C.struct_weir_frame
	for {
		count := C.weir_receive(n.net, C.int64_t(until), &raw[0], C.WEIR_BATCH_MAX)
		if count <= 0 {
			return found, answered(count)
		}
		for _, f := range raw[:count] {
			found = append(found, Frame{time.Duration(f.t_ns), int(f.port),
				C.GoBytes(f.data, C.int(f.bytes))})
		}
	}
}

// ReceiveDatagram lets time pass, and returns the first datagram that has left by then; false: there
// is none. What a host would not pass to UDP is skipped: damaged ones, fragments, other protocols.
func (n *Network) ReceiveDatagram(until time.Duration) (Datagram, bool, error) {
	var raw C.struct_weir_datagram
	count := C.weir_udp_receive(n.net, C.int64_t(until), &raw, 1)
	if count <= 0 {
		return Datagram{}, false, answered(count)
	}
	return Datagram{time.Duration(raw.t_ns), int(raw.port), addressOf(&raw.from), addressOf(&raw.to),
		C.GoBytes(raw.payload, C.int(raw.bytes)), uint8(raw.ecn)}, true, nil
}

// Skipped returns how many frames ReceiveDatagram has skipped.
func (n *Network) Skipped() uint64 { return uint64(C.weir_udp_skipped(n.net)) }

// Change changes the network at an instant, by lines as of `weir ctl`, such as
// `cloud down rate 2mbit`. All take effect or none.
func (n *Network) Change(at time.Duration, lines ...string) error {
	text := C.CString(strings.Join(lines, "\n"))
	defer C.free(unsafe.Pointer(text))
	var wrong C.struct_weir_error
	if C.weir_change(n.net, C.int64_t(at), text, &wrong) != 0 {
		return errorOf(&wrong)
	}
	return nil
}

// Report returns what has happened by now: the report of `weir replay`, in JSON.
func (n *Network) Report() ([]byte, error) {
	text := C.weir_report(n.net)
	if text == nil {
		return nil, answered(-C.int(syscall.ENOMEM))
	}
	defer C.weir_free(unsafe.Pointer(text))
	return []byte(C.GoString(text)), nil
}

// Lacked returns from when on the network has lacked memory, so that it does not do what the
// scenario says; false: it has not.
func (n *Network) Lacked() (time.Duration, bool) { return instant(C.weir_lacked(n.net)) }

// Clone returns a second network in the same state, which continues as this one would.
func (n *Network) Clone() (*Network, error) {
	var wrong C.struct_weir_error
	return made(C.weir_clone(n.net, &wrong), &wrong)
}

// Save returns the state as bytes, for Load.
func (n *Network) Save() ([]byte, error) {
	var size C.size_t
	var wrong C.struct_weir_error
	saved := C.weir_save(n.net, &size, &wrong)
	if saved == nil {
		return nil, errorOf(&wrong)
	}
	defer C.weir_free(saved)
	return slices.Clone(unsafe.Slice((*byte)(saved), size)), nil
}

// Load makes a network from the bytes of Save, of the same version of weir. The seed is theirs.
func Load(saved []byte, options Options) (*Network, error) {
	raw := options.raw()
	defer C.free(unsafe.Pointer(raw.base))
	var wrong C.struct_weir_error
	return made(C.weir_load(unsafe.Pointer(unsafe.SliceData(saved)), C.size_t(len(saved)), &raw,
		&wrong), &wrong)
}

// OnFate calls a function for each packet that will be delivered or is dropped; nil: no longer. The
// function does not use the network.
func (n *Network) OnFate(call func(Fate)) error {
	n.forget()
	if call != nil {
		n.told = cgo.NewHandle(call)
	}
	return answered(C.on_fate(n.net, C.uintptr_t(n.told)))
}

func (n *Network) forget() {
	if n.told != 0 {
		n.told.Delete()
	}
	n.told = 0
}

//export weirTell
func weirTell(handle C.uintptr_t, f *C.struct_weir_fate) {
	cgo.Handle(handle).Value().(func(Fate))(Fate{time.Duration(f.t_ns), C.GoString(f.cloud),
		C.GoString(f.reason), time.Duration(f.leaves_ns), uint64(f.packet), int(f.port),
		int(f.wire_bytes)})
}

func rawAddress(address netip.AddrPort) (raw C.struct_weir_address) {
	raw.port, raw.family = C.uint16_t(address.Port()), C.WEIR_IPV6
	if address.Addr().Is4() {
		raw.family = C.WEIR_IPV4
	}
	copy((*[16]byte)(unsafe.Pointer(&raw.bytes))[:], address.Addr().AsSlice())
	return raw
}

func addressOf(raw *C.struct_weir_address) netip.AddrPort {
	bytes := *(*[16]byte)(unsafe.Pointer(&raw.bytes))
	address := netip.AddrFrom16(bytes)
	if raw.family == C.WEIR_IPV4 {
		address = netip.AddrFrom4([4]byte(bytes[:4]))
	}
	return netip.AddrPortFrom(address, uint16(raw.port))
}
