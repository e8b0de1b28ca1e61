// Package stage describes one deployment of the fleet: its settings, the names of its
// resources, and its alarms. It does not import the CDK, so that the tools that write
// documents can use it, too.
package stage

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"matchday/pkg/spec"
)

// Prod is the stage whose tables are named exactly as the spec names them.
const Prod = "prod"

// Stage is the settings of a deployment.
type Stage struct {
	Name            string
	Account, Region string                 // "" for templates without an account
	Arch            string                 // "arm64" or "x86_64"
	CDN             bool                   // CloudFront and a firewall in front of the APIs
	CDNKey          int                    // number of the key with which CloudFront authenticates itself to the APIs
	SAM             bool                   // templates for SAM CLI, whose functions call services on this machine
	Programs        bool                   // the functions have their programs; otherwise a stand-in, which CloudFormation refuses to deploy
	Insights        bool                   // DynamoDB reports the keys that it throttles
	Triggers        bool                   // the user pool calls the function with the trigger UserConfirmed
	Domain          string                 // custom domain of the APIs, "" for none
	Certificate     string                 // ARN of the domain's certificate
	Mail            string                 // the e-mail address that gets alarms, "" for none
	Pager           string                 // the e-mail address that gets urgent alarms in its place, "" for none
	SES             string                 // the address from which the user pools send mail by SES, "" for Cognito's own mail
	Identity        string                 // the domain that the stage verifies in SES, "" for none
	SignUp          bool                   // anyone may sign up; otherwise administrators invite
	Rate, Burst     int                    // requests per second and at once that an API takes
	Reads, Writes   int                    // DynamoDB's maximum of units per second, of each table and index
	Warm            map[string]Warm        // by table
	Canary          int                    // percent of the calls that a new version of a function gets first; 0 for no versions
	Budget          int                    // dollars of the account's month after which Mail is notified, 0 for none
	Origins         []string               // the web origins that may call the APIs
	Callbacks       []string               // the URLs to which a sign-in may redirect
	Apps            []string               // those to which the sign-in of a room's native app may redirect, none without such an app
	Commit          string                 // of the source that is deployed, "" if unknown
	PrefixLists     PrefixLists            // of the region
	Restart         string                 // a new value restarts the functions that hold secrets
	Zones           []string               // the two availability zones of a VPC, nil for the first of the region
	Reader          bool                   // a database has a second instance, to which it fails over
	RestoredSQL     map[string]RestoredSQL // the databases that were restored as another cluster, by their names
	Restored        string                 // the tables that were restored under another name: see spec.ParseRestored
	Settings        map[string]string      // environment variables of the functions
}

var (
	names        = regexp.MustCompile(`^[a-z][a-z0-9]{1,11}$`)
	accounts     = regexp.MustCompile(`^[0-9]{12}$`)
	regions      = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]$`)
	domains      = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+([a-z]{2,}|xn--[a-z0-9-]*[a-z0-9])$`)
	numbers      = regexp.MustCompile(`^[1-9][0-9]{0,3}$`)
	certificates = regexp.MustCompile(`^arn:aws[a-z-]*:acm:([a-z0-9-]+):[0-9]{12}:certificate/[0-9a-f-]+$`)
)

// PrefixLists are the ids of a region's prefix lists, which AWS manages: the addresses of the
// services that a VPC reaches through a gateway.
type PrefixLists struct{ S3, DynamoDB string }

// prefixLists are those of the regions that need no setting.
var prefixLists = map[string]PrefixLists{
	"us-east-1": {"pl-63a5400a", "pl-02cd2c6b"},
}

var lists = regexp.MustCompile(`^(pl-[0-9a-f]{8,17}),(pl-[0-9a-f]{8,17})$`)

