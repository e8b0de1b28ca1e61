package commitcollect

import (
	"fmt"

	"matchday/pkg/commitcollect/drawing"
)

// model is what the visitor collects.
const model = "tricycle"

// part is a part of the model. The page shows its drawing, and so does the picture of a milestone.
type part struct {
	Name    string           `json:"name"`
	Drawing []drawing.Stroke `json:"drawing"`
}

// parts are the parts of the model, in the order in which they are minted and drawn.
var parts = []part{
	{"Frame", []drawing.Stroke{{Style: drawing.Tube, Path: "M196 128L300 262L340 130ZM300 262H492M340 130L492 262"}}},
	{"Fork", []drawing.Stroke{{Style: drawing.Tube, Path: "M190 92L196 128L152 262"}}},
	{"Front wheel", wheel(152, 262, 72, 9)},
	{"Left wheel", wheel(470, 268, 58, 8)},
	{"Right wheel", wheel(520, 254, 58, 8)},
	{"Handlebar", []drawing.Stroke{{Style: drawing.Tube, Path: "M190 92C186 66 214 60 240 72M190 92C178 70 160 70 150 84"}}},
	{"Saddle", []drawing.Stroke{
		{Style: drawing.Tube, Path: "M340 130L346 96"},
		{Style: drawing.Solid, Path: "M308 88q44-18 84 2q-6 16-40 14q-30 0-44-16z"},
	}},
	{"Cranks", []drawing.Stroke{
		{Style: drawing.Line, Path: circle(300, 262, 20)},
		{Style: drawing.Tube, Path: "M300 262L330 300M318 302h26M300 262L270 224M256 222h26"},
	}},
	{"Chain", []drawing.Stroke{{Style: drawing.Chain, Path: "M296 242L490 252M304 282L490 272"}}},
	{"Basket", []drawing.Stroke{
		{Style: drawing.Solid, Path: "M424 150h136l-14 56h-108z"},
		{Style: drawing.Line, Path: "M436 168h112M441 187h102M460 150l8 56M492 150v56M524 150l-8 56"},
	}},
	{"Mudguard", []drawing.Stroke{{Style: drawing.Line, Path: "M430 262a70 70 0 0 1 132-34"}}},
	{"Bell", []drawing.Stroke{{Style: drawing.Solid, Path: circle(214, 58, 12)}, {Style: drawing.Line, Path: "M214 46v-6"}}},
}

// circle returns the path of a circle.
func circle(x, y, r int) string {
	return fmt.Sprintf("M%d %da%d %d 0 1 1 %d 0a%[3]d %[3]d 0 1 1 -%[5]d 0z", x-r, y, r, r, 2*r)
}

// wheel returns a wheel with its hub and eight spokes.
func wheel(x, y, r, hub int) []drawing.Stroke {
	d := r * 1000 / 1414 // of a spoke at 45 degrees, across and down

	spokes := fmt.Sprintf("M%d %dv%dM%d %dh%dM%d %dl%d %dM%d %dl-%d %d",
		x, y-r, 2*r, x-r, y, 2*r, x-d, y-d, 2*d, 2*d, x+d, y-d, 2*d, 2*d)

	return []drawing.Stroke{
		{Style: drawing.Line, Path: circle(x, y, r)},
		{Style: drawing.Line, Path: circle(x, y, hub)},
		{Style: drawing.Line, Path: spokes},
	}
}
