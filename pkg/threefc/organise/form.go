package organise

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/web"
)

// action is what a form of a page does.
type action struct {
	name  string
	least item.Role // who may do it
	done  string    // what the page says afterwards
	form  func(*Pages, context.Context, *visit, *form) error
	do    func(*Pages, context.Context, *visit, sent) (next, error)
}

// sent is a form as it was sent.
type sent struct {
	Sent
	idem.Key
	httpapi.IfMatch

	id string // what the action is about
}

// next is what follows a form.
type next struct {
	to     string // an address, "" for the page itself
	cookie string
	form   *form // to be shown, nil for none: the action is not carried out yet
}

// form is the form of an action.
type form struct {
	Action, ID, Key string
	Rev             string // of what is changed, so that nobody's change is overwritten
	Title           string
	Lines           []string
	Parts           []part
	Button          string
	URL             string
	Wrong           string
	More            []crumb // forms about the same thing
}

// part is fields of a form that belong together. Its legend is "" if the form has no other.
type part struct {
	Legend string
	Closed bool // until it is opened
	Fields []field
}

// field is a field of a form.
type field struct {
	Name, Label, Type, Value string
	Hint, Wrong              string
	Ref                      string // unique on the page
	Autocomplete             string
	Required                 bool
	Max                      int      // characters
	Options                  []option // of a choice
}

// option is a choice of a field.
type option struct{ Value, Text string }

// fields adds fields to a form.
func (f *form) fields(all ...field) { f.Parts = append(f.Parts, part{Fields: all}) }

// field returns a field by its name, nil for none.
func (f *form) field(name string) *field {
	for i := range f.Parts {
		for k := range f.Parts[i].Fields {
			if f.Parts[i].Fields[k].Name == name {
				return &f.Parts[i].Fields[k]
			}
		}
	}

	return nil
}

// keep sets the fields of a form to what was typed.
func (f *form) keep(typed Sent) {
	for i := range f.Parts {
		for k := range f.Parts[i].Fields {
			if text, ok := typed[f.Parts[i].Fields[k].Name]; ok {
				f.Parts[i].Fields[k].Value = text
			}
		}
	}
}

// Fields that several forms have.
func nameField(label, value string) field {
	return field{Name: "name", Label: label, Value: value, Required: true, Max: 40}
}

func rolesField(value item.Role) field {
	return field{Name: "role", Label: "Role", Value: string(value), Options: []option{
		{string(item.Viewer), "Viewer: sees everything"},
		{string(item.Scorekeeper), "Scorekeeper: games, players"},
		{string(item.Admin), "Administrator: changes all"},
	}}
}

// action returns an action of the page. Errors: unknown_action.
func (v *visit) action(name string) (action, error) {
	all := v.actions()

	i := slices.IndexFunc(all, func(a action) bool { return a.name == name })
	if i < 0 {
		return action{}, errAction
	}

	return all[i], nil
}

// actions returns the actions of the page.
func (v *visit) actions() []action {
	switch v.kind {
	case home:
		return homeActions()
	case ofLeague:
		return leagueActions()
	case ofSeason:
		return seasonActions()
	case ofSession:
		return sessionActions()
	}

	return gameActions()
}

// done says what an action has done, "" for no action. Some actions lead to another page than their own.
func (v *visit) done(name string) string {
	for _, all := range [][]action{homeActions(), leagueActions(), seasonActions(), sessionActions(), gameActions()} {
		if i := slices.IndexFunc(all, func(a action) bool { return a.name == name }); i >= 0 {
			return all[i].done
		}
	}

	return ""
}

// may returns an error unless the visitor may do an action.
func (v *visit) may(a action) error {
	switch {
	case v.kind == home || v.role.AtLeast(a.least):
		return nil
	case a.least == item.Admin:
		return item.ErrAdmin
	}

	return item.ErrScorekeeper
}

// ids are those that actions are about: of items, of users, of teams, and a step such as finish-2.
var ids = regexp.MustCompile("^[0-9A-Za-z-]{0,36}$")

// form returns the form of an action about id, as it is before anything is typed.
func (s *Pages) form(ctx context.Context, v *visit, a action, id string) (*form, error) {
	if err := v.may(a); err != nil {
		return nil, err
	}

	if !ids.MatchString(id) {
		return nil, web.ErrNotFound
	}

	key, _ := session.New()

	f := &form{Action: a.name, ID: id, Key: key, URL: s.Links.To() + v.path()}
	if err := a.form(s, ctx, v, f); err != nil {
		return nil, err
	}

	for i := range f.Parts {
		for k := range f.Parts[i].Fields {
			one := &f.Parts[i].Fields[k]
			one.Ref, one.Type = a.name+"-"+one.Name, cmp.Or(one.Type, "text")
		}
	}

	return f, nil
}