// readPrefixLists returns the prefix lists of the setting or of the region. The error is for a
// region whose lists are not known, if a room needs them.
func (s Stage) readPrefixLists(rooms []spec.Room, value string, agnostic bool) (PrefixLists, error) {
	if m := lists.FindStringSubmatch(value); m != nil {
		return PrefixLists{m[1], m[2]}, nil
	}

	if value != "" {
		return PrefixLists{}, fmt.Errorf("invalid prefixlists=%q: must be the ids of the prefix lists of S3 and DynamoDB, like "+
			"pl-63a5400a,pl-02cd2c6b", value)
	}

	if known, ok := prefixLists[s.Region]; ok || agnostic {
		return cmp.Or(known, prefixLists[edgeRegion]), nil
	}

	for _, room := range rooms {
		if slices.ContainsFunc(room.Functions, spec.Function.InVPC) {
			return PrefixLists{}, fmt.Errorf("%s has a VPC, so the region %s requires -c prefixlists=S3,DYNAMODB: `aws ec2 "+
				"describe-prefix-lists` lists their ids", room.Name, s.Region)
		}
	}

	return PrefixLists{}, nil
}

// prodCanary is the percentage of calls that a new version gets first in production, unless
// canary= is set.
const prodCanary = 10

// readCanary returns the percentage of calls that a new version gets first, 0 for no versions.
func readCanary(stage, value string) (int, error) {
	switch {
	case value == "" && stage == Prod:
		return prodCanary, nil
	case value == "":
		return 0, nil
	}

	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > 100 {
		return 0, fmt.Errorf("invalid canary=%s: must be a percentage from 1 to 100, or 0 for no versions", value)
	}

	return n, nil
}

var zones = regexp.MustCompile(`^([a-z]{2}(?:-[a-z]+)+-[0-9])[a-z],([a-z]{2}(?:-[a-z]+)+-[0-9])[a-z]$`)

// readZones returns the two availability zones of the setting.
func (s Stage) readZones(value string, agnostic bool) ([]string, error) {
	if value == "" {
		return nil, nil
	}

	m, two := zones.FindStringSubmatch(value), list(value)
	if m == nil || len(two) != 2 || !agnostic && (m[1] != s.Region || m[2] != s.Region) {
		return nil, fmt.Errorf("invalid zones=%q: must be two availability zones of the region, like us-east-1a,us-east-1c", value)
	}

	return two, nil
}

// RestoredSQL is the cluster that the functions use in place of that of the stack.
type RestoredSQL struct{ Address, ResourceID string }

// Cluster returns the identifier of the cluster.
func (r RestoredSQL) Cluster() string {
	cluster, _, _ := strings.Cut(r.Address, ".")
	return cluster
}

// restoredSQL has the name of a database in the spec, and the address and the resource id of a
// cluster.
var restoredSQL = regexp.MustCompile(`^([a-z0-9-]+):([a-z0-9-]+\.cluster-[a-z0-9]+\.[a-z0-9-]+\.rds\.amazonaws\.com(?:\.cn)?):` +
	`(cluster-[A-Z0-9]+)$`)

// readRestoredSQL returns the databases of the setting. The error is for one that no room has.
func readRestoredSQL(rooms []spec.Room, value string) (map[string]RestoredSQL, error) {
	all := map[string]RestoredSQL{}

	for _, one := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' }) {
		m := restoredSQL.FindStringSubmatch(one)
		if m == nil {
			return nil, fmt.Errorf("invalid restoredsql=%q: must be like "+
				"name:name-r1.cluster-a1b2c3.us-east-1.rds.amazonaws.com:cluster-A1B2C3", one)
		}

		if !slices.ContainsFunc(rooms, func(r spec.Room) bool {
			return slices.ContainsFunc(r.Databases(), func(d spec.SQLDatabase) bool { return d.Name == m[1] })
		}) {
			return nil, fmt.Errorf("invalid restoredsql=%q: no room has the database %s", one, m[1])
		}

		all[m[1]] = RestoredSQL{m[2], m[3]}
	}

	return all, nil
}

// edgeRegion is the region in which AWS requires the firewall and the certificate of a
// CloudFront distribution.
const edgeRegion = "us-east-1"

