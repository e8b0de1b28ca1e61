// Package engine runs the engines of this machine: servers that npm fetches, each a child
// process at a random address.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrExited is the error of an engine that ends before it accepts connections. Another
// process may have taken its port: a start at another address may succeed.
var ErrExited = errors.New("the engine exited during its start")

// Process is a running engine.
type Process struct {
	Exited <-chan struct{} // closed when the process has ended, for whatever reason
	Stop   func()          // ends the process, by force after 2 s; a second call does nothing
	Kill   func()          // ends the process at once; a second call does nothing
}

// Run starts an engine, and returns when it accepts connections at address. ctx bounds the
// start. Errors: ErrExited with what the engine has written; an engine that accepts no
// connection for a minute.
func Run(ctx context.Context, cmd *exec.Cmd, address string) (Process, error) {
	DieWithParent(cmd)

	var stderr strings.Builder

	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return Process{}, fmt.Errorf("start the engine %s: %w", filepath.Base(cmd.Path), err)
	}

	exited := make(chan struct{})

	go func() { cmd.Wait(); close(exited) }()

	kill := func() { cmd.Process.Kill(); <-exited }

	p := Process{Exited: exited, Kill: kill, Stop: func() {
		cmd.Process.Signal(os.Interrupt)

		select {
		case <-exited:
		case <-time.After(2 * time.Second):
			kill()
		}
	}}
	if err := awaitConnection(ctx, address, exited); err != nil {
		p.Stop()

		if err == ErrExited {
			err = fmt.Errorf("%w: %q", err, strings.TrimSpace(stderr.String()))
		}

		return Process{}, err
	}

	return p, nil
}

// awaitConnection returns when the engine accepts connections.
func awaitConnection(ctx context.Context, address string, exited <-chan struct{}) error {
	limit, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()

	for {
		c, err := (&net.Dialer{}).DialContext(limit, "tcp", address)
		if err == nil {
			return c.Close()
		}

		select {
		case <-exited:
			return ErrExited
		case <-limit.Done():
			return cmp.Or(ctx.Err(), errors.New("the engine accepted no connection for a minute"))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Listen listens at a random address of this machine, on a free port.
//
// A server that answers any web page is safe there on Linux, which has 16 million such
// addresses: a page cannot find it. Other systems have one, 127.0.0.1, where only the port
// is random.
func Listen() (net.Listener, error) {
	l, err := net.Listen("tcp", netip.AddrPortFrom(netip.AddrFrom4(loopback()), 0).String())
	if err != nil {
		return net.Listen("tcp", "127.0.0.1:0")
	}

	return l, nil
}

// loopback returns a random loopback address.
func loopback() [4]byte {
	part := func() byte { return byte(1 + rand.IntN(254)) }
	return [4]byte{127, part(), part(), part()}
}

// FreeAddress returns an address that Listen could use, for an engine that listens itself. If
// another process takes it first, the engine exits.
func FreeAddress() (host, port string, err error) {
	socket, address, err := bind()
	if err != nil {
		return "", "", fmt.Errorf("find a free address: %w", err)
	}

	syscall.Close(socket)

	return address.Addr().String(), strconv.Itoa(int(address.Port())), nil
}

// bind opens a socket at an address that Listen could use. It does not listen there: a process
// that is forked meanwhile has the socket until it executes, and a listener would accept the
// first connection in place of the engine.
func bind() (socket int, address netip.AddrPort, err error) {
	syscall.ForkLock.RLock()

	if socket, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0); err == nil {
		syscall.CloseOnExec(socket)
	}

	syscall.ForkLock.RUnlock()

	if err != nil {
		return 0, address, err
	}
	// The engine may bind while the forked process still has the socket.
	err = syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		if err = syscall.Bind(socket, &syscall.SockaddrInet4{Addr: loopback()}); err != nil {
			err = syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
		}
	}

	var name syscall.Sockaddr
	if err == nil {
		name, err = syscall.Getsockname(socket)
	}

	if err != nil {
		syscall.Close(socket)
		return 0, address, err
	}

	at := name.(*syscall.SockaddrInet4)

	return socket, netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(at.Port)), nil
}