// inline returns the form of an action as a part of a page, nil if the visitor may not do it.
func (s *Pages) inline(ctx context.Context, v *visit, name, id string) (*form, error) {
	a, err := v.action(name)
	if err != nil || v.may(a) != nil {
		return nil, err
	}

	return s.form(ctx, v, a, id)
}

// link returns the address of the form of an action, "" if the visitor may not do it.
func (s *Pages) link(v *visit, name, id string) string {
	if a, err := v.action(name); err != nil || v.may(a) != nil {
		return ""
	}

	query := url.Values{"ask": {name}}
	if id != "" {
		query.Set("id", id)
	}

	return s.Links.To() + v.path() + "?" + query.Encode()
}

// ask shows a form alone.
func (s *Pages) ask(v *visit, status int, f *form) *web.Reply {
	above := append(v.crumbs(s.Links), crumb{v.url(s.Links, ""), v.name()})

	return s.Links.Reply(s.templates, "ask", status, web.Head{Title: f.Title, About: "Run a league of 3FC.", Style: style}, nil,
		map[string]any{"Form": f, "Crumbs": above, "Back": v.url(s.Links, "")})
}

// name is the name of the page.
func (v *visit) name() string {
	switch v.kind {
	case home:
		return "Your leagues"
	case ofLeague:
		return v.of.V().Name
	case ofSeason:
		return v.season.V().Name
	case ofSession:
		return web.DayOf(v.session.V().Date)
	}

	return "Game at " + v.clock(v.game.V().StartTs)
}

// keys are the keys of forms.
var keys = regexp.MustCompile("^[!-~]{1,64}$")

// revs are revisions.
var revs = regexp.MustCompile("^[0-9]{1,9}$")

// submit carries out a form, or shows it again with what is wrong.
func (s *Pages) submit(ctx context.Context, v *visit, typed Sent) (_ *web.Reply, err error) {
	a, err := v.action(typed["action"])
	if err != nil {
		return nil, err
	}

	if !keys.MatchString(typed["key"]) {
		return nil, errKey
	}

	if v.userID, err = s.Who(ctx, v.by); err != nil {
		return nil, err
	}

	if v.userID == "" { // the session has ended
		return s.Links.Next(s.templates, signin.To(s.Links, v.path())), nil
	}

	ctx = account.Require(ctx, v.userID)

	in := sent{Sent: typed, Key: idem.Key{IdempotencyKey: typed["key"]}, id: typed["id"]}
	if rev := typed["rev"]; revs.MatchString(rev) {
		in.IfMatch = httpapi.IfMatch{Match: `"` + rev + `"`}
	}

	if err := s.read(ctx, v); err != nil {
		return s.again(ctx, v, a, err)
	}

	if err := v.may(a); err != nil {
		return nil, err
	}

	if !ids.MatchString(in.id) {
		return nil, web.ErrNotFound
	}

	then, err := a.do(s, ctx, v, in)
	if err != nil {
		return s.refused(ctx, v, a, in, err)
	}

	if then.form != nil {
		return s.ask(v, http.StatusOK, then.form), nil
	}

	out := s.Links.Next(s.templates, cmp.Or(then.to, v.url(s.Links, a.name)))
	out.SetCookie = then.cookie

	return out, nil
}

// again answers a form about a page that is not there. A form that has deleted it, and is sent again, leads to
// the page to which the first has led.
func (s *Pages) again(ctx context.Context, v *visit, a action, err error) (*web.Reply, error) {
	if !errors.Is(err, web.ErrNotFound) || !strings.HasPrefix(a.name, "delete-") {
		return nil, err
	}

	above := &visit{place: place{ofLeague, v.league, ""}, userID: v.userID}

	switch {
	case v.kind == ofLeague && a.name == "delete-league":
		if _, denied := item.LeagueRow.Read(ctx, s.DB, v.league); !errors.Is(denied, item.ErrScope) {
			return nil, err
		}

		if _, left := s.deleteLeague(ctx, v, sent{}); left != nil && problem.Of(left) != problem.Denied {
			return nil, left
		}

		above.kind = home
	case s.read(ctx, above) != nil || above.may(a) != nil || v.season.PK != "" || v.session.PK != "" || v.game.PK != "":
		return nil, err // or it is of another league
	}

	return s.Links.Next(s.templates, above.url(s.Links, a.name)), nil
}