// Read reads a stage from the context of the CDK: -c key=value, and what the CDK adds
// for itself. An account or region that the context lacks comes from the environment
// that the CDK's CLI sets. The error describes in one sentence what to
// change. The context agnostic=true requests templates without an account, for review
// and tests. They do not need the settings that only a running fleet needs. With
// agnostic=true, sam=true requests the templates that SAM CLI can run: see Overridable; and
// programs=false requests templates for checks, for which no function is built.
//
// rooms are those that are deployed: the caller has read the context rooms= and leave=.
func Read(rooms []spec.Room, context map[string]string, getenv func(string) string) (s Stage, err error) {
	if err := known(rooms, context); err != nil {
		return Stage{}, err
	}

	s = Stage{
		Name:        context["stage"],
		Arch:        cmp.Or(context["arch"], "arm64"),
		Domain:      context["domain"],
		Certificate: context["certificate"],
		Mail:        context["mail"],
		Pager:       context["pager"],
		SES:         context["ses"],
		Identity:    context["identity"],
		Commit:      context["commit"],
		Restart:     context["restart"],
		Restored:    context["restored"],
		Origins:     list(cmp.Or(context["origins"], "*")),
		Callbacks:   list(cmp.Or(context["callbacks"], "matchday://signed-in")),
	}
	if context["apps"] != "" {
		s.Apps = list(context["apps"])
	}

	agnostic, err := flag("agnostic", false, context)
	if err != nil {
		return Stage{}, err
	}

	if !agnostic {
		s.Account = cmp.Or(context["account"], getenv("CDK_DEFAULT_ACCOUNT"))
		s.Region = cmp.Or(context["region"], getenv("CDK_DEFAULT_REGION"))
	}

	if s.CDN, err = flag("cdn", false, context); err != nil {
		return Stage{}, err
	}

	if s.SAM, err = flag("sam", false, context); err != nil {
		return Stage{}, err
	}

	if s.Programs, err = flag("programs", true, context); err != nil {
		return Stage{}, err
	}

	s.CDN = s.CDN && !s.SAM // SAM CLI runs the API, and nothing in front of it

	if key := cmp.Or(context["cdnkey"], "1"); !numbers.MatchString(key) {
		return Stage{}, fmt.Errorf("invalid cdnkey=%q: must be a number, for a new key one more than that of the last deployment", key)
	} else {
		s.CDNKey, _ = strconv.Atoi(key)
	}

	if s.SignUp, err = flag("signup", true, context); err != nil {
		return Stage{}, err
	}

	for _, n := range []struct {
		into  *int
		key   string
		unset int
	}{
		{&s.Rate, "rate", 500}, {&s.Burst, "burst", 1000}, {&s.Budget, "budget", 0},
		{&s.Reads, "reads", 12_000}, {&s.Writes, "writes", 4_000}, // what a new table is ready for
	} {
		if *n.into, err = whole(n.key, n.unset, context); err != nil {
			return Stage{}, err
		}
	}

	if s.Warm, err = s.readWarm(rooms, context["warm"]); err != nil {
		return Stage{}, err
	}

	if s.Canary, err = readCanary(s.Name, context["canary"]); err != nil {
		return Stage{}, err
	}

	if s.Reader, err = flag("reader", false, context); err != nil {
		return Stage{}, err
	}

	if s.Zones, err = s.readZones(context["zones"], agnostic); err != nil {
		return Stage{}, err
	}

	if s.RestoredSQL, err = readRestoredSQL(rooms, context["restoredsql"]); err != nil {
		return Stage{}, err
	}

	if s.SAM {
		s.Canary = 0
	}

	if s.Insights, err = flag("insights", false, context); err != nil {
		return Stage{}, err
	}

	if s.Triggers, err = flag("triggers", true, context); err != nil {
		return Stage{}, err
	}

	if err := s.check(agnostic); err != nil {
		return Stage{}, err
	}

	if s.PrefixLists, err = s.readPrefixLists(rooms, context["prefixlists"], agnostic); err != nil {
		return Stage{}, err
	}

	if err := s.checkRestored(rooms); err != nil {
		return Stage{}, err
	}

	if err := s.checkBrowsers(rooms, agnostic); err != nil {
		return Stage{}, err
	}

	s.Settings, err = settings(rooms, s.Name, agnostic, context)

	return s, err
}

