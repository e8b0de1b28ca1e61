package templatetests

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"matchday/infra/stacks"
	"matchday/infra/stage"
	"matchday/pkg/accounts"
	"matchday/pkg/fleet"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/auth"
	"matchday/pkg/spec"
)

// prod is production with all rooms, to which that with some rooms is compared.
var prod = &deployments[0]

// assemble synthesizes an app, and returns its folder.
func assemble(t *testing.T, cfg stacks.Config) string {
	t.Helper()
	process.Lock()
	defer process.Unlock()
	flags, err := context()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	app := awscdk.NewApp(&awscdk.AppProps{
		Outdir: &dir, Context: &flags, AnalyticsReporting: jsii.Bool(false), TreeMetadata: jsii.Bool(false),
	})
	cfg.Machines = filepath.Join("..", "infra", "machines")
	if err := stacks.All(app, cfg); err != nil {
		t.Fatal(err)
	}
	app.Synth(nil)
	return dir
}

// choose synthesizes production with some rooms, and returns its templates by room; that of what
// rooms share is "shared".
func choose(t *testing.T, names, leave string) (rooms fleet.Choice, all map[string]template) {
	t.Helper()
	rooms, err := fleet.Choose(names, leave)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stage.Read(rooms.Deployed(), rooms.Own(prod.context), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	dir := assemble(t, stacks.Config{
		Stage: s, Rooms: rooms.Specs(), Left: rooms.Left,
		Dist: filepath.Join(filepath.Dir(assembly), "dist", s.Name), // of the templates with all rooms
	})
	all = map[string]template{}
	for _, room := range append([]spec.Room{{}, edge}, rooms.Deployed()...) {
		of := cmp.Or(room.Name, "shared")
		one := template{Name: s.Stack(of), Stage: s, Room: room, Rooms: rooms.Specs()}
		if err := one.read(dir, one.Name+".template.json"); err != nil {
			t.Fatal(err)
		}
		all[of] = one
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.template.json"))
	if err != nil || len(files) < len(all) {
		t.Fatalf("%d templates: %v", len(files), err)
	}
	for _, file := range files {
		stack, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(file), s.Stack("")), ".")
		if _, ok := all[stack]; !ok && !strings.Contains(file, ".nested.") {
			t.Errorf("there is a template of %s, which is not deployed", stack)
		}
	}
	return rooms, all
}

// independent returns the resources of a room's template, one a line, without what depends on which
// rooms there are: the names of those that keep data of users, and who watches the concurrency of
// the account.
func independent(tmpl template) (all []string) {
	names := regexp.MustCompile(`"` + spec.EnvKeepers + `":"[^"]*"`)
	for id, r := range tmpl.Resources {
		if r.name("AlarmName") == tmpl.Stage.Prefix()+tmpl.Room.Name+"-throttled-urgent" {
			continue
		}
		text, err := json.Marshal(r)
		if err != nil {
			panic(err) // it was decoded from JSON
		}
		all = append(all, id+" "+names.ReplaceAllString(string(text), ""))
	}
	return all
}

// TestChosenRooms: the stack of a room is the same whichever rooms are deployed. What the rooms
// share, and the accounts, are for those of the stage, also for one that is left as it is.
func TestChosenRooms(t *testing.T) {
	t.Parallel()
	for _, room := range prod.rooms {
		t.Run(room.Name+" alone", func(t *testing.T) {
			rooms, all := choose(t, room.Name, "")
			checkChosen(t, rooms, all)
			i := slices.IndexFunc(templates, func(tmpl template) bool { return tmpl.Name == all[room.Name].Name })
			if room.Name != accounts.Room().Spec.Name {
				same(t, "beside no other room", independent(all[room.Name]), independent(templates[i]))
			}
		})
	}
	t.Run("one is left", func(t *testing.T) {
		rooms, all := choose(t, prod.rooms[1].Name, prod.rooms[0].Name)
		checkChosen(t, rooms, all)
	})
}

// checkChosen checks what depends on the rooms: what they share, and the accounts, which know and
// may ask the rooms that keep data of users.
func checkChosen(t *testing.T, rooms fleet.Choice, all map[string]template) {
	t.Helper()
	checkShared(t, all["shared"], rooms)
	keepers := account.FormatKeepers(account.Keepers(rooms.Specs()))
	for _, tmpl := range all {
		checkSends(t, tmpl)
		for _, f := range tmpl.Room.Functions {
			got, _ := tmpl.function(f).at("Environment", "Variables", spec.EnvKeepers).(string)
			if want := map[bool]string{true: keepers}[f.Keepers]; got != want {
				t.Errorf("%s knows the rooms %q, want %q", f.Name, got, want)
			}
		}
	}
}

// checkShared checks what depends on the rooms in the template of what they share: the tables, the
// groups of administrators, and the outputs by which the next deployment knows the rooms.
func checkShared(t *testing.T, shared template, rooms fleet.Choice) {
	t.Helper()
	var got, want []string
	for _, r := range shared.of("AWS::Cognito::UserPoolGroup") {
		got = append(got, "group "+r.name("GroupName"))
	}
	for _, r := range shared.of("AWS::DynamoDB::GlobalTable") {
		got = append(got, "table "+r.name("TableName"))
	}
	for name, o := range shared.Outputs {
		if name == stage.RoomsOutput || name == stage.LeftOutput {
			got = append(got, "output "+name+" "+shared.plain(o.Value))
		}
	}
	for _, room := range rooms.Specs() {
		if slices.ContainsFunc(room.Functions, func(f spec.Function) bool {
			on, ok := f.On.(spec.Route)
			return ok && on.Auth == spec.Admin
		}) {
			want = append(want, "group "+auth.AdminGroup(room.Name))
		}
	}
	for _, table := range shared.tables() {
		want = append(want, "table "+shared.Stage.Prefix()+table.Name)
	}
	want = append(want, "output "+stage.RoomsOutput+" "+strings.Join(rooms.Names(), ","))
	if len(rooms.Left) > 0 {
		want = append(want, "output "+stage.LeftOutput+" "+strings.Join(rooms.Left, ","))
	}
	same(t, "what the rooms share", got, want)
}
