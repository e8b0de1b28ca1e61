package bestshot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchday/infra/local/replay"
	"matchday/infra/rooms/bestshot"
	"matchday/infra/sim/samples"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/provider"
)

const root = "../../.."

// TestReplay plays small seasons of two leagues with a final through the fleet, plain and with
// faults, and a real cup if there is one.
func TestReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	program := testkit.Program(t, root)
	run := func(t *testing.T, folder string, files int, seed uint64, faults *uint64, from provider.Name) string {
		t.Helper()

		var out bytes.Buffer

		err := bestshot.Replay(t.Context(), replay.Config{
			Root:     root,
			Program:  program,
			Folder:   folder,
			Seed:     seed,
			Faults:   faults,
			Provider: string(from),
			Out:      &out,
		})
		if err != nil || strings.Count("\n"+out.String(), "\nok ") != files {
			t.Errorf("%v\n%s", err, &out)
		}

		return out.String()
	}
	folder := t.TempDir()
	write(t, filepath.Join(folder, "a.json"), "First League 2025/26", 2, "Matchday %d", "Championship, Matchday %d")
	testkit.Must(t, os.WriteFile(filepath.Join(folder, "a.clubs.json"), []byte(`{"name": "First League 2025/26", "clubs": []}`), 0o600))
	write(t, filepath.Join(folder, "b.json"), "Second League 2025/26", 3, "%d. Runde", "%d. Runde")
	t.Run("plain", func(t *testing.T) {
		t.Parallel()

		const skipped = "skipped, as they have neither matches nor rounds: a.clubs.json\n"
		if out := run(t, folder, 2, 4, nil, ""); !strings.Contains(out, skipped) {
			t.Errorf("the output lacks %q\n%s", skipped, out)
		}
	})
	t.Run("faults", func(t *testing.T) {
		t.Parallel()
		one := t.TempDir()
		write(t, filepath.Join(one, "c.json"), "Third League 2025/26", 2, "Matchday %d", "Matchday %d")
		run(t, one, 1, 5, new(uint64(7)), "")
	})
	t.Run("providers", func(t *testing.T) { // they have the same events, so the members have the same points
		t.Parallel()

		one := t.TempDir()
		write(t, filepath.Join(one, "d.json"), "Fourth League 2025/26", 2, "Matchday %d", "Matchday %d")

		lines := map[provider.Name]string{}

		for _, from := range provider.Names() {
			for line := range strings.Lines(run(t, one, 1, 6, nil, from)) {
				if strings.HasPrefix(line, "ok ") {
					lines[from] = line
				}
			}
		}

		for _, from := range provider.Names() {
			if first := lines[provider.Default]; lines[from] != first || !strings.Contains(first, " leader ") {
				t.Errorf("%s ends with %q, and %s with %q", provider.Default, first, from, lines[from])
			}
		}
	})
	t.Run("real", func(t *testing.T) { // four weeks: others take minutes
		t.Parallel()

		const name = "worldcup-2022.json"

		cup := t.TempDir()
		testkit.Must(t, os.WriteFile(filepath.Join(cup, name), samples.Read(t, "openfootball/"+name), 0o600))
		run(t, cup, 1, 0, nil, "")
	})
}

// write writes a season in which so many pairs of teams meet twice. first and second are the
// formats of the labels of the rounds in its halves. The first two teams play a final with a
// shoot-out, and one match is called off.
func write(t *testing.T, file, name string, pairs int, first, second string) {
	t.Helper()

	type score struct {
		HT []int `json:"ht,omitempty"`
		FT []int `json:"ft"`
		ET []int `json:"et,omitempty"`
		P  []int `json:"p,omitempty"`
	}

	type match struct {
		Round  string `json:"round"`
		Date   string `json:"date"`
		Time   string `json:"time"`
		Team1  string `json:"team1"`
		Team2  string `json:"team2"`
		Status string `json:"status,omitempty"`
		Score  *score `json:"score,omitempty"`
	}

	n := 2 * pairs
	team := func(i int) string { return fmt.Sprintf("%s %c", strings.Fields(name)[0], 'A'+i) }
	day := time.Date(2025, 8, 9, 0, 0, 0, 0, time.UTC)

	var all []match

	for round := range 2 * (n - 1) {
		label := first
		if round >= n-1 {
			label = second
		}

		for p := range pairs { // the circle method
			a, b := (round+p)%(n-1), (round+n-1-p)%(n-1)
			if p == 0 {
				b = n - 1
			}

			if round >= n-1 {
				a, b = b, a
			}

			m := match{
				Round: fmt.Sprintf(label, round+1),
				Date:  day.Format(time.DateOnly),
				Time:  []string{"13:30", "15:00", "17:30"}[p%3],
				Team1: team(a),
				Team2: team(b),
			}

			m.Score = &score{FT: []int{(a*3 + round) % 4, (b*5 + round) % 3}}
			if round == 3 && p == 1 {
				m.Score, m.Status = nil, "cancelled"
			}

			all = append(all, m)
		}

		day = day.AddDate(0, 0, 7)
	}

	all = append(all, match{
		Round: "Final",
		Date:  day.Format(time.DateOnly),
		Time:  "20:00",
		Team1: team(0),
		Team2: team(1),
		Score: &score{FT: []int{1, 1}, ET: []int{2, 2}, P: []int{4, 2}},
	})
	text, err := json.Marshal(map[string]any{"name": name, "matches": all})
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(file, text, 0o600))
}