// known returns an error for a key that nothing reads, because it is probably misspelt.
// The CDK's own keys contain one of the characters :@/, which ours do not; the two
// exceptions are listed.
func known(rooms []spec.Room, context map[string]string) error {
	keys := []string{
		"stage", "rooms", "leave", "account", "region", "arch", "agnostic", "sam", "programs", "cdn", "cdnkey", "domain", "certificate",
		"mail", "pager", "origins",
		"callbacks", "apps", "triggers", "insights",
		"ses", "identity", "signup", "rate", "burst", "reads", "writes", "warm", "budget", "commit", "restart", "restored",
		"restoredsql", "canary", "prefixlists", "zones", "reader",
	}

	for _, room := range rooms {
		for _, setting := range room.Settings {
			if !slices.Contains(keys, setting.Name) {
				keys = append(keys, setting.Name)
			}
		}
	}

	own := append([]string{"cli-telemetry", "acknowledged-issue-numbers"}, keys...)
	for _, key := range slices.Sorted(maps.Keys(context)) {
		if !slices.Contains(own, key) && !strings.ContainsAny(key, ":@/") {
			return fmt.Errorf("unknown setting %s; valid settings: %s", key, strings.Join(keys, ", "))
		}
	}

	return nil
}

func (s Stage) check(agnostic bool) error {
	certificate := certificates.FindStringSubmatch(s.Certificate)
	switch {
	case s.Name == "":
		return errors.New("no stage: add -c stage=dev")
	case !names.MatchString(s.Name):
		return fmt.Errorf("invalid stage %q: must be 2 to 12 lower-case letters and digits, beginning with a letter", s.Name)
	case s.Name == spec.Local:
		return errors.New("the stage local is not deployed: `make run` starts it on this machine")
	case strings.Contains(s.Name, "aws") || strings.Contains(s.Name, "amazon") || strings.Contains(s.Name, "cognito"):
		return fmt.Errorf("invalid stage %q: Cognito rejects domains whose names contain aws, amazon or cognito", s.Name)
	case s.Arch != "arm64" && s.Arch != "x86_64":
		return fmt.Errorf("unknown architecture %q: use -c arch=arm64 or -c arch=x86_64", s.Arch)
	case !agnostic && s.Account == "":
		return errors.New("no AWS account: sign in, or add -c account=123456789012")
	case !agnostic && !accounts.MatchString(s.Account):
		return fmt.Errorf("invalid account %q: must be 12 digits", s.Account)
	case !agnostic && s.Region == "":
		return errors.New("no AWS region: set AWS_REGION, or add -c region=us-east-1")
	case !agnostic && !regions.MatchString(s.Region):
		return fmt.Errorf("invalid region %q: must be like us-east-1", s.Region)
	case s.SAM && !agnostic:
		return errors.New("sam=true requires -c agnostic=true")
	case !s.Programs && !agnostic:
		return errors.New("programs=false is for templates to check, not for a deployment: it requires -c agnostic=true")
	case s.CDN && !agnostic && s.Region != edgeRegion:
		return fmt.Errorf("cdn=true requires the region %s, where AWS keeps the firewall of a distribution, not %s", edgeRegion, s.Region)
	case s.Domain != "" && !domains.MatchString(s.Domain):
		return fmt.Errorf("invalid domain %q: must be like api.example.com", s.Domain)
	case s.Identity != "" && !domains.MatchString(s.Identity):
		return fmt.Errorf("invalid domain identity=%q: must be like example.com", s.Identity)
	case (s.Domain == "") != (s.Certificate == ""):
		return errors.New("a domain and its certificate are required together: -c domain=api.example.com -c certificate=arn:aws:acm:…")
	case s.Certificate != "" && certificate == nil:
		return fmt.Errorf("invalid certificate %q: must be the ARN of a certificate in ACM", s.Certificate)
	case s.Certificate != "" && s.CDN && certificate[1] != edgeRegion:
		return fmt.Errorf("the certificate is in the region %s; the domain of a distribution requires one in %s", certificate[1], edgeRegion)
	case s.Certificate != "" && !agnostic && certificate[1] != s.Region:
		return fmt.Errorf("the certificate is in the region %s; the domain requires one in %s", certificate[1], s.Region)
	}

	switch {
	case s.Name == Prod && !agnostic && s.Mail == "":
		return errors.New("production requires an address that gets its alarms: -c mail=ops@example.com")
	case s.Pager != "" && s.Mail == "":
		return errors.New("pager= gets the urgent alarms, and the others need an address, too: -c mail=ops@example.com")
	case s.Budget > 0 && s.Mail == "":
		return errors.New("a budget requires an address that is notified: -c mail=ops@example.com")
	}

	if a, err := mail.ParseAddress(s.SES); s.SES != "" && (err != nil || a.Address != s.SES) {
		return fmt.Errorf("invalid address ses=%q: must be like hello@example.com, of a domain that is verified in SES", s.SES)
	}

	if a, err := mail.ParseAddress(s.Pager); s.Pager != "" && (err != nil || a.Address != s.Pager) {
		return fmt.Errorf("invalid mail address pager=%q: must be like pager@example.com", s.Pager)
	}

	if a, err := mail.ParseAddress(s.Mail); s.Mail != "" && (err != nil || a.Address != s.Mail) {
		return fmt.Errorf("invalid mail address %q: must be like ops@example.com", s.Mail)
	}

	for _, origin := range s.Origins {
		if u, err := url.Parse(origin); origin != "*" && (err != nil || !web(u) || u.Scheme+"://"+u.Host != origin) {
			return fmt.Errorf("invalid origin %q: must be like https://app.example.com", origin)
		} else if sent := serialize(u); sent != origin && origin != "*" {
			return fmt.Errorf("invalid origin %q: must be as browsers send it, %s", origin, sent)
		}
	}

	for _, callback := range s.Callbacks {
		if u, err := url.Parse(callback); err != nil || u.Scheme == "" || u.Fragment != "" || strings.HasPrefix(u.Scheme, "http") && !web(u) {
			return fmt.Errorf("invalid callback %q: must be like https://app.example.com/signed-in or matchday://signed-in", callback)
		}
	}

	for _, callback := range s.Apps {
		if !claimed(callback) {
			return fmt.Errorf("invalid app address %q: must be one that the app claims, like https://app.example.com/signed-in, or of a "+
				"private scheme, like com.example.app:/signed-in", callback)
		}
	}

	return nil
}

