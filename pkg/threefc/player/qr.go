package player

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"time"

	"github.com/boombuler/barcode/qr"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/tables"
)

// ShowCode is the request for the picture of a code.
type ShowCode struct {
	Code string `path:"code" maxLength:"32" doc:"The code. Case, hyphens and spaces are ignored." example:"7Q2MZ0KD"`
}

// Picture is the answer with a picture.
type Picture struct {
	Body []byte `contentType:"image/png"`
}

// ShowCodeFunction returns the QR code of a code by which players join a game.
func ShowCodeFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-join-code",
		Does:   "Returns the QR code of a code by which players join a game.",
		IfDown: "Players must type the code.",
		On:     spec.Route{Method: "GET", Path: "/v1/join/{code}/qr.png", Auth: spec.Public, OthersCall: true},
		Uses:   []spec.Access{tables.FindCode, tables.CountGuess, tables.GetGame, tables.GetLeague}, Limits: []spec.Limit{MaxGuesses},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ShowCode, errCode)
}

// ShowCode returns the QR code of the page that joins the game of a code. There is none of a league that is for
// members: its administrators have the address of the page. Errors:
// invalid_or_expired_code, too_many_codes.
func (s *Service) ShowCode(ctx context.Context, in *ShowCode) (*Picture, error) {
	found, err := s.find(ctx, in.Code)
	if err != nil {
		return nil, err
	}

	if err := s.admit(ctx, found, ""); err != nil { // the picture is the same for everybody, and caches may keep it
		return nil, err
	}

	if _, err := s.coded(ctx, found); err != nil {
		return nil, err
	}

	picture, err := QR(s.link(found.Code))

	return &Picture{picture}, err
}

// Sizes of the picture of a QR code. The margin is that of ISO/IEC 18004.
const (
	qrModule = 8 // pixels
	qrMargin = 4 // modules
)

// QR returns the QR code of a text as PNG, black on white: error correction M.
func QR(text string) ([]byte, error) {
	code, err := qr.Encode(text, qr.M, qr.Unicode)
	if err != nil {
		return nil, fmt.Errorf("encode a QR code: %w", err)
	}

	n := code.Bounds().Dx()
	side := (n + 2*qrMargin) * qrModule
	picture := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.White, color.Black})

	for y := range n * qrModule {
		for x := range n * qrModule {
			if r, _, _, _ := code.At(x/qrModule, y/qrModule).RGBA(); r == 0 {
				picture.SetColorIndex(x+qrMargin*qrModule, y+qrMargin*qrModule, 1)
			}
		}
	}

	var b bytes.Buffer

	err = png.Encode(&b, picture)

	return b.Bytes(), err
}
