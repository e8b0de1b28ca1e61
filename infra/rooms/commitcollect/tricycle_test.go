package commitcollect

import "testing"

// TestTricycleCanBeDrawn: the API takes every drawing.
func TestTricycleCanBeDrawn(t *testing.T) {
	t.Parallel()

	for _, p := range parts {
		for _, s := range p.Drawing {
			if _, err := s.Lines(); err != nil {
				t.Errorf("%s: %s: %v", p.Name, s.Path, err)
			}
		}
	}
}