// claimed reports whether only one app can be meant by an address: it is the app's own by https, or its scheme
// is the reverse of a domain (RFC 8252, 7.1 and 7.2).
func claimed(callback string) bool {
	u, err := url.Parse(callback)
	if err != nil || u.Fragment != "" || u.User != nil {
		return false
	}

	if u.Scheme == "https" {
		return u.Host != "" && u.Path != ""
	}

	return strings.Contains(u.Scheme, ".") && u.Path != ""
}

// checkBrowsers returns an error if a room that signs browsers in does not know the addresses of
// its page and of its API, or if these are of two sites.
func (s Stage) checkBrowsers(rooms []spec.Room, agnostic bool) error {
	for _, room := range rooms {
		switch {
		case !room.ServesBrowsers():
			continue
		case !agnostic && slices.Contains(s.Origins, "*"):
			return fmt.Errorf("%s sends browsers to its page, the first origin: -c origins=https://app.example.com", room.Name)
		case s.Domain == "" && (s.CDN || !agnostic):
			return fmt.Errorf("%s signs browsers in by a cookie, which they send only to the site of its page, so it requires a domain of "+
				"that site: -c domain=api.example.com -c certificate=arn:aws:acm:…", room.Name)
		case agnostic:
			continue
		}

		if err := s.checkSites(room); err != nil {
			return err
		}
	}

	return nil
}

