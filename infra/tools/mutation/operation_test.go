package mutation

import "testing"

// TestNumbersAreThoseOfTheirReaders: a schema sees the number that a reader gets.
func TestNumbersAreThoseOfTheirReaders(t *testing.T) {
	t.Parallel()

	d, err := parseDocument([]byte(`{"components":{"schemas":{"Goals":{"type":"integer","minimum":0,"maximum":9007199254740992}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}

	s, err := d.schema(pointer("components", "schemas", "Goals"))
	if err != nil {
		t.Fatal(err)
	}

	for text, valid := range map[string]bool{
		"1": true, "1.0": true, "1e2": true, "0": true, "-0": true, "1e-400": true, "1.00000000000000000001": true,
		"1.5": false, "-1": false, "1e-300": false, "9007199254740993": false, "1e400": false, `"1"`: false,
	} {
		v, err := unmarshal([]byte(text))
		if err == nil {
			err = s.Validate(v)
		}

		if (err == nil) != valid {
			t.Errorf("%s: %v", text, err)
		}
	}
}
