package football

import (
	"bytes"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
)

// side is the width and the height of a picture in pixels.
const side = 64

// Shield returns a picture of a shield as a PNG: two halves with the colours of a name.
func Shield(name string) []byte {
	h := fnv.New64a()
	h.Write([]byte(name))
	sum := h.Sum64()
	paint := func(bits uint64) color.Color {
		return color.RGBA{uint8(bits), uint8(bits >> 8), uint8(bits >> 16), 255}
	}

	picture := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.Transparent, paint(sum), paint(sum >> 24)})
	for y := 4; y < side-4; y++ {
		half := 24
		if below := y - side/2; below > 0 { // it ends in a point
			half -= 24 * below * below / ((side/2 - 4) * (side/2 - 4))
		}

		for x := side/2 - half; x < side/2+half; x++ {
			picture.SetColorIndex(x, y, uint8(1+2*x/side))
		}
	}

	var b bytes.Buffer
	// Without compression the bytes are the same whatever the version of the library.
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, picture); err != nil {
		panic(err) // a buffer takes everything
	}

	return b.Bytes()
}
