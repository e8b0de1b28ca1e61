package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"matchday/pkg/kit/telemetry"
)

func ExampleLogger() {
	var out bytes.Buffer
	telemetry.Logger(&out, "cricket", "cricket-tick").InfoContext(context.Background(), "match ended", "match", "7")

	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		panic(err)
	}

	fmt.Println(line["room"], line["function"], line["level"], line["msg"], line["match"])
	// Output: cricket cricket-tick INFO match ended 7
}