// wrongFields are the fields of a body that are not valid.
type wrongFields []error

func (wrongFields) Error() string { return "a field is not valid" }

// fill sets the body of a request from values by the names of its members, with the checks of the API.
func fill[T any](body *T, values map[string]any) error {
	document, err := json.Marshal(values)
	if err != nil {
		return err
	}

	v, errs := httpapi.Decode[T](document)
	if len(errs) > 0 {
		return wrongFields(errs)
	}

	*body = v

	return nil
}

// values returns the fields of a form that are not empty, by their names.
func (in sent) values(names ...string) map[string]any {
	all := map[string]any{}

	for _, name := range names {
		if v := in.Sent[name]; v != "" {
			all[name] = v
		}
	}

	return all
}

// list returns the fields of a form that are not empty, in the order of their names.
func (in sent) list(names []string) []string {
	all := []string{}

	for _, name := range names {
		if v := in.Sent[name]; v != "" {
			all = append(all, v)
		}
	}

	return all
}

// numbers adds fields of a form to values: as numbers, or as what was typed in place of a number.
func (in sent) numbers(values map[string]any, names ...string) {
	for _, name := range names {
		values[name] = in.Sent[name]
		if n, err := strconv.Atoi(in.Sent[name]); err == nil {
			values[name] = n
		}
	}
}

// statuses are those of a form that is shown again.
var statuses = map[problem.Kind]int{
	problem.Invalid: http.StatusUnprocessableEntity, problem.Unprocessable: http.StatusUnprocessableEntity,
	problem.Conflict: http.StatusConflict, problem.Limited: http.StatusTooManyRequests,
}

// refused shows a form again with what was typed, and what is wrong with it. It returns an error about which
// the visitor can do nothing on the form.
func (s *Pages) refused(ctx context.Context, v *visit, a action, in sent, err error) (*web.Reply, error) {
	wrong, invalid := errors.AsType[wrongFields](err)

	status := statuses[problem.Of(err)]
	if invalid {
		status = http.StatusUnprocessableEntity
	}

	if status == 0 {
		return nil, err
	}

	if failed := s.read(ctx, v); failed != nil { // a part of it may have been carried out
		return nil, failed
	}

	f, failed := s.form(ctx, v, a, in.id)
	if failed != nil {
		return nil, failed
	}

	f.keep(in.Sent)

	if f.Key = in.IdempotencyKey; errors.Is(err, idem.ErrConflict) {
		f.Key, _ = session.New()
		err = errSentBefore
	}

	if errors.Is(err, httpapi.ErrStale) {
		err = errChanged
	}

	if p, ok := errors.AsType[*problem.Error](err); ok {
		f.blame(p.Field, p.Text)
	}

	for _, one := range wrong {
		if detail, ok := errors.AsType[*huma.ErrorDetail](one); ok {
			f.blame(detail.Location, detail.Message)
		} else {
			f.blame("", one.Error())
		}
	}

	return s.ask(v, status, f), nil
}

var (
	errSentBefore = problem.New(problem.Conflict, "sent_before",
		"this form has been sent before with something else: send it again if you want both")
	errChanged = problem.New(problem.Conflict, "changed_meanwhile",
		"somebody has changed this meanwhile: look at it, and send the form again if you still want to")
)

// fieldsOf are the fields for members of requests that have another name.
var fieldsOf = map[string]string{
	"gameStartTs": "time", "teamIds": "team1", "absentTeamIds": absentNames[0], "resultStands": "state",
	"rules.points": "win", "rules.points.win": "win", "rules.points.draw": "draw", "rules.points.loss": "loss", "rules.order": rank(0),
}

// blame says what is wrong at the field of a member of a request, such as body.name, or of the form.
func (f *form) blame(location, text string) {
	text = strings.ToUpper(text[:1]) + text[1:] + "."
	name, _, _ := strings.Cut(strings.TrimPrefix(location, "body."), "[")

	if at := f.field(cmp.Or(fieldsOf[name], name)); at != nil && at.Wrong == "" {
		at.Wrong = text
		return
	}

	f.Wrong = text
}

// signOut signs the visitor out.
func (s *Pages) signOut(ctx context.Context, v *visit, _ sent) (next, error) {
	out, err := s.account.End(ctx, &signin.End{Browser: v.by})
	if err != nil {
		return next{}, err
	}

	return next{to: s.Links.To("sign-in"), cookie: out.SetCookie}, nil
}
