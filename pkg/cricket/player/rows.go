package player

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	"matchday/pkg/cricket/card"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// Row is a row of cricket-players: a player, as the lineups have had him.
type Row struct {
	PlayerID string `dynamodbav:"playerId"`
	At       string `dynamodbav:"at"` // profileKey
	Name     string `dynamodbav:"name"`
	card.Profile
	Teams []catalog.TeamRef `dynamodbav:"teams"`           // the last one first, maxTeams at most
	Words []string          `dynamodbav:"words,omitempty"` // what the stored words show: name, image and team
}

// Word is a row of cricket-players: a word in the name of a player.
type Word struct {
	Letter string `dynamodbav:"playerId"` // letterOf the word
	Key    string `dynamodbav:"at"`       // {word}/{id}
	ID     string `dynamodbav:"id"`
	Name   string `dynamodbav:"name"`
	Image  string `dynamodbav:"image,omitempty"`
	Team   string `dynamodbav:"team,omitempty"` // the code of the last team
	Names  string `dynamodbav:"names"`          // all words of the name, separated by spaces
}

const (
	// profileKey sorts before each appearance.
	profileKey = "#"
	// maxTeams is more than the teams of any player.
	maxTeams = 20
	// mostPlayers is more than the players of any match, and fits a transaction.
	mostPlayers = dynamo.MaxWrites
)

// letterOf returns the partition of a word. No player has such an id.
func letterOf(word string) string { return catalog.LetterOf("#", word) }

// words returns the rows of the words of the player's name, as Words has it. A player without a name has none.
func (r Row) words() []Word {
	if len(r.Words) != 3 {
		return nil
	}

	words := catalog.Fold(r.Words[0])
	all := make([]Word, len(words))

	for i, word := range words {
		all[i] = Word{
			Letter: letterOf(word), Key: word + "/" + r.PlayerID, ID: r.PlayerID, Names: strings.Join(words, " "),
			Name: r.Words[0], Image: r.Words[1], Team: r.Words[2],
		}
	}

	return all
}

// update returns r with what a later scorecard says. It keeps what that one does not say.
func (r Row) update(later Row) Row {
	later.Name = cmp.Or(later.Name, r.Name)
	later.Role, later.Image = cmp.Or(later.Role, r.Role), cmp.Or(later.Image, r.Image)
	later.BattingStyle, later.BowlingStyle = cmp.Or(later.BattingStyle, r.BattingStyle), cmp.Or(later.BowlingStyle, r.BowlingStyle)

	for _, t := range r.Teams {
		if len(later.Teams) < maxTeams && !slices.ContainsFunc(later.Teams, func(o catalog.TeamRef) bool { return o.ID == t.ID }) {
			later.Teams = append(later.Teams, t)
		}
	}

	return later
}

// Writes returns the writes of tables.SeePlayers that store the players whom a scorecard names, of whom there are
// most at most. They keep the teams of a player who is known, and what the card does not say.
func Writes(c card.Card, most int) (writes []dynamo.Write) {
	for _, a := range appearances(Match{}, c) {
		if len(writes) == most {
			break
		}

		row := Row{Name: cmp.Or(a.name, card.Unnamed(a.PlayerID)), Profile: a.profile, Teams: []catalog.TeamRef{a.Team}}
		said, kept := []string{"name"}, []string{"teams"}

		if a.name == "" {
			said, kept = nil, []string{"teams", "name"}
		}

		for name, text := range map[string]string{
			"role": a.profile.Role, "battingStyle": a.profile.BattingStyle, "bowlingStyle": a.profile.BowlingStyle, "image": a.profile.Image,
		} {
			if text != "" {
				said = append(said, name)
			}
		}

		key := dynamo.Key(tables.SeePlayers, a.PlayerID, profileKey)
		writes = append(writes, dynamo.UpdateWrite(key, dynamo.Set(row, said...).SetIfAbsent(row, kept...)))
	}

	return writes
}

// PutProfiles stores the players whom a scorecard names, and the words of their names, as far as they differ
// from the stored ones. The row of a player is written last, so that a second run repeats what a crash left
// undone. It costs one read of all players, and a write for each word and player that differs.
func PutProfiles(ctx context.Context, db dynamo.DB, c card.Card) error {
	seen := appearances(Match{}, c)
	keys := make([]dynamo.Item, len(seen))

	for i, a := range seen {
		keys[i] = dynamo.Key(tables.PutPlayers, a.PlayerID, profileKey)
	}

	stored, err := dynamo.GetAll[Row](ctx, db, tables.PutPlayers, keys)
	if err != nil {
		return err
	}

	was := map[string]Row{}
	for _, r := range stored {
		was[r.PlayerID] = r
	}

	var (
		rows  []Row
		words []Word
		gone  []dynamo.Item
	)

	for _, a := range seen {
		known := was[a.PlayerID]

		before := known
		if before.Name == card.Unnamed(a.PlayerID) {
			before.Name = ""
		}

		r := before.update(Row{PlayerID: a.PlayerID, At: profileKey, Name: a.name, Profile: a.profile, Teams: []catalog.TeamRef{a.Team}})
		if r.Name == "" {
			r.Name = card.Unnamed(a.PlayerID)
		} else {
			r.Words = []string{r.Name, r.Image, r.Teams[0].Code}
		}

		if reflect.DeepEqual(r, known) {
			continue
		}

		fresh := r.words()
		rows, words = append(rows, r), append(words, fresh...)

		for _, w := range before.words() {
			if !slices.ContainsFunc(fresh, func(f Word) bool { return f.Key == w.Key }) {
				gone = append(gone, dynamo.Key(tables.PutPlayers, w.Letter, w.Key))
			}
		}
	}

	if err := dynamo.PutAll(ctx, db, tables.PutPlayers, words); err != nil {
		return err
	}

	if err := dynamo.DeleteAll(ctx, db, tables.PutPlayers, gone); err != nil {
		return err
	}

	return dynamo.PutAll(ctx, db, tables.PutPlayers, rows)
}

// PutAppearances stores what the players of a match did in it, in one transaction. It returns *dynamo.Refused if
// those of a later end are stored. A match without an innings has no appearances.
func PutAppearances(ctx context.Context, db dynamo.DB, m Match, c card.Card) error {
	if len(c.Innings) == 0 {
		return nil
	}

	notAfter := dynamo.Absent[Appearance]("endingAt").Or(dynamo.AtMost[Appearance]("endingAt", m.EndingAt))

	var writes []dynamo.Write
	for _, a := range appearances(m, c) {
		if !a.unused {
			writes = append(writes, dynamo.PutWrite(a, notAfter))
		}
	}

	return dynamo.Transact(ctx, db, tables.PutAppearances, writes...)
}

// RemoveAppearances removes what PutAppearances has stored of a match: its end is withdrawn. c is the scorecard
// of that end.
func RemoveAppearances(ctx context.Context, db dynamo.DB, m Match, c card.Card) error {
	var keys []dynamo.Item
	for _, a := range appearances(m, c) {
		keys = append(keys, dynamo.Key(tables.PutAppearances, a.PlayerID, a.At))
	}

	return dynamo.DeleteAll(ctx, db, tables.PutAppearances, keys)
}
