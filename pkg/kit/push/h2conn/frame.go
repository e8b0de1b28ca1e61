package h2conn

import (
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frameHeader is the size of a frame's header, in bytes.
const frameHeader = 9

// appendFrame appends the header of a frame with n bytes.
func appendFrame(b []byte, n int, kind http2.FrameType, flags http2.Flags, id uint32) []byte {
	b = append(b, byte(n>>16), byte(n>>8), byte(n), byte(kind), byte(flags))
	return append(b, byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
}

// appendPath appends the field :path, which is number 4 of HPACK's static table, as
// a literal that is not indexed (RFC 7541, 6.2.2), in Huffman's code.
func appendPath(b []byte, path string) []byte {
	const field, huffman = 4, 128

	b = append(b, field)
	if n := hpack.HuffmanEncodeLength(path); n < 127 {
		b = append(b, huffman|byte(n))
	} else { // an integer with a 7-bit prefix (RFC 7541, 5.1)
		b = append(b, huffman|127)
		for n -= 127; n >= 128; n >>= 7 {
			b = append(b, byte(n)|128)
		}

		b = append(b, byte(n))
	}

	return hpack.AppendHuffmanString(b, path)
}
