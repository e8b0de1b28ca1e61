package scorer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

// body returns a /livescores body of one match with innings of so many balls. Each ball
// has the 1.6 kB of player and team that the provider sends with it.
func body(kind string, innings, balls int) []byte {
	player := func(id int) string {
		return fmt.Sprintf(`{"resource":"players","id":%d,"country_id":52126,"firstname":"First%[1]d","lastname":"Last%[1]d","fullname":"First%[1]d Last%[1]d","image_path":"https:\/\/cdn.example.com\/images\/cricket\/players\/14\/%[1]d.png","dateofbirth":"1996-03-06","gender":"m","battingstyle":"right-hand-bat","bowlingstyle":"right-arm-fast-medium","position":{"resource":"positions","id":3,"name":"Wicketkeeper"},"updated_at":"2025-08-19T11:59:22.000000Z"}`, id)
	}
	team := func(id int) string {
		return fmt.Sprintf(`{"resource":"teams","id":%d,"name":"Side%[1]d","code":"S%[1]d","image_path":"https:\/\/cdn.example.com\/images\/cricket\/teams\/7\/%[1]d.png","country_id":190324,"national_team":true,"updated_at":"2018-11-29T11:47:20.000000Z"}`, id)
	}

	var b strings.Builder
	fmt.Fprintf(&b, `{"data":[{"resource":"fixtures","id":71344,"league_id":3,"localteam_id":1,"visitorteam_id":2,"starting_at":"2026-10-09T13:00:00.000000Z","type":%q,"live":true,"status":"2nd Innings","note":"","total_overs_played":20,"localteam":%s,"visitorteam":%s,"runs":[`, kind, team(1), team(2))

	for n := range innings {
		if n > 0 {
			b.WriteByte(',')
		}

		fmt.Fprintf(&b, `{"resource":"runs","id":%d,"fixture_id":71344,"team_id":%d,"inning":%d,"score":%d,"wickets":0,"overs":%d.%d,"pp1":"1-6","updated_at":"2026-10-09T14:50:07.000000Z"}`,
			n, n%2+1, n+1, balls, balls/6, balls%6)
	}

	b.WriteString(`],"balls":[`)

	for n := range innings {
		for i := range balls {
			if n+i > 0 {
				b.WriteByte(',')
			}

			fmt.Fprintf(&b, `{"resource":"balls","id":%d,"fixture_id":71344,"team_id":%d,"ball":%d.%d,"scoreboard":"S%d","batsman_one_on_creeze_id":%d,"batsman_two_on_creeze_id":%d,"batsman_id":%d,"bowler_id":%d,"batsmanout_id":null,"catchstump_id":null,"runout_by_id":null,"score_id":69,"batsman":%s,"bowler":%s,"score":{"resource":"scores","id":69,"name":"1 Run","runs":1,"four":false,"six":false,"bye":0,"leg_bye":0,"noball":0,"noball_runs":0,"is_wicket":false,"ball":true,"out":false},"team":%s,"updated_at":"2026-10-09T13:03:55.000000Z"}`,
				1000*n+i+1, n%2+1, i/6, i%6+1, n+1, 100+i%2, 101-i%2, 100+i%2, 200+i/6%6, player(100+i%2), player(200+i/6%6), team(n%2+1))
		}
	}

	b.WriteString(`]}],"links":null}`)

	return []byte(b.String())
}

// BenchmarkTick measures one changed match, from the body to three displays and their
// hashes.
func BenchmarkTick(b *testing.B) {
	for _, v := range []struct {
		name, kind     string
		innings, balls int
	}{{"T20", "T20I", 2, 120}, {"Test", "Test/5day", 4, 675}} {
		raw := body(v.kind, v.innings, v.balls)
		b.Run(v.name+"/split", func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()

			for b.Loop() {
				if _, err := sportmonks.Split(raw); err != nil {
					b.Fatal(err)
				}
			}
		})

		entries, err := sportmonks.Split(raw)
		if err != nil {
			b.Fatal(err)
		}

		b.Run(v.name+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()

			for b.Loop() {
				if _, err := sportmonks.Decode(entries[0].Raw); err != nil {
					b.Fatal(err)
				}
			}
		})

		f, err := sportmonks.Decode(entries[0].Raw)
		if err != nil {
			b.Fatal(err)
		}

		before, problems := scorer.Read(f, score.State{})
		if len(problems) > 0 {
			b.Fatal(problems)
		}

		b.Run(v.name+"/read", func(b *testing.B) {
			b.ReportAllocs()

			for b.Loop() {
				scorer.Read(f, before)
			}
		})
		b.Run(v.name+"/balls", func(b *testing.B) {
			b.ReportAllocs()

			for b.Loop() {
				scorer.Balls(f)
			}
		})
		b.Run(v.name+"/events", func(b *testing.B) {
			f, s := withWickets(f)
			if n := len(event.List(f, s)); n < v.innings*(v.balls/60) {
				b.Fatal(n, "events")
			}

			b.ReportAllocs()

			for b.Loop() {
				event.List(f, s)
			}
		})
		b.Run(v.name+"/display", func(b *testing.B) {
			b.ReportAllocs()

			for b.Loop() {
				for _, id := range []string{"1", "2", ""} {
					before.For(id).Hash()
				}
			}
		})
		b.Run(v.name+"/all", func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()

			for b.Loop() {
				entries, _ := sportmonks.Split(raw)
				f, _ := sportmonks.Decode(entries[0].Raw)

				s, _ := scorer.Read(f, before)
				for _, id := range []string{"1", "2", ""} {
					s.For(id).Hash()
				}
			}
		})
	}
}

// withWickets returns f with both teams' players and a run out every ten overs.
func withWickets(f sportmonks.Fixture) (sportmonks.Fixture, score.State) {
	f.Balls, f.Runs = slices.Clone(f.Balls), slices.Clone(f.Runs)
	for i := range 22 {
		f.Lineup = append(f.Lineup, sportmonks.Member{ID: 300 + i, Name: fmt.Sprintf("First%d Last%[1]d", 300+i)})
	}

	for i := range f.Balls {
		if b := &f.Balls[i]; b.ID%60 == 0 {
			b.OutID, b.RunOutID, b.Score.Name, b.Score.Wicket, b.Score.Out = 300+b.ID/60%11, 315, "Run Out", true, true
			f.Runs[b.Innings-1].Wickets++
		}
	}

	s, _ := scorer.Read(f, score.State{})

	return f, s
}