// checkSites returns an error unless all origins are of the site of the domain. A page of another
// site cannot keep its users signed in to a room: the cookies of pkg/kit/session are SameSite=Lax,
// which browsers do not send with a fetch across sites.
func (s Stage) checkSites(room spec.Room) error {
	site, err := publicsuffix.EffectiveTLDPlusOne(s.Domain)
	if err != nil {
		return fmt.Errorf("invalid domain %q: must be below a public suffix, like api.example.com", s.Domain)
	}

	for _, origin := range s.Origins {
		u, err := url.Parse(origin)
		if err != nil {
			return err // check has parsed it
		}

		if u.Hostname() == "localhost" {
			return fmt.Errorf("%s signs browsers in by a cookie, which a page of %s does not send to %s, another site: remove the origin, and "+
				"develop the page with the APIs of `make run`", room.Name, origin, s.Domain)
		}

		switch other, err := publicsuffix.EffectiveTLDPlusOne(u.Hostname()); {
		case err != nil:
			return fmt.Errorf("invalid origin %q: its host must be below a public suffix, like app.example.com", origin)
		case other != site:
			return fmt.Errorf("%s signs browsers in by a cookie, which a page of %s does not send to %s, another site: the domain and all "+
				"origins must be of one, like -c domain=api.example.com -c origins=https://app.example.com", room.Name, origin, s.Domain)
		}
	}

	return nil
}

// checkRestored returns an error if a restored table is not a table of the rooms.
func (s Stage) checkRestored(rooms []spec.Room) error {
	names, err := spec.ParseRestored(s.Restored)
	if err != nil {
		return fmt.Errorf("invalid restored=%q: %w", s.Restored, err)
	}

	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.ContainsFunc(rooms, func(r spec.Room) bool {
			return slices.ContainsFunc(r.Tables(), func(t spec.Table) bool { return t.Name == name })
		}) {
			return fmt.Errorf("invalid restored=%q: no room has the table %s", s.Restored, name)
		}
	}

	return nil
}

// web reports whether u is an HTTPS address or an address of the developer's own
// machine.
func web(u *url.URL) bool {
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && u.Hostname() == "localhost")
}

// serialize returns the origin of an address as browsers send it: the host in lower case and in
// ASCII, without the scheme's own port.
// https://html.spec.whatwg.org/multipage/browsers.html#ascii-serialisation-of-an-origin
func serialize(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if ascii, err := idna.Lookup.ToASCII(u.Hostname()); err == nil {
		host = strings.Replace(host, strings.ToLower(u.Hostname()), ascii, 1)
	}

	return u.Scheme + "://" + strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
}

// settings returns the values of the rooms' settings.
func settings(rooms []spec.Room, stage string, agnostic bool, context map[string]string) (map[string]string, error) {
	values := map[string]string{}

	for _, room := range rooms {
		for _, setting := range room.Settings {
			value := context[setting.Name]
			if value == "" && stage != Prod {
				value = setting.Trial
			}

			switch like, err := regexp.Compile("^(" + setting.Like + ")$"); {
			case err != nil:
				return nil, fmt.Errorf("the spec of the setting %s: %w", setting.Name, err)
			case value == "" && setting.Required && !agnostic:
				return nil, fmt.Errorf("the setting %s is missing, %s: -c %s=…", setting.Name, setting.Does, setting.Name)
			case value != "" && !like.MatchString(value):
				return nil, fmt.Errorf("invalid setting %s, %s: %q is not like %s", setting.Name, setting.Does, value, setting.Like)
			case value != "":
				values[setting.Name] = value
			}
		}
	}

	return values, nil
}

