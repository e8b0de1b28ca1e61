package codable

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const source = `import ActivityKit

/// A card.
public struct Card: ActivityAttributes {
    public struct ContentState: Codable, Hashable {
        /// The headline: always.
        public let headline: String // a line
        public let target: Int?
        public let batters: [Crease]?
        public let rate: Double?
        public let bowler: Crease?

        var short: String { headline }

        private enum CodingKeys: String, CodingKey {
            case headline, target, rate
            case batters = "atCrease", bowler
        }
    }

    public struct Crease: Codable, Hashable {
        public let name: String
        public let strike: Bool?
    }

    public let matchId: String
}
`

// TestParse reads what a phone would have.
func TestParse(t *testing.T) {
	t.Parallel()

	got, err := Parse(source)
	want := Types{
		"Card": {[]Property{{"matchId", "matchId", "String"}}},
		"ContentState": {[]Property{
			{"headline", "headline", "String"}, {"target", "target", "Int?"}, {"batters", "atCrease", "[Crease]?"}, {"rate", "rate", "Double?"},
			{"bowler", "bowler", "Crease?"},
		}},
		"Crease": {[]Property{{"name", "name", "String"}, {"strike", "strike", "Bool?"}}},
	}

	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}

	for broken, want := range map[string]string{
		"struct A {\n":                   "a } is missing",
		"struct A {\n}\n}\n":             "line 3: a } too many",
		"struct A {\nlet at: Date\n}\n":  "A.at has the type Date, which is unknown",
		"struct A {\n}\nstruct A {\n}\n": "line 3: a second struct A",
		"struct A {\nenum CodingKeys: String, CodingKey {\ncase b\n}\n}\n": "line 3: CodingKeys of A has the unknown property b",
	} {
		if _, err := Parse(broken); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", broken, err, want)
		}
	}
}

// TestDecode follows JSONDecoder.
func TestDecode(t *testing.T) {
	t.Parallel()

	types, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}

	for document, want := range map[string]string{
		`{"headline":"IND 1/0"}`:                                        "",
		`{"headline":"","unknown":[{}],"target":null,"bowler":null}`:    "",
		`{"headline":"","target":20.0,"rate":7,"atCrease":[]}`:          "",
		`{"headline":"","atCrease":[{"name":"Kohli","strike":true}]}`:   "",
		`{"headline":"","batters":7}`:                                   "", // the key is another
		`{}`:                                                            "keyNotFound: headline is missing and not optional",
		`{"headline":null}`:                                             "valueNotFound: headline is null and not optional",
		`{"headline":1}`:                                                "typeMismatch: headline is no String",
		`{"headline":"","target":20.1234}`:                              "typeMismatch: target is no Int",
		`{"headline":"","target":"20"}`:                                 "typeMismatch: target is no Int",
		`{"headline":"","target":1e300}`:                                "typeMismatch: target is no Int",
		`{"headline":"","atCrease":[{"name":"Kohli"},{"strike":true}]}`: "keyNotFound: atCrease[1].name is missing and not optional",
		`{"headline":"","atCrease":[{"name":"Kohli","strike":1}]}`:      "typeMismatch: atCrease[0].strike is no Bool",
		`{"headline":"","atCrease":{}}`:                                 "typeMismatch: atCrease is no [Crease]",
		`{"headline":"","atCrease":[null]}`:                             "valueNotFound: atCrease[0] is null and not optional",
		`{"headline":"","bowler":"Bumrah"}`:                             "typeMismatch: bowler is no Crease",
		`[]`:                                                            "typeMismatch:  is no ContentState",
		`{"headline":"`:                                                 "dataCorrupted: not one JSON value",
		`{"headline":""}{}`:                                             "dataCorrupted: not one JSON value",
	} {
		got := ""
		if err := types.Decode("ContentState", []byte(document)); err != nil {
			got = err.Error()
		}

		if got != want {
			t.Errorf("%s: got %q, want %q", document, got, want)
		}
	}

	if err := types.Decode("Other", []byte("{}")); err == nil || !strings.Contains(err.Error(), "Other") {
		t.Error(err)
	}
}
