package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"matchday/infra/sim/engine"
)

// Protocol is what a function and a server speak.
type Protocol int

// The protocols.
const (
	Postgres Protocol = iota
	Redis             // of a cluster of one node
)

// operation is the name of the calls of a protocol in Config.Calls: "room-verb-noun SQL".
func (p Protocol) operation() string { return []string{"SQL", "Cache"}[p] }

// Connect listens for the connections of a function to a server, and injects the faults of
// Config.Calls into its calls: a call that fails has no effect, and one that is cut has, and
// both end the connection. A stalled call of a cache is not answered; one of a database fails.
// Nothing is injected while a connection is set up or checked, which depends on the wall
// clock. function is the name of the function in the runtime: "room/verb-noun".
func (f *Faults) Connect(function string, p Protocol, server string) (address string, stop func(), err error) {
	l, err := engine.Listen()
	if err != nil {
		return "", nil, fmt.Errorf("listen for the connections of %s: %w", function, err)
	}

	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}

			go f.pipe(function, p, client, server)
		}
	}()

	return l.Addr().String(), func() { l.Close() }, nil
}

// pipe is one connection.
type pipe struct {
	*Faults
	function       string
	protocol       Protocol
	client, server net.Conn
	ctx            context.Context // ends with the connection
	end            context.CancelFunc

	mu      sync.Mutex
	under   []func() // ends of the calls of a database that are under way
	swallow func()   // called in place of the next answer; nil for none
}

func (f *Faults) pipe(function string, p Protocol, client net.Conn, server string) {
	defer client.Close()

	s, err := net.Dial("tcp", server)
	if err != nil {
		return // the client finds a connection that ends, as of a server that is not there
	}
	defer s.Close()

	ctx, end := context.WithCancel(context.Background())

	c := &pipe{Faults: f, function: function, protocol: p, client: client, server: s, ctx: ctx, end: end}
	go func() {
		defer c.close()

		c.answers()
	}()

	defer c.close()

	switch from := bufio.NewReader(client); p {
	case Postgres:
		c.statements(from)
	case Redis:
		c.commands(from)
	}
}

func (c *pipe) close() {
	c.end()
	c.client.Close()
	c.server.Close()
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, over := range c.under {
		over()
	}

	c.under = nil
}

// errEnd ends a connection.
var errEnd = errors.New("the connection ends")

// pass hands a call on, with the fault that is decided for it. A subject of "" is none that a
// fault is decided for. The rest of from is what the client sends afterwards: nothing but its
// end, while it waits.
func (c *pipe) pass(from *bufio.Reader, subject string, message []byte) error {
	c.work.markActive()

	forward := func() error { _, err := c.server.Write(message); return err }

	var kind Kind

	process := ""
	if subject != "" && c.Running != nil {
		if process = c.Running(c.function); process != "" {
			kind = c.decide(call{
				function: strings.ReplaceAll(c.function, "/", "-"), process: process, operation: c.protocol.operation(),
				subject: c.protocol.operation() + " " + subject, id: strconv.FormatUint(c.serial(), 10), attempt: 1, last: true,
			})
		}
	}

	if kind != "" {
		c.count(kind)
	}

	wait := func() { // for the client, which ends the connection
		go func() {
			io.Copy(io.Discard, from)
			c.end()
		}()
	}

	switch kind {
	case Throttled, Failed, FailedForGood:
		return errEnd
	case Stalled:
		if c.protocol == Postgres {
			return errEnd
		}

		wait()
		<-c.ctx.Done()

		return errEnd
	case Cut:
		c.answered(c.close)

		if err := forward(); err != nil {
			return err
		}

		<-c.ctx.Done()

		return errEnd
	case KilledBefore:
		wait()
		c.kill(c.ctx, process)

		return errEnd
	case KilledAfter:
		done := make(chan struct{})

		c.answered(sync.OnceFunc(func() { close(done) }))

		if err := forward(); err != nil {
			return err
		}

		select {
		case <-done:
		case <-c.ctx.Done():
		}

		wait()
		c.kill(c.ctx, process)

		return errEnd
	}

	if subject != "" && c.protocol == Postgres {
		over := c.work.begin()
		c.mu.Lock()
		c.under = append(c.under, over)
		c.mu.Unlock()
	}

	return forward()
}

// serial numbers the calls of connections.
func (f *Faults) serial() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.serials++

	return f.serials
}

// answered has do called in place of the next answer.
func (c *pipe) answered(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.swallow = do
}