// Overridable returns the environment variables in which SAM CLI passes the addresses
// of the services on this machine and, in place of Secrets Manager, the secrets. SAM
// CLI sets only variables that a template declares.
func Overridable(room spec.Room, f spec.Function) []string {
	names := []string{spec.EnvStage, spec.EnvPrefix, spec.EnvQueues, "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SQS"}
	if len(f.Users) > 0 {
		names = append(names, spec.EnvUserPool, "AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER")
	}

	if room.KnowsPages(f) {
		names = append(names, spec.EnvOrigins, spec.EnvAPI)
	}

	if f.SignIn {
		names = append(names, spec.EnvIssuer, spec.EnvSignIn, spec.EnvClient)
	}

	if room.TakesTokens(f) {
		names = append(names, spec.EnvNative)
		if !f.SignIn {
			names = append(names, spec.EnvIssuer, spec.EnvSignIn)
		}
	}

	names = append(names, f.Secrets...)
	for _, l := range f.SQL {
		names = append(names, l.Database.Env())
	}

	for _, l := range f.Caches {
		names = append(names, l.Env())
	}

	if len(f.Objects) > 0 {
		names = append(names, "AWS_ENDPOINT_URL_S3")
	}

	for _, a := range f.Objects {
		if !slices.Contains(names, a.Env()) {
			names = append(names, a.Env())
		}
	}

	if len(f.Mail) > 0 {
		names = append(names, "AWS_ENDPOINT_URL_SESV2")
	}

	for _, s := range room.Settings {
		if s.Of(f) {
			names = append(names, s.Name)
		}
	}

	return names
}

func flag(key string, unset bool, context map[string]string) (bool, error) {
	switch v := context[key]; v {
	case "":
		return unset, nil
	case "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, fmt.Errorf("invalid %s=%q: must be true or false", key, v)
	}
}

func whole(key string, unset int, context map[string]string) (int, error) {
	v := context[key]
	if v == "" {
		return unset, nil
	}

	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > 1_000_000 {
		return 0, fmt.Errorf("invalid %s=%q: must be a whole number from 1 to 1000000", key, v)
	}

	return n, nil
}

func list(text string) []string {
	all := strings.Split(text, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}

	return slices.Compact(all)
}

// Prefix returns the prefix of the names of tables and queues.
func (s Stage) Prefix() string {
	if s.Name == Prod {
		return ""
	}

	return s.Name + "-"
}

// Table returns the name of the table that the functions use: that of the stack, or the
// one that was restored under another name.
func (s Stage) Table(name string) string {
	names, _ := spec.ParseRestored(s.Restored) // never fails: Read has checked it
	return spec.TableIn(s.Prefix(), cmp.Or(names[name], name))
}

// Stack names the stack of a room, or the one they share.
func (s Stage) Stack(of string) string { return "matchday-" + s.Name + "-" + of }

// Function returns the name of a function in Lambda.
func (s Stage) Function(f spec.Function) string {
	return s.Prefix() + strings.ReplaceAll(f.Name, "/", "-")
}

// Failing returns the name of a room's alarm for failed invocations.
func (s Stage) Failing(room string) string { return s.Prefix() + room + "-failing-" + string(Urgent) }

// Live is the alias of the version of a function that is called.
const Live = "live"

// Aliased reports whether a function of a room is called by the alias Live. A person, a
// deployment and the user pool call a function without an alias, and so its latest code.
func (s Stage) Aliased(room spec.Room, f spec.Function) bool {
	switch f.On.(type) {
	case spec.Route, spec.Queue, spec.DeadLetters, spec.Schedule:
		return s.Canary > 0
	}

	return s.Canary > 0 && slices.ContainsFunc(room.Machines, func(m spec.Machine) bool {
		return slices.Contains(slices.Collect(maps.Values(m.Calls)), f.Name)
	})
}

// LogGroup returns the log group of a room's functions.
func (s Stage) LogGroup(room string) string { return "/aws/lambda/" + s.Prefix() + room }

// DeadLetter returns the name of the queue for events that a function cannot handle. It is
// "" if there is none: the caller gets the error, or the function runs again in a minute
// and does what is left to do.
func (s Stage) DeadLetter(f spec.Function) string {
	switch on := f.On.(type) {
	case spec.Queue:
		return s.Prefix() + on.DeadLetter()
	case spec.Schedule:
		if !everyMinute(on) {
			room, _, _ := strings.Cut(f.Name, "/")
			return s.JobsDead(room)
		}
	}

	return ""
}

