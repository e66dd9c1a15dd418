// SPDX-License-Identifier: BSD-3-Clause

// Two endpoints of quic-go over a network of weir. A module of its own, so that the other needs no
// module.
module weir.example.org/weir/quictest

go 1.26.0

require (
	github.com/quic-go/quic-go v0.65.0
	weir.example.org/weir v0.2.0
)

require (
	golang.org/x/crypto v0.54.0 // indirect
	golang.org/x/net v0.56.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)

replace weir.example.org/weir => ../