// answers hands on what the server sends.
func (c *pipe) answers() {
	from := bufio.NewReader(c.server)

	for {
		var message []byte

		ready := true

		if c.protocol == Postgres {
			kind, text, err := frame(from)
			if err != nil {
				return
			}

			message, ready = text, kind == 'Z' // ReadyForQuery
		} else {
			if _, err := from.Peek(1); err != nil {
				return
			}

			message, _ = from.Peek(from.Buffered())
			message = bytes.Clone(message)
			from.Discard(len(message))
		}

		c.work.markActive()
		c.mu.Lock()

		swallow := c.swallow
		if ready && len(c.under) > 0 {
			c.under[0]()
			c.under = c.under[1:]
		}
		c.mu.Unlock()

		if swallow == nil {
			if _, err := c.client.Write(message); err != nil {
				return
			}
		} else if ready {
			swallow()
		}
	}
}

// frame reads a message of PostgreSQL: its type, the length of the rest, and the rest.
func frame(from *bufio.Reader) (kind byte, message []byte, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(from, head); err != nil {
		return 0, nil, err
	}

	message, err = rest(from, head, head[1:])

	return head[0], message, err
}

// maxMessage is the size of the largest message that is taken.
const maxMessage = 64 << 20

func rest(from *bufio.Reader, head, length []byte) ([]byte, error) {
	n := int(binary.BigEndian.Uint32(length)) - 4
	if n < 0 || n > maxMessage {
		return nil, errEnd
	}

	message := append(head, make([]byte, n)...)
	_, err := io.ReadFull(from, message[len(head):])

	return message, err
}

// statements hands on the statements of a client of PostgreSQL. Those that a fault may be of
// are the executions of a prepared statement, by its name, and what is sent as a text.
func (c *pipe) statements(from *bufio.Reader) {
	length := make([]byte, 4)
	if _, err := io.ReadFull(from, length); err != nil {
		return
	}

	startup, err := rest(from, length, length)
	if err != nil || c.pass(from, "", startup) != nil {
		return
	}

	var message []byte

	subject := ""

	for {
		kind, part, err := frame(from)
		if err != nil {
			return
		}

		message = append(message, part...)
		switch body := part[5:]; kind {
		case 'B': // Bind: portal, statement, values
			if _, rest, ok := bytes.Cut(body, []byte{0}); ok {
				statement, _, _ := bytes.Cut(rest, []byte{0})
				subject += "bind " + string(statement)
			}

			continue
		case 'P', 'D', 'E', 'C': // Parse, Describe, Execute, Close: more follows
			continue
		case 'Q':
			if text := string(bytes.TrimRight(body, "\x00")); !strings.HasPrefix(text, "--") { // a ping
				subject = text
			}
		}

		if c.pass(from, subject, message) != nil {
			return
		}

		message, subject = nil, ""
	}
}

// setup are the commands of Redis by which a client sets a connection up, and checks it.
var setup = []string{"HELLO", "AUTH", "CLIENT", "CLUSTER", "COMMAND", "PING", "READONLY", "SELECT"}

// commands hands on the commands of a client of Redis, of which those that arrive together are
// one call. It answers which node has the slots: itself.
func (c *pipe) commands(from *bufio.Reader) {
	for {
		var (
			message []byte
			names   []string
		)
		for len(names) == 0 || from.Buffered() > 0 {
			text, args, err := command(from)
			if err != nil || len(args) == 0 {
				return
			}

			name := strings.ToUpper(args[0])
			if name == "CLUSTER" && len(args) > 1 && strings.EqualFold(args[1], "slots") {
				host, port, _ := net.SplitHostPort(c.client.LocalAddr().String())
				fmt.Fprintf(c.client, "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$%d\r\n%s\r\n:%s\r\n$4\r\nnode\r\n", len(host), host, port)

				names = append(names, name)

				continue
			}

			message, names = append(message, text...), append(names, name)
		}

		subject := strings.Join(slices.DeleteFunc(names, func(name string) bool { return slices.Contains(setup, name) }), " ")
		if len(message) > 0 && c.pass(from, subject, message) != nil {
			return
		}
	}
}

// command reads a command of Redis: an array of strings.
func command(from *bufio.Reader) (text []byte, args []string, err error) {
	number := func(kind byte) (int, error) {
		line, err := from.ReadBytes('\n')

		text = append(text, line...)
		if err != nil || len(line) < 4 || line[0] != kind {
			return 0, errEnd
		}

		n, err := strconv.Atoi(string(line[1 : len(line)-2]))
		if err != nil || n < 0 || n > maxMessage {
			return 0, errEnd
		}

		return n, nil
	}

	n, err := number('*')
	if err != nil {
		return nil, nil, err
	}

	for range n {
		size, err := number('$')
		if err != nil {
			return nil, nil, err
		}

		arg := make([]byte, size+2)
		if _, err := io.ReadFull(from, arg); err != nil {
			return nil, nil, err
		}

		text, args = append(text, arg...), append(args, string(arg[:size]))
	}

	return text, args, nil
}
