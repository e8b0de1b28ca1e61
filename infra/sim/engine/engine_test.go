package engine

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// TestFreeAddressIsNotListenedAt: while the socket that finds a free address is open, nobody
// can connect there, and the engine can listen. A process that is forked at that moment keeps
// the socket open for longer.
func TestFreeAddressIsNotListenedAt(t *testing.T) {
	t.Parallel()

	socket, address, err := bind()
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { syscall.Close(socket) })

	if c, err := net.Dial("tcp", address.String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a connection to %s: %v, %v, want it refused", address, c, err)
	}

	l, err := net.Listen("tcp", address.String())
	if err != nil {
		t.Fatalf("the engine cannot listen: %v", err)
	}

	l.Close()
}
