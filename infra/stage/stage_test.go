package stage

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/fleet"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

var rooms = []spec.Room{{Name: "cricket", Settings: []spec.Setting{
	{Name: "TEAM_ID", Secret: "KEY", Does: "the id of the team", Like: "[A-Z0-9]{10}", Required: true},
	{Name: "HOST", Secret: "KEY", Does: "the host of pushes", Like: "https://(a|b)", Trial: "https://b"},
}}}

// good is a deployment that lacks nothing.
func good() map[string]string {
	return map[string]string{"stage": "dev", "account": "123456789012", "region": "us-east-1", "TEAM_ID": "TEAM123456"}
}

func read(context, environment map[string]string) (Stage, error) {
	return Read(rooms, context, func(key string) string { return environment[key] })
}

// TestBadInput: each invalid option returns an error of one sentence that describes
// what to change.
func TestBadInput(t *testing.T) {
	t.Parallel()

	const certificate = "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0000"
	for name, c := range map[string]struct {
		change map[string]string
		want   string
	}{
		"no stage": {map[string]string{"stage": ""}, "no stage: add -c stage=dev"},
		"a stage of one letter": {
			map[string]string{"stage": "d"},
			`invalid stage "d": must be 2 to 12 lower-case letters and digits, beginning with a letter`,
		},
		"a stage with a dash": {
			map[string]string{"stage": "my-dev"},
			`invalid stage "my-dev": must be 2 to 12 lower-case letters and digits, beginning with a letter`,
		},
		"a stage in capitals": {
			map[string]string{"stage": "Prod"},
			`invalid stage "Prod": must be 2 to 12 lower-case letters and digits, beginning with a letter`,
		},
		"a long stage": {
			map[string]string{"stage": "abcdefghijklm"},
			`invalid stage "abcdefghijklm": must be 2 to 12 lower-case letters and digits, beginning with a letter`,
		},
		"a digit first": {
			map[string]string{"stage": "1dev"},
			`invalid stage "1dev": must be 2 to 12 lower-case letters and digits, beginning with a letter`,
		},
		"two lines": {
			map[string]string{"stage": "dev\n"},
			`invalid stage "dev\n": must be 2 to 12 lower-case letters and digits, beginning with a letter`,
		},
		"the local stage": {map[string]string{"stage": "local"}, "the stage local is not deployed: `make run` starts it on this machine"},
		"AWS's name": {
			map[string]string{"stage": "myaws"},
			`invalid stage "myaws": Cognito rejects domains whose names contain aws, amazon or cognito`,
		},
		"Amazon's": {
			map[string]string{"stage": "amazon1"},
			`invalid stage "amazon1": Cognito rejects domains whose names contain aws, amazon or cognito`,
		},
		"Cognito's": {
			map[string]string{"stage": "cognito"},
			`invalid stage "cognito": Cognito rejects domains whose names contain aws, amazon or cognito`,
		},
		"a mistyped option": {
			map[string]string{"mial": "ops@example.com"},
			"unknown setting mial; valid settings: stage, rooms, leave, account, region, arch, agnostic, sam, programs, cdn, cdnkey, domain, " +
				"certificate, mail, pager, origins, callbacks, apps, triggers, insights, ses, identity, signup, rate, burst, reads, writes, warm, budget, commit, restart, " +
				"restored, restoredsql, canary, prefixlists, zones, reader, TEAM_ID, HOST",
		},
		"a setting in small": {
			map[string]string{"team_id": ""},
			"unknown setting team_id; valid settings: stage, rooms, leave, account, region, arch, agnostic, sam, programs, cdn, cdnkey, domain, " +
				"certificate, mail, pager, origins, callbacks, apps, triggers, insights, ses, identity, signup, rate, burst, reads, writes, warm, budget, commit, restart, " +
				"restored, restoredsql, canary, prefixlists, zones, reader, TEAM_ID, HOST",
		},
		"an architecture": {map[string]string{"arch": "amd64"}, `unknown architecture "amd64": use -c arch=arm64 or -c arch=x86_64`},
		"no account":      {map[string]string{"account": ""}, "no AWS account: sign in, or add -c account=123456789012"},
		"a short account": {map[string]string{"account": "12345"}, `invalid account "12345": must be 12 digits`},
		"a named account": {map[string]string{"account": "my-account"}, `invalid account "my-account": must be 12 digits`},
		"no region":       {map[string]string{"region": ""}, "no AWS region: set AWS_REGION, or add -c region=us-east-1"},
		"a zone":          {map[string]string{"region": "us-east-1a"}, `invalid region "us-east-1a": must be like us-east-1`},
		"a firewall elsewhere": {
			map[string]string{"region": "ap-south-1", "cdn": "true"},
			"cdn=true requires the region us-east-1, where AWS keeps the firewall of a distribution, not ap-south-1",
		},
		"a doubtful flag": {map[string]string{"cdn": "yes"}, `invalid cdn="yes": must be true or false`},
		"no number of a key": {
			map[string]string{"cdnkey": "0"},
			`invalid cdnkey="0": must be a number, for a new key one more than that of the last deployment`,
		},
		"a distant certificate of a distribution": {
			map[string]string{
				"cdn":         "true",
				"agnostic":    "true",
				"domain":      "api.example.com",
				"certificate": "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d-0000",
			},
			"the certificate is in the region eu-west-1; the domain of a distribution requires one in us-east-1",
		},
		"SAM in an account": {map[string]string{"sam": "true"}, "sam=true requires -c agnostic=true"},
		"an account's stand-in": {
			map[string]string{"programs": "false"}, "programs=false is for templates to check, not for a deployment: it requires -c agnostic=true",
		},
		"another doubtful flag": {map[string]string{"agnostic": "1"}, `invalid agnostic="1": must be true or false`},
		"a third":               {map[string]string{"triggers": "off"}, `invalid triggers="off": must be true or false`},
		"a domain with a path": {
			map[string]string{"domain": "example.com/api", "certificate": certificate},
			`invalid domain "example.com/api": must be like api.example.com`,
		},
		"a bare domain": {
			map[string]string{"domain": "api.example.com"},
			"a domain and its certificate are required together: -c domain=api.example.com -c certificate=arn:aws:acm:…",
		},
		"a bare certificate": {
			map[string]string{"certificate": certificate},
			"a domain and its certificate are required together: -c domain=api.example.com -c certificate=arn:aws:acm:…",
		},
		"another's certificate": {
			map[string]string{"domain": "api.example.com", "certificate": "arn:aws:iam::1:x"},
			`invalid certificate "arn:aws:iam::1:x": must be the ARN of a certificate in ACM`,
		},
		"a distant certificate": {
			map[string]string{"domain": "api.example.com", "certificate": certificate, "region": "eu-west-1"},
			"the certificate is in the region us-east-1; the domain requires one in eu-west-1",
		},
		"nobody gets alarms": {
			map[string]string{"stage": "prod"},
			"production requires an address that gets its alarms: -c mail=ops@example.com",
		},
		"a silent budget": {map[string]string{"budget": "50"}, "a budget requires an address that is notified: -c mail=ops@example.com"},
		"no rate":         {map[string]string{"rate": "0"}, `invalid rate="0": must be a whole number from 1 to 1000000`},
		"half a burst":    {map[string]string{"burst": "0.5"}, `invalid burst="0.5": must be a whole number from 1 to 1000000`},
		"a sender's name": {
			map[string]string{"ses": "Us <us@example.com>"},
			`invalid address ses="Us <us@example.com>": must be like hello@example.com, of a domain that is verified in SES`,
		},
		"a sender's identity": {
			map[string]string{"identity": "hello@example.com"},
			`invalid domain identity="hello@example.com": must be like example.com`,
		},
		"a doubtful sign-up": {map[string]string{"signup": "no"}, `invalid signup="no": must be true or false`},
		"a mailbox": {
			map[string]string{"mail": "Ops <ops@example.com>"},
			`invalid mail address "Ops <ops@example.com>": must be like ops@example.com`,
		},
		"an origin with a path": {
			map[string]string{"origins": "https://example.com,https://example.com/app"},
			`invalid origin "https://example.com/app": must be like https://app.example.com`,
		},
		"an open origin": {
			map[string]string{"origins": "http://example.com"},
			`invalid origin "http://example.com": must be like https://app.example.com`,
		},
		"an origin in capitals": {
			map[string]string{"origins": "https://App.Example.com"},
			`invalid origin "https://App.Example.com": must be as browsers send it, https://app.example.com`,
		},
		"an international origin": {
			map[string]string{"origins": "https://Bücher.example:8443"},
			`invalid origin "https://Bücher.example:8443": must be as browsers send it, https://xn--bcher-kva.example:8443`,
		},
		"an origin with the port of HTTPS": {
			map[string]string{"origins": "https://app.example.com:443"},
			`invalid origin "https://app.example.com:443": must be as browsers send it, https://app.example.com`,
		},
		"an origin with the port of HTTP": {
			map[string]string{"origins": "http://localhost:80"},
			`invalid origin "http://localhost:80": must be as browsers send it, http://localhost`,
		},
		"a domain in capitals": {
			map[string]string{"domain": "API.example.com", "certificate": certificate},
			`invalid domain "API.example.com": must be like api.example.com`,
		},
		"an international domain": {
			map[string]string{"domain": "api.bücher.example", "certificate": certificate},
			`invalid domain "api.bücher.example": must be like api.example.com`,
		},
		"a callback": {
			map[string]string{"callbacks": "signed-in"},
			`invalid callback "signed-in": must be like https://app.example.com/signed-in or matchday://signed-in`,
		},
		"an open callback": {
			map[string]string{"callbacks": "http://example.com/in"},
			`invalid callback "http://example.com/in": must be like https://app.example.com/signed-in or matchday://signed-in`,
		},
		"an app's address without encryption": {
			map[string]string{"apps": "com.example.app:/in,http://example.com/in"},
			`invalid app address "http://example.com/in": must be one that the app claims, like https://app.example.com/signed-in, ` +
				`or of a private scheme, like com.example.app:/signed-in`,
		},
		"an app's scheme that is no domain": {
			map[string]string{"apps": "matchday://signed-in"},
			`invalid app address "matchday://signed-in": must be one that the app claims, like https://app.example.com/signed-in, ` +
				`or of a private scheme, like com.example.app:/signed-in`,
		},
		"an app's address with a fragment": {
			map[string]string{"apps": "https://example.com/in#a"},
			`invalid app address "https://example.com/in#a": must be one that the app claims, like https://app.example.com/signed-in, ` +
				`or of a private scheme, like com.example.app:/signed-in`,
		},
		"a canary": {map[string]string{"canary": "101"}, "invalid canary=101: must be a percentage from 1 to 100, or 0 for no versions"},
		"one zone": {
			map[string]string{"zones": "us-east-1a"},
			`invalid zones="us-east-1a": must be two availability zones of the region, like us-east-1a,us-east-1c`,
		},
		"a zone twice": {
			map[string]string{"zones": "us-east-1a,us-east-1a"},
			`invalid zones="us-east-1a,us-east-1a": must be two availability zones of the region, like us-east-1a,us-east-1c`,
		},
		"zones of another region": {
			map[string]string{"zones": "ap-south-1a,ap-south-1b"},
			`invalid zones="ap-south-1a,ap-south-1b": must be two availability zones of the region, like us-east-1a,us-east-1c`,
		},
		"a restored database": {
			map[string]string{"restoredsql": "games:r1"},
			`invalid restoredsql="games:r1": must be like name:name-r1.cluster-a1b2c3.us-east-1.rds.amazonaws.com:cluster-A1B2C3`,
		},
		"a restored database of no room": {
			map[string]string{"restoredsql": "games:games-r1.cluster-a1b2c3.us-east-1.rds.amazonaws.com:cluster-A1B2C3"},
			`invalid restoredsql="games:games-r1.cluster-a1b2c3.us-east-1.rds.amazonaws.com:cluster-A1B2C3": no room has the database games`,
		},
		"a pager": {map[string]string{"mail": "ops@example.com", "pager": "nobody"}, `invalid mail address pager="nobody": must be like pager@example.com`},

		"a restored name": {
			map[string]string{"restored": "games"},
			`invalid restored="games": "games" must be the name of a table, and what was appended to it: cricket-fixtures:r1`,
		},
		"a restored table": {map[string]string{"restored": "games:r1"}, `invalid restored="games:r1": no room has the table games`},
		"one prefix list": {
			map[string]string{"prefixlists": "pl-63a5400a"},
			`invalid prefixlists="pl-63a5400a": must be the ids of the prefix lists of S3 and DynamoDB, like pl-63a5400a,pl-02cd2c6b`,
		},
		"no setting": {map[string]string{"TEAM_ID": ""}, "the setting TEAM_ID is missing, the id of the team: -c TEAM_ID=…"},
		"a setting": {
			map[string]string{"TEAM_ID": "team"},
			`invalid setting TEAM_ID, the id of the team: "team" is not like [A-Z0-9]{10}`,
		},
		"a part of a setting": {
			map[string]string{"HOST": "https://b.example.com"},
			`invalid setting HOST, the host of pushes: "https://b.example.com" is not like https://(a|b)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			context := good()
			maps.Copy(context, c.change)

			got, err := read(context, nil)
			if err == nil {
				t.Fatalf("it is taken: %+v", got)
			}

			if err.Error() != c.want {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
		})
	}
}

// TestRoomsForBrowsersNeedOneSite: a room that signs browsers in by a cookie is deployed only with
// the addresses of its page and of its API, and if these are of one site.
func TestRoomsForBrowsersNeedOneSite(t *testing.T) {
	t.Parallel()

	pages := []spec.Room{
		{Name: "phones", Functions: []spec.Function{{On: spec.Route{Method: "GET", Path: "/", Auth: spec.User}}}},
		{Name: "pages", Functions: []spec.Function{{On: spec.Route{Method: "GET", Path: "/", Auth: spec.Browser}}}},
	}

	const (
		app      = "https://app.example.com"
		noPage   = "pages sends browsers to its page, the first origin: -c origins=https://app.example.com"
		noDomain = "pages signs browsers in by a cookie, which they send only to the site of its page, so it requires a domain of that site: " +
			"-c domain=api.example.com -c certificate=arn:aws:acm:…"
		oneSite = ", another site: the domain and all origins must be of one, like -c domain=api.example.com -c origins=https://app.example.com"
		local   = ", another site: remove the origin, and develop the page with the APIs of `make run`"
	)

	sends := func(origin, domain string) string {
		return "pages signs browsers in by a cookie, which a page of " + origin + " does not send to " + domain
	}
	badDomain := func(domain string) string {
		return fmt.Sprintf("invalid domain %q: must be below a public suffix, like api.example.com", domain)
	}
	badOrigin := func(origin string) string {
		return fmt.Sprintf("invalid origin %q: its host must be below a public suffix, like app.example.com", origin)
	}

	for name, c := range map[string]struct {
		domain, origins, want string
	}{
		"no address":     {"", "", noPage},
		"any page":       {"api.example.com", app + ",*", noPage},
		"no domain":      {"", app, noDomain},
		"one site":       {"api.example.com", app, ""},
		"the site's own": {"example.com", "https://example.com", ""},
		"deep names":     {"v1.api.example.com", "https://a.b.example.com", ""},
		"a port":         {"api.example.com", app + ":8443", ""},
		"two pages":      {"api.example.com", app + ",https://www.example.com", ""},

		"another site":      {"api.example.net", app, sends(app, "api.example.net") + oneSite},
		"a second page":     {"api.example.com", app + ",https://example.org", sends("https://example.org", "api.example.com") + oneSite},
		"a longer name":     {"api.example.com", "https://myexample.com", sends("https://myexample.com", "api.example.com") + oneSite},
		"an IPv4 address":   {"api.example.com", "https://10.0.0.1", badOrigin("https://10.0.0.1")},
		"an IPv6 address":   {"api.example.com", "https://[2001:db8::1]", badOrigin("https://[2001:db8::1]")},
		"localhost":         {"api.example.com", "http://localhost:3000", sends("http://localhost:3000", "api.example.com") + local},
		"localhost, by TLS": {"api.example.com", app + ",https://localhost", sends("https://localhost", "api.example.com") + local},

		"below co.uk":                {"api.example.co.uk", "https://app.example.co.uk", ""},
		"two of co.uk":               {"api.example.co.uk", "https://other.co.uk", sends("https://other.co.uk", "api.example.co.uk") + oneSite},
		"co.uk":                      {"co.uk", "https://app.co.uk", badDomain("co.uk")},
		"a page at co.uk":            {"api.example.co.uk", "https://co.uk", badOrigin("https://co.uk")},
		"two strangers of github.io": {"bob.github.io", "https://ann.github.io", sends("https://ann.github.io", "bob.github.io") + oneSite},
		"one of github.io":           {"api.ann.github.io", "https://ann.github.io", ""},
		"github.io":                  {"github.io", "https://ann.github.io", badDomain("github.io")},
		"a page at github.io":        {"api.ann.github.io", "https://github.io", badOrigin("https://github.io")},
		"a top-level domain":         {"api.example.com", "https://com", badOrigin("https://com")},

		"CloudFront's names": {"d2.cloudfront.net", "https://d1.cloudfront.net",
			sends("https://d1.cloudfront.net", "d2.cloudfront.net") + oneSite},
		"a page at CloudFront": {"api.example.com", "https://d1.cloudfront.net",
			sends("https://d1.cloudfront.net", "api.example.com") + oneSite},
		"API Gateway's names": {"x2.execute-api.us-east-1.amazonaws.com", "https://x1.execute-api.us-east-1.amazonaws.com",
			sends("https://x1.execute-api.us-east-1.amazonaws.com", "x2.execute-api.us-east-1.amazonaws.com") + oneSite},
		"API Gateway itself": {"execute-api.us-east-1.amazonaws.com", app, badDomain("execute-api.us-east-1.amazonaws.com")},

		"an international name":          {"api.xn--bcher-kva.example", "https://xn--bcher-kva.example", ""},
		"an international suffix":        {"api.xn--e1afmkfd.xn--p1ai", "https://xn--e1afmkfd.xn--p1ai", ""},
		"an international suffix itself": {"api.example.com", "https://xn--p1ai", badOrigin("https://xn--p1ai")},
	} {
		for _, cdn := range []string{"false", "true"} {
			context := good()
			delete(context, "TEAM_ID")

			context["cdn"], context["domain"], context["origins"] = cdn, c.domain, c.origins
			if c.domain != "" {
				context["certificate"] = "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0000"
			}

			if _, err := Read(pages[:1], context, func(string) string { return "" }); err != nil {
				t.Errorf("%s, cdn=%s: without a room for browsers it is refused: %v", name, cdn, err)
			}

			got := ""
			if _, err := Read(pages, context, func(string) string { return "" }); err != nil {
				got = err.Error()
			}

			if got != c.want {
				t.Errorf("%s, cdn=%s:\ngot  %s\nwant %s", name, cdn, got, c.want)
			}
		}
	}

	for cdn, want := range map[string]string{"false": "", "true": noDomain} {
		context, got := map[string]string{"stage": "dev", "agnostic": "true", "cdn": cdn}, ""
		if _, err := Read(pages, context, func(string) string { return "" }); err != nil {
			got = err.Error()
		}

		if got != want {
			t.Errorf("templates for a review, cdn=%s: got %q, want %q", cdn, got, want)
		}
	}
}

// TestDomainIsRequiredForCookiesOnly: each room alone, with accounts, requires a domain if it signs
// browsers in. Cricket does not.
func TestDomainIsRequiredForCookiesOnly(t *testing.T) {
	t.Parallel()

	for _, room := range fleet.Specs() {
		chosen, err := fleet.Choose(room.Name, "")
		if err != nil {
			t.Fatal(err)
		}

		context := map[string]string{
			"stage": "dev", "account": "123456789012", "region": "us-east-1", "origins": "https://app.example.com",
		}

		for _, r := range chosen.Deployed() {
			for _, setting := range r.Settings {
				if setting.Required {
					context[setting.Name] = setting.Example
				}
			}
		}

		_, err = Read(chosen.Deployed(), context, func(string) string { return "" })
		if refused := err != nil; refused != room.ServesBrowsers() || refused && room.Name == "cricket" {
			t.Errorf("%s without a domain: %v, although it signs browsers in: %t", room.Name, err, room.ServesBrowsers())
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change, environment map[string]string
		check               func(Stage) bool
	}{
		"as it is": {check: func(s Stage) bool {
			return s.Name == "dev" && s.Prefix() == "dev-" && s.Arch == "arm64" && !s.CDN && slices.Equal(s.Origins, []string{"*"})
		}},
		"production has no prefix": {
			change: map[string]string{"stage": "prod", "mail": "ops@example.com"},
			check:  func(s Stage) bool { return s.Prefix() == "" },
		},
		"the CLI's account and region": {
			change:      map[string]string{"account": "", "region": ""},
			environment: map[string]string{"CDK_DEFAULT_ACCOUNT": "210987654321", "CDK_DEFAULT_REGION": "eu-west-1"},
			check:       func(s Stage) bool { return s.Account == "210987654321" && s.Region == "eu-west-1" },
		},
		"the context before the CLI": {
			environment: map[string]string{"CDK_DEFAULT_ACCOUNT": "210987654321", "CDK_DEFAULT_REGION": "eu-west-1"},
			check:       func(s Stage) bool { return s.Account == "123456789012" && s.Region == "us-east-1" },
		},
		"no account in particular": {
			change: map[string]string{"agnostic": "true", "TEAM_ID": ""}, environment: map[string]string{"CDK_DEFAULT_ACCOUNT": "210987654321"},
			check: func(s Stage) bool { return s.Account == "" && s.Region == "" && s.Settings["TEAM_ID"] == "" },
		},
		"a certificate of no region in particular": {
			change: map[string]string{
				"agnostic":    "true",
				"domain":      "api.example.com",
				"certificate": "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d-0000",
			},
			check: func(s Stage) bool { return s.Domain == "api.example.com" },
		},
		"the CDK's own keys": {
			change: map[string]string{
				"cli-telemetry":                   "false",
				"@aws-cdk/core:target-partitions": "[aws]",
				"aws:cdk:version-reporting":       "false",
				"acknowledged-issue-numbers":      "[1]",
			},
			check: func(s Stage) bool { return s.Name == "dev" },
		},
		"no key before the first": {check: func(s Stage) bool { return slices.Equal(s.CDNKeys(), []string{"dev/cdn/key1"}) }},
		"a new key, and the one before": {change: map[string]string{"cdnkey": "10"}, check: func(s Stage) bool {
			return slices.Equal(s.CDNKeys(), []string{"dev/cdn/key10", "dev/cdn/key9"})
		}},
		"SAM has no CDN": {
			change: map[string]string{"agnostic": "true", "sam": "true", "cdn": "true"},
			check:  func(s Stage) bool { return s.SAM && !s.CDN },
		},
		"rooms, which the caller has read": {
			change: map[string]string{"rooms": "cricket", "leave": "no-such-room"},
			check:  func(s Stage) bool { return s.Name == "dev" },
		},
		"zones": {
			change: map[string]string{"zones": "us-east-1a,us-east-1c"},
			check:  func(s Stage) bool { return slices.Equal(s.Zones, []string{"us-east-1a", "us-east-1c"}) },
		},
		"versions":               {change: map[string]string{"canary": "25"}, check: func(s Stage) bool { return s.Canary == 25 }},
		"no versions":            {check: func(s Stage) bool { return s.Canary == 0 }},
		"versions of production": {change: map[string]string{"stage": "prod", "mail": "ops@example.com"}, check: func(s Stage) bool { return s.Canary == 10 }},
		"production without them": {
			change: map[string]string{"stage": "prod", "mail": "ops@example.com", "canary": "0"},
			check:  func(s Stage) bool { return s.Canary == 0 },
		},
		"one address": {check: func(s Stage) bool {
			return s.Address(Urgent) == s.Mail && s.Address(Notice) == s.Mail
		}},
		"a pager": {change: map[string]string{"mail": "ops@example.com", "pager": "pager@example.com"}, check: func(s Stage) bool {
			return s.Address(Urgent) == "pager@example.com" && s.Address(Notice) == s.Mail
		}},
		"the pool calls":         {check: func(s Stage) bool { return s.Triggers }},
		"the pool does not call": {change: map[string]string{"triggers": "false"}, check: func(s Stage) bool { return !s.Triggers }},
		"a trial's own setting": {
			check: func(s Stage) bool { return s.Settings["HOST"] == "https://b" && s.Settings["TEAM_ID"] == "TEAM123456" },
		},
		"production has no trial's": {
			change: map[string]string{"stage": "prod", "mail": "ops@example.com"},
			check:  func(s Stage) bool { _, set := s.Settings["HOST"]; return !set },
		},
		"a setting in the context": {
			change: map[string]string{"HOST": "https://a"},
			check:  func(s Stage) bool { return s.Settings["HOST"] == "https://a" },
		},
		"several origins, with spaces": {
			change: map[string]string{"origins": "https://a.example, http://localhost:3000"},
			check: func(s Stage) bool {
				return slices.Equal(s.Origins, []string{"https://a.example", "http://localhost:3000"})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			context := good()
			maps.Copy(context, c.change)

			s, err := read(context, c.environment)
			if err != nil {
				t.Fatal(err)
			}

			if !c.check(s) {
				t.Errorf("got %+v", s)
			}
		})
	}
}

// TestSettings: the rooms' descriptions of their settings are valid, and are of a
// secret that a function holds. A required setting has an example that production accepts.
func TestSettings(t *testing.T) {
	t.Parallel()

	if _, err := Read(fleet.Specs(), map[string]string{"stage": "dev", "agnostic": "true"}, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}

	for _, room := range fleet.Specs() {
		for _, setting := range room.Settings {
			if !slices.ContainsFunc(room.Functions, setting.Of) {
				t.Errorf("no function gets %s", setting.Name)
			}

			if !regexp.MustCompile("^("+setting.Like+")$").MatchString(setting.Example) && (setting.Required || setting.Example != "") {
				t.Errorf("%s has the example %q, want one like %s", setting.Name, setting.Example, setting.Like)
			}
		}
	}
}

// TestOverridable: SAM CLI can pass a function the address of each service that it
// calls, and no other.
func TestOverridable(t *testing.T) {
	t.Parallel()

	room := spec.Room{Settings: []spec.Setting{{Name: "KEY_ID", Secret: "KEY"}, {Name: "OTHER", Secret: "OTHER_KEY"}, {Name: "FROM"}}}

	always := []string{"MATCHDAY_STAGE", "MATCHDAY_PREFIX", "MATCHDAY_QUEUES", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SQS"}
	for name, c := range map[string]struct {
		f    spec.Function
		want []string
	}{
		"no more":        {spec.Function{}, nil},
		"a secret":       {spec.Function{Secrets: []string{"KEY"}}, []string{"KEY", "KEY_ID"}},
		"who sends mail": {spec.Function{Mail: []spec.MailSender{{Setting: "FROM"}}}, []string{"AWS_ENDPOINT_URL_SESV2", "FROM"}},
		"who knows users": {
			spec.Function{Users: []spec.UserOp{spec.AdminGetUser}},
			[]string{"MATCHDAY_USER_POOL", "AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER"},
		},
	} {
		if got, want := Overridable(room, c.f), slices.Concat(always, c.want); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestNames: the names of resources in the templates are unique, and no longer than AWS
// lets it be, with the longest name of a stage.
func TestNames(t *testing.T) {
	t.Parallel()

	s := Stage{Name: "abcdefghijkl"}

	for _, room := range fleet.Specs() {
		seen, jobs := map[string]bool{}, false

		unique := func(kind, name string, most int) {
			if seen[kind+name] || len(name) > most {
				t.Errorf("the %s %s is there twice, or longer than %d", kind, name, most)
			}

			seen[kind+name] = true
		}
		for _, f := range room.Functions {
			unique("function", s.Function(f), 64)

			if q, ok := f.On.(spec.Queue); ok {
				unique("queue", s.Prefix()+q.Name, 80)
			}

			if dead := s.DeadLetter(f); dead != "" {
				jobs = jobs || dead == s.JobsDead(room.Name)
				if dead != s.JobsDead(room.Name) {
					unique("queue", dead, 80)
				}
			}
		}

		if jobs != s.HasJobs(room) {
			t.Errorf("%s has jobs that are given up: %v, want %v", room.Name, s.HasJobs(room), jobs)
		}

		unique("queue", s.JobsDead(room.Name), 80)

		for _, m := range room.Machines {
			unique("machine", s.Machine(m), 80)
			unique("function", s.Machine(m), 64) // schedules share these names
		}

		for _, a := range s.Alarms(room) {
			unique("alarm", a.Name, 255)

			if a.IfDown == "" || a.Watches == "" || len(a.Metrics) == 0 || a.Points < 1 || a.Points > a.Of {
				t.Errorf("the alarm %+v is not described in full", a)
			}
		}
	}
}

// TestAlarms: what wakes the on-call of each kind of a function, machine and metric.
func TestAlarms(t *testing.T) {
	t.Parallel()

	own := spec.Queue{Name: "lab-own"}
	s := Stage{Name: "dev"}
	shares := func(room spec.Room) spec.Room { room.WatchesConcurrency = true; return room }
	of := func(functions ...spec.Function) spec.Room {
		for i := range functions {
			functions[i].Name = fmt.Sprintf("lab/%d", i+1)
		}

		return spec.Room{Name: "lab", Functions: functions}
	}

	const (
		failing   = "dev-lab-failing-urgent: 2 of 3 × 5m0s > 0: dev-lab-failures (Sum of matchday map[]), notBreaching"
		throttled = "dev-lab-throttled-urgent: 2 of 3 × 5m0s > 0: Throttles (Sum of AWS/Lambda map[]), notBreaching"
		jobs      = "dev-lab-dead-notice: 1 of 1 × 1m0s > 0: ApproximateNumberOfMessagesVisible (Maximum of AWS/SQS " +
			"map[QueueName:dev-lab-jobs-dead]), notBreaching"
	)

	var many []spec.Function
	for i := range 11 {
		many = append(many, spec.Function{On: spec.Queue{Name: fmt.Sprint("lab-", i), Unhurried: true}})
	}

	for name, c := range map[string]struct {
		room spec.Room
		want []string
	}{
		"nothing": {spec.Room{Name: "lab"}, nil},
		"routes": {of(spec.Function{On: spec.Route{}}, spec.Function{On: spec.Route{}}), []string{failing,
			"dev-lab-api-failing-urgent: 2 of 3 × 5m0s > 0.01: 5xx (Average of AWS/ApiGateway map[ApiId:{api}]), notBreaching",
			"dev-lab-api-refusing-notice: 2 of 3 × 5m0s > 100: dev-lab-refused (Sum of matchday map[]), notBreaching",
		}},
		"tasks": {shares(of(spec.Function{On: spec.Task{}}, spec.Function{On: spec.Task{}}, spec.Function{On: spec.UserConfirmed{}})),
			[]string{failing, throttled}},
		"queues, one of slow messages that are put off, and one that is watched otherwise": {of(
			spec.Function{On: spec.Queue{Name: "lab-work"}, Timeout: 30 * time.Second},
			spec.Function{On: own, Sends: []spec.Queue{own}, Timeout: 2 * time.Minute},
			spec.Function{On: spec.Queue{Name: "lab-slow", Unhurried: true}},
			spec.Function{On: spec.Queue{Name: "lab-asked", Unhurried: true, Answered: true}},
		), []string{failing,
			"dev-lab-dead-notice: 1 of 1 × 1m0s > 0: ApproximateNumberOfMessagesVisible (Maximum of AWS/SQS map[QueueName:dev-lab-work-dead]) + " +
				"ApproximateNumberOfMessagesVisible (Maximum of AWS/SQS map[QueueName:dev-lab-own-dead]) + ApproximateNumberOfMessagesVisible " +
				"(Maximum of AWS/SQS map[QueueName:dev-lab-slow-dead]), notBreaching",
			"dev-lab-late-urgent: 3 of 5 × 1m0s > 1: MAX([m1/300, m2/1620]) of ApproximateAgeOfOldestMessage (Maximum of AWS/SQS " +
				"map[QueueName:dev-lab-work]) + ApproximateAgeOfOldestMessage (Maximum of AWS/SQS map[QueueName:dev-lab-own]), notBreaching",
		}},
		"queues whose messages are watched": {of(
			spec.Function{On: spec.Queue{Name: "lab-work", Holds: 50}},
			spec.Function{On: spec.Queue{Name: "lab-slow", Holds: 7, Unhurried: true}},
		), []string{failing,
			"dev-lab-dead-notice: 1 of 1 × 1m0s > 0: ApproximateNumberOfMessagesVisible (Maximum of AWS/SQS map[QueueName:dev-lab-work-dead]) + " +
				"ApproximateNumberOfMessagesVisible (Maximum of AWS/SQS map[QueueName:dev-lab-slow-dead]), notBreaching",
			"dev-lab-waiting-urgent: 2 of 2 × 1m0s > 0: MAX([IF(m1 > 50 OR (m1 > 0 AND FILL(SUM([m2]), 0) == 0), 1, 0), " +
				"IF(m3 > 7 OR (m3 > 0 AND FILL(SUM([m4]), 0) == 0), 1, 0)]) of " +
				"ApproximateNumberOfMessagesVisible (Minimum of AWS/SQS map[QueueName:dev-lab-work]) + " +
				"NumberOfMessagesReceived (Sum of AWS/SQS map[QueueName:dev-lab-work]) + " +
				"ApproximateNumberOfMessagesVisible (Minimum of AWS/SQS map[QueueName:dev-lab-slow]) + " +
				"NumberOfMessagesReceived (Sum of AWS/SQS map[QueueName:dev-lab-slow]), notBreaching",
		}},
		"a job of each day": {of(spec.Function{On: spec.Schedule("cron(10 3 * * ? *)")}), []string{failing, jobs}},
		"jobs of each minute": {of(spec.Function{On: spec.Schedule("rate(1 minute)")}, spec.Function{On: spec.Schedule("cron(* * * * ? *)")}),
			[]string{failing,
				"dev-lab-stopped-urgent: 3 of 5 × 1m0s < 2: SUM([IF(m1 > 0, 1, 0), IF(m2 > 0, 1, 0)]) of Invocations (Sum of AWS/Lambda " +
					"map[FunctionName:dev-lab-1]) + Invocations (Sum of AWS/Lambda map[FunctionName:dev-lab-2]), breaching",
			}},
		"a machine of each minute": {
			spec.Room{Name: "lab", Machines: []spec.Machine{{Name: "lab-loop", Every: "cron(* * * * ? *)"}}},
			[]string{failing,
				"dev-lab-stopped-urgent: 3 of 5 × 1m0s < 1: SUM([IF(m1 > 0, 1, 0)]) of ExecutionsStarted (Sum of AWS/States " +
					"map[StateMachineArn:{lab-loop}]), breaching",
			},
		},
		"a machine of each hour": {
			spec.Room{Name: "lab", Machines: []spec.Machine{{Name: "lab-loop", Every: "rate(1 hour)"}}},
			[]string{failing, jobs},
		},
		"a database and a cache with two users": {of(
			spec.Function{
				On:     spec.Task{},
				SQL:    []spec.SQLLogin{spec.SQLDatabase{Name: "lab-books"}.As("reader")},
				Caches: []spec.CacheLogin{spec.Cache{Name: "lab-ranks"}.As("reader", "~* +@read")},
			},
			spec.Function{On: spec.Task{}, Caches: []spec.CacheLogin{spec.Cache{Name: "lab-ranks"}.As("writer", "~* +@all")}},
		), []string{failing,
			"dev-lab-books-database-full-urgent: 3 of 3 × 5m0s > 90: ACUUtilization (Average of AWS/RDS map[DBClusterIdentifier:dev-lab-books]), " +
				"notBreaching",
			"dev-lab-ranks-cache-throttled-notice: 5 of 5 × 1m0s > 0: ThrottledCmds (Sum of AWS/ElastiCache map[clusterId:dev-lab-ranks]), notBreaching",
		}},
		"the room's own": {spec.Room{Name: "lab", Alarms: []spec.Alarm{
			{Name: "slow", Function: "lab/get", Metrics: metrics("Lag", "Wait"), Stat: "p99", Bound: 2, Minutes: 3},
			{Name: "idle", Function: "lab/get", Metrics: metrics("Done"), Stat: "Sum", Below: true, Bound: 4, Minutes: 2, Notice: true},
			{Name: "delayed", Function: "lab/get", Metrics: []spec.Metric{{Name: "Delay", OfRoom: true}}, Stat: "p99", Bound: 3, Minutes: 3},
			{
				Name:     "behind",
				Function: "lab/get",
				Metrics:  metrics("Done"),
				Stat:     "Sum",
				While:    metrics("Open")[0],
				Below:    true,
				Bound:    4,
				Minutes:  1,
			},
			{
				Name:     "undone",
				Function: "lab/get",
				Metrics:  metrics("Done"),
				Stat:     "SampleCount",
				When:     spec.Emitted{Function: "lab/put", Metric: metrics("Asked")[0]},
				Below:    true,
				Bound:    1,
				Minutes:  3,
			},
		}}, []string{
			"dev-lab-slow-urgent: 3 of 5 × 1m0s > 2: Lag + Wait (p99 of matchday map[function:dev-lab-get]), notBreaching",
			"dev-lab-idle-notice: 2 of 5 × 1m0s < 4: Done (Sum of matchday map[function:dev-lab-get]), breaching",
			"dev-lab-delayed-urgent: 3 of 5 × 1m0s > 3: Delay (p99 of matchday map[room:dev-lab]), notBreaching",
			"dev-lab-behind-urgent: 1 of 5 × 1m0s < 4: Done (Sum of matchday map[function:dev-lab-get]) while Open, ignore",
			"dev-lab-undone-urgent: 3 of 5 × 1m0s < 1: IF(FILL(SUM([m2]), 0) > 0, FILL(SUM([m1]), 0), 1) of Done (SampleCount of matchday " +
				"map[function:dev-lab-get]) + Asked (Sum of matchday map[function:dev-lab-put]), notBreaching",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got []string
			for _, a := range s.Alarms(c.room) {
				got = append(got, line(a))
			}

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("alarms (-want +got):\n%s", diff)
			}
		})
	}

	var names []string
	for _, a := range s.Alarms(of(many...)) {
		names = append(names, fmt.Sprint(a.Name, " ", len(a.Metrics)))
	}

	if diff := cmp.Diff([]string{"dev-lab-failing-urgent 1", "dev-lab-dead-notice 10", "dev-lab-dead-2-notice 1"}, names); diff != "" {
		t.Errorf("alarms of eleven queues (-want +got):\n%s", diff)
	}
}

func metrics(names ...string) (all []spec.Metric) {
	for _, name := range names {
		all = append(all, spec.Metric{Name: name, Unit: spec.Count})
	}

	return all
}

// line is an alarm in one.
func line(a Alarm) string {
	var watched []string

	for i, m := range a.Metrics {
		of := fmt.Sprintf(" (%s of %s %v)", m.Stat, m.Namespace, m.Dimensions)
		if i+1 < len(a.Metrics) && maps.Equal(m.Dimensions, a.Metrics[i+1].Dimensions) && m.Stat == a.Metrics[i+1].Stat &&
			m.Namespace == a.Metrics[i+1].Namespace {
			of = ""
		}

		watched = append(watched, m.Name+of)
	}

	compare, while := ">", ""
	if a.Below {
		compare = "<"
	}

	if a.While != nil {
		while = " while " + a.While.Name
	}

	math := ""
	if a.Math != "" {
		math = a.Math + " of "
	}

	return fmt.Sprintf("%s: %d of %d × %v %s %v: %s%s%s, %s", a.Name, a.Points, a.Of, a.Period, compare, a.Bound, math,
		strings.Join(watched, " + "), while, a.TreatMissingData)
}

// TestStagesDoNotMix: an alarm watches what its own stage's functions emit, who
// call themselves what Lambda calls them.
func TestStagesDoNotMix(t *testing.T) {
	t.Parallel()

	room := fleet.Specs()[slices.IndexFunc(fleet.Specs(), func(r spec.Room) bool { return r.Name == "cricket" })]

	for name, want := range map[string]string{"dev": "dev-cricket-tick", Prod: "cricket-tick"} {
		watched := 0

		for _, a := range (Stage{Name: name}).Alarms(room) {
			metrics := a.Metrics
			if a.While != nil {
				metrics = append(slices.Clone(metrics), *a.While)
			}

			for _, m := range metrics {
				if m.Namespace != telemetry.Namespace || a.Function != "cricket/tick" {
					continue
				}

				watched++

				if got := m.Dimensions; len(got) != 1 || got[telemetry.Dimension] != want {
					t.Errorf("%s watches %s of %v, want %s", a.Name, m.Name, got, want)
				}
			}
		}

		if watched == 0 {
			t.Errorf("%s: nothing of the tick's own is watched", name)
		}
	}
}

// TestStoppedConsumerIsNoticed: of cricket, an alarm notices in less than five minutes that the
// messages of a queue are not received, and another that what changed is not pushed. CloudWatch has
// the numbers of a minute at most a minute later.
func TestStoppedConsumerIsNoticed(t *testing.T) {
	t.Parallel()

	s := Stage{Name: Prod}
	room := fleet.Specs()[slices.IndexFunc(fleet.Specs(), func(r spec.Room) bool { return r.Name == "cricket" })]
	noticed := map[string]bool{}

	for _, a := range s.Alarms(room) {
		if after := time.Duration(a.Points)*a.Period + time.Minute; after >= 5*time.Minute {
			continue
		}

		for _, m := range a.Metrics {
			if m.Name == "NumberOfMessagesReceived" {
				noticed[m.Dimensions["QueueName"]] = true
			}

			noticed[m.Name+" of "+m.Dimensions[telemetry.Dimension]+m.Dimensions[telemetry.RoomDimension]] = a.Name == "cricket-pushes-stopped-urgent"
		}
	}

	for _, f := range room.Functions {
		if on, ok := f.On.(spec.Queue); ok && !on.Unhurried && !noticed[on.Name] {
			t.Errorf("nobody notices in five minutes that %s has stopped", f.Name)
		}
	}

	for _, name := range []string{"PushesDelivered of cricket-push-activities", "ChangesQueued of cricket"} {
		if !noticed[name] {
			t.Errorf("no alarm compares %s with the other metric", name)
		}
	}
}

// TestConcurrencyIsWatchedOnce: the rooms share Lambda's concurrency, and one alarm for it.
func TestConcurrencyIsWatchedOnce(t *testing.T) {
	t.Parallel()

	n := 0

	for _, room := range fleet.Specs() {
		if room.WatchesConcurrency {
			n++
		}
	}

	if n != 1 {
		t.Errorf("%d rooms watch the concurrency that they share, want 1", n)
	}
}

// TestPrefixLists: where a room has a VPC, the prefix lists of the region are known or set.
func TestPrefixLists(t *testing.T) {
	t.Parallel()

	inside := []spec.Room{{
		Name:      "lab",
		Functions: []spec.Function{{Name: "lab/count", SQL: []spec.SQLLogin{spec.SQLDatabase{Name: "lab"}.As("app")}}},
	}}

	const missing = "lab has a VPC, so the region eu-west-1 requires -c prefixlists=S3,DYNAMODB: `aws ec2 describe-prefix-lists` lists " +
		"their ids"
	for name, c := range map[string]struct {
		rooms  []spec.Room
		change map[string]string
		want   PrefixLists
		fails  string
	}{
		"a known region": {inside, map[string]string{"region": "us-east-1"}, PrefixLists{"pl-63a5400a", "pl-02cd2c6b"}, ""},
		"a review":       {inside, map[string]string{"agnostic": "true"}, PrefixLists{"pl-63a5400a", "pl-02cd2c6b"}, ""},
		"another region": {inside, map[string]string{"region": "eu-west-1"}, PrefixLists{}, missing},
		"another, with lists": {inside, map[string]string{"region": "eu-west-1", "prefixlists": "pl-00000001,pl-00000002"},
			PrefixLists{"pl-00000001", "pl-00000002"}, ""},
		"nothing needs a list": {nil, map[string]string{"region": "eu-west-1"}, PrefixLists{}, ""},
	} {
		context := map[string]string{"stage": "dev", "account": "123456789012"}
		maps.Copy(context, c.change)
		got, err := Read(c.rooms, context, func(string) string { return "" })

		fails := ""
		if err != nil {
			fails = err.Error()
		}

		if got.PrefixLists != c.want || fails != c.fails {
			t.Errorf("%s: got %v, %q, want %v, %q", name, got.PrefixLists, fails, c.want, c.fails)
		}
	}
}
