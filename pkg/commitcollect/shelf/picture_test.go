package shelf

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"os"
	"strings"
	"testing"

	"matchday/pkg/commitcollect/drawing"
	"matchday/pkg/commitcollect/model"
)

// bike is a drawing with each style.
var bike = [][]drawing.Stroke{
	{{Path: "M80 262a72 72 0 1 1 144 0a72 72 0 1 1-144 0M152 190v144M80 262h144", Style: drawing.Line}},
	{{Path: "M196 128L300 262L340 130ZM300 262L492 262M190 92C186 66 214 60 240 72", Style: drawing.Tube}},
	{{Path: "M296 242L490 252M304 282L490 272", Style: drawing.Chain}},
	{{Path: "M308 88q44-18 84 2q-6 16-40 14q-30 0-44-16z", Style: drawing.Solid}},
}

func pictureOf(t testing.TB, name string, parts ...[]drawing.Stroke) *image.RGBA {
	t.Helper()

	text, err := picture(name, parts...)
	if err != nil {
		t.Fatal(err)
	}

	return decode(t, text)
}

func decode(t testing.TB, text []byte) *image.RGBA {
	t.Helper()

	img, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}

	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Bounds(), img, image.Point{}, draw.Src)

	return out
}

// apart returns the largest difference of a value between two pictures of one size.
func apart(a, b *image.RGBA) (most int) {
	for i := range a.Pix {
		most = max(most, int(a.Pix[i])-int(b.Pix[i]), int(b.Pix[i])-int(a.Pix[i]))
	}

	return most
}

// TestPicture has the strokes and the name of the model, and changes only under review. Processors that
// round differently may differ by a little.
func TestPicture(t *testing.T) {
	t.Parallel()

	for name, got := range map[string]*image.RGBA{
		"strokes": pictureOf(t, "Żółw, the trike", bike...),
		"beads":   pictureOf(t, "Kite", bead(1), bead(2), bead(7), bead(12)),
	} {
		file := "testdata/" + name + ".png"
		if os.Getenv("UPDATE") != "" {
			var out bytes.Buffer
			if err := png.Encode(&out, got); err != nil {
				t.Fatal(err)
			}

			if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}

		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		if want := decode(t, text); want.Rect != got.Rect || apart(want, got) > 3 {
			t.Errorf("%s: the picture is another one: UPDATE=1 writes it, and it must be looked at", name)
		}
	}
}

// TestPictureIsTheSame for the same parts, and another for another part.
func TestPictureIsTheSame(t *testing.T) {
	t.Parallel()

	first, err := picture("Trike", bike...)
	if err != nil {
		t.Fatal(err)
	}

	second, err := picture("Trike", bike...)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the second picture differs, or %v", err)
	}

	if less, err := picture("Trike", bike[1:]...); err != nil || bytes.Equal(first, less) {
		t.Errorf("without a part the picture is the same, or %v", err)
	}
}

// TestNameOfAPicture is left out if the font lacks a character, and a long one is smaller: it stays in
// the picture.
func TestNameOfAPicture(t *testing.T) {
	t.Parallel()

	none := pictureOf(t, "")
	if apart(none, pictureOf(t, "三輪車 trike")) != 0 {
		t.Error("a name that the font lacks leaves something")
	}

	long := pictureOf(t, strings.Repeat("W", 40))
	if apart(none, long) == 0 {
		t.Error("a long name is left out")
	}

	for y := range pictureHeight {
		for _, x := range []int{0, 20, pictureWidth - 21, pictureWidth - 1} {
			if long.At(x, y) != none.At(x, y) {
				t.Fatalf("a long name is at %d, %d", x, y)
			}
		}
	}
}

// TestPictureOfAWrongPath is refused.
func TestPictureOfAWrongPath(t *testing.T) {
	t.Parallel()

	if _, err := picture("", []drawing.Stroke{{Path: "M1 1L999 1"}}); err == nil || !strings.Contains(err.Error(), "stays on the canvas") {
		t.Errorf("got %v", err)
	}
}

// TestBeads are on the canvas, each at a place of its own.
func TestBeads(t *testing.T) {
	t.Parallel()

	seen := map[string]bool{}

	for n := 1; n <= model.MaxParts; n++ {
		s := bead(n)[0]
		if _, err := s.Lines(); err != nil || seen[s.Path] {
			t.Errorf("bead %d: %v, or there is another one", n, err)
		}

		seen[s.Path] = true
	}
}

func BenchmarkPicture(b *testing.B) {
	b.ReportAllocs()

	for b.Loop() {
		if _, err := picture("The trike", append(bike, bike...)...); err != nil {
			b.Fatal(err)
		}
	}
}
