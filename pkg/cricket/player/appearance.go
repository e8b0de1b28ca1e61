package player

import (
	"slices"

	"matchday/pkg/cricket/card"
	"matchday/pkg/cricket/catalog"
)

// Match is what an appearance says of its match.
type Match struct {
	ID, StartTime, Type, League string
	EndingAt                    int64 // when its end was decided, epoch s
}

// Appearance is a row of cricket-players: what a player did in a match.
type Appearance struct {
	PlayerID string `dynamodbav:"playerId" json:"-"`
	At       string `dynamodbav:"at" json:"-"`       // {startTime}/{matchId}
	EndingAt int64  `dynamodbav:"endingAt" json:"-"` // that of its match

	MatchID   string          `dynamodbav:"matchId" json:"matchId" doc:"The id of the match."`
	StartTime string          `dynamodbav:"startTime" json:"startTime" example:"2026-06-06T14:30:00Z" doc:"The scheduled start, in UTC."`
	Type      string          `dynamodbav:"type,omitempty" json:"type,omitempty" example:"T20I" doc:"The format, as the provider has it."`
	League    string          `dynamodbav:"league,omitempty" json:"league,omitempty" doc:"The code of the league."`
	Team      catalog.TeamRef `dynamodbav:"team" json:"team" doc:"The player's team."`
	Opponent  catalog.TeamRef `dynamodbav:"opponent" json:"opponent" doc:"The other team."`
	Captain   bool            `dynamodbav:"captain,omitempty" json:"captain,omitzero" doc:"Whether the player was the captain."`
	Keeper    bool            `dynamodbav:"keeper,omitempty" json:"keeper,omitzero" doc:"Whether the player was the wicketkeeper."`
	Innings   []Innings       `dynamodbav:"innings" json:"innings" nullable:"false" doc:"The innings in which the player batted or bowled, in the order of their numbers. Super overs are not among them."`

	name    string // "" if the card does not know it
	profile card.Profile
	unused  bool // a substitute who has neither batted nor bowled
}

// Innings is what a player did in an innings.
type Innings struct {
	_ struct{} `schema:"PlayerInnings"`

	Number  int      `dynamodbav:"number" json:"number" doc:"The number of the innings in the match, from 1."`
	Batting *Batting `dynamodbav:"batting,omitempty" json:"batting,omitempty" doc:"Absent: the player did not bat in it."`
	Bowling *Bowling `dynamodbav:"bowling,omitempty" json:"bowling,omitempty" doc:"Absent: the player did not bowl in it."`
}

// Batting is the row of the player in the batting card.
type Batting struct {
	_ struct{} `schema:"PlayerBatting"`

	Runs       int      `dynamodbav:"runs" json:"runs" doc:"The runs."`
	Balls      int      `dynamodbav:"balls" json:"balls" doc:"The balls that the player faced."`
	Fours      int      `dynamodbav:"fours" json:"fours" doc:"The fours."`
	Sixes      int      `dynamodbav:"sixes" json:"sixes" doc:"The sixes."`
	StrikeRate string   `dynamodbav:"strikeRate,omitempty" json:"strikeRate,omitempty" doc:"The runs of 100 balls, such as 133.33. Absent: the player faced no ball."`
	How        card.How `dynamodbav:"how" json:"how" doc:"How the player got out, as in a scorecard."`
}

// Bowling is the row of the player in the bowling card.
type Bowling struct {
	_ struct{} `schema:"PlayerBowling"`

	Overs   string `dynamodbav:"overs" json:"overs" doc:"The overs bowled, such as 3.4."`
	Maidens int    `dynamodbav:"maidens" json:"maidens" doc:"The maiden overs."`
	Runs    int    `dynamodbav:"runs" json:"runs" doc:"The runs conceded."`
	Wickets int    `dynamodbav:"wickets" json:"wickets" doc:"The wickets taken."`
	Economy string `dynamodbav:"economy,omitempty" json:"economy,omitempty" doc:"The runs of six balls, such as 7.25. Absent: no legal ball was bowled."`
}

// appearances returns the players of a scorecard with what they did: the elevens, of a lineup that is incomplete the
// others who batted or bowled, and the substitutes. They are mostPlayers at most.
func appearances(m Match, c card.Card) []Appearance {
	if len(c.Match.Teams) != 2 {
		return nil
	}

	var all []Appearance

	add := func(side int, p card.Member) *Appearance {
		if i := slices.IndexFunc(all, func(a Appearance) bool { return a.PlayerID == p.ID }); i >= 0 {
			return &all[i]
		}

		if len(all) == mostPlayers || p.ID == "" {
			return new(Appearance)
		}

		ref := func(s card.Side) catalog.TeamRef { return catalog.TeamRef{ID: s.TeamID, Code: s.Code, Name: s.Name} }
		all = append(all, Appearance{
			PlayerID: p.ID, At: m.StartTime + "/" + m.ID, EndingAt: m.EndingAt,
			MatchID: m.ID, StartTime: m.StartTime, Type: m.Type, League: m.League,
			Team: ref(c.Match.Teams[side]), Opponent: ref(c.Match.Teams[1-side]),
			Captain: p.Captain, Keeper: p.Keeper, Innings: []Innings{}, name: p.Name, profile: p.Profile,
		})
		if p.Name == card.Unnamed(p.ID) {
			all[len(all)-1].name = ""
		}

		return &all[len(all)-1]
	}

	bench := map[string]card.Member{}

	for side, s := range c.Match.Teams {
		for _, p := range s.Players {
			if p.Substitute {
				bench[p.ID] = p
			} else {
				add(side, p)
			}
		}
	}

	for _, n := range c.Innings {
		if n.SuperOver {
			continue
		}

		bats := 0
		if n.TeamID == c.Match.Teams[1].TeamID {
			bats = 1
		}

		in := func(side int, id, name string) *Innings {
			p, ok := bench[id]
			if !ok {
				p = card.Member{ID: id, Name: name}
			}

			a := add(side, p)
			if k := len(a.Innings) - 1; k < 0 || a.Innings[k].Number != n.Number {
				a.Innings = append(a.Innings, Innings{Number: n.Number})
			}

			return &a.Innings[len(a.Innings)-1]
		}

		for _, b := range n.Batting {
			in(bats, b.ID, b.Name).Batting = &Batting{
				Runs: b.Runs, Balls: b.Balls, Fours: b.Fours, Sixes: b.Sixes, StrikeRate: b.StrikeRate, How: b.How,
			}
		}

		for _, b := range n.Bowling {
			in(1-bats, b.ID, b.Name).Bowling = &Bowling{
				Overs: b.Overs, Maidens: b.Maidens, Runs: b.Runs, Wickets: b.Wickets, Economy: b.Economy,
			}
		}
	}

	for side, s := range c.Match.Teams {
		for _, p := range s.Players {
			if n := len(all); p.Substitute {
				add(side, p)

				if len(all) > n {
					all[n].unused = true
				}
			}
		}
	}

	return all
}