// JobsDead returns the name of the queue for the jobs of a room that failed at every attempt or
// could not be started, except jobs of every minute.
func (s Stage) JobsDead(room string) string { return s.Prefix() + room + "-jobs-dead" }

// HasJobs reports whether a room has jobs that can fail for good.
func (s Stage) HasJobs(room spec.Room) bool {
	return slices.ContainsFunc(room.Functions, func(f spec.Function) bool {
		on, ok := f.On.(spec.Schedule)
		return ok && !everyMinute(on)
	}) || slices.ContainsFunc(room.Machines, func(m spec.Machine) bool { return !everyMinute(m.Every) })
}

// Machine returns the name of a state machine.
func (s Stage) Machine(m spec.Machine) string { return s.Prefix() + m.Name }

// MachineLogs is where a state machine logs. CloudWatch delivers to names that
// begin like this without a resource policy for each.
func (s Stage) MachineLogs(m spec.Machine) string { return "/aws/vendedlogs/states/" + s.Machine(m) }

// MachineDead returns the name of the queue for starts of a state machine that failed, ""
// if it starts again in a minute.
func (s Stage) MachineDead(room string, m spec.Machine) string {
	if everyMinute(m.Every) {
		return ""
	}

	return s.JobsDead(room)
}

// API names a room's API.
func (s Stage) API(room string) string { return s.Prefix() + room + "-api" }

// APILogs is where a room's API logs its requests.
func (s Stage) APILogs(room string) string { return "/aws/vendedlogs/apis/" + s.API(room) }

// Secrets is what the names of a room's secrets begin with.
func (s Stage) Secrets(room string) string { return s.Name + "/" + room + "/" }

// APIStage names the stage of a room's API. The paths of one called $default have no
// prefix; the prefix of another is its name.
func (s Stage) APIStage(room string) string {
	if s.CDN {
		return room
	}

	return "$default"
}

// CDNKeys returns the names of the secrets whose values CloudFront sends to the APIs: the
// current one, and the previous one, which the APIs accept until the next change.
func (s Stage) CDNKeys() []string {
	names := []string{s.Secrets("cdn") + "key" + strconv.Itoa(s.CDNKey)}
	if s.CDNKey > 1 {
		names = append(names, s.Secrets("cdn")+"key"+strconv.Itoa(s.CDNKey-1))
	}

	return names
}

// APIParameter returns the name of the parameter with the id of a room's API.
func APIParameter(room string) string { return "api/" + room }

// Dashboard names the dashboard of all rooms in a region. The regions of an account share
// their dashboards.
func (s Stage) Dashboard(region string) string { return "matchday-" + s.Name + "-" + region }

// Topic returns the name of the topic of the stage's alarms of a severity.
func (s Stage) Topic(of Severity) string { return s.Stack("alarms-" + string(of)) }

// Address returns the e-mail address that gets the alarms of a severity, "" for none.
func (s Stage) Address(of Severity) string {
	if of == Urgent {
		return cmp.Or(s.Pager, s.Mail)
	}

	return s.Mail
}

// Parameter names a value in the SSM parameter store that stacks share.
func (s Stage) Parameter(name string) string { return "/matchday/" + s.Name + "/" + name }

// The outputs of the shared stack with the names of the rooms of the stage, separated by commas:
// of those that a deployment updates, and of those whose stacks stay as they are.
const (
	RoomsOutput = "Rooms"
	LeftOutput  = "Left"
)

// The parameters that the shared stack publishes for the rooms.
const (
	JWTIssuer   = "jwt-issuer"
	JWTAudience = "jwt-audience"
	UserPool    = "user-pool" // its id
	SignInURL   = "sign-in"   // of the page of users

	AdminIssuer   = "admin-issuer" // of the user pool of administrators
	AdminAudience = "admin-audience"
)
