package userdata_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/account"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/pickem/userdata"
)

// TestNothingOfAUserStays: the export has every item of the member and every phone, and
// after the deletion nothing names the member.
func TestNothingOfAUserStays(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewBusy(t)
	w.RequestJoin("ann", "WRONG")
	w.WithAPNs()

	show := notice.Notice{
		ID:      "show#day",
		Title:   "Clash",
		Body:    "Pick!",
		EventID: pickemtest.Show,
		Until:   pickemtest.ShowLockAt,
		UserIDs: []string{"ann", "bob"},
	}
	testkit.Must(t, testkit.Open(w.World, notice.SendNoticesFunction(), notice.OpenNotifier).SendNotices(w.NewContext(), show))
	others := pickemtest.LinesWith(w.Dump(), "cat")

	var want []string

	for _, row := range testkit.Rows[map[string]any](w.World, tables.Pickem) {
		mirror := row["SK"] == "MEMBER#ann" // of a membership, which is exported
		if !mirror && (row["PK"] == item.UserRef("ann") || row["belongsto"] == item.UserRef("ann") || row["userId"] == "ann") {
			want = append(want, fmt.Sprint(row["SK"]))
		}
	}

	in := account.Request{Job: "j1", UserID: "ann"}
	testkit.Must(t, testkit.Open(w.World, userdata.ExportUserFunction(), userdata.Open).ExportUser(w.NewContext(), in))

	text := w.Export("j1")
	for _, sk := range want {
		if n, m := strings.Count(text, `"SK": "`+sk+`"`), count(want, sk); n != m {
			t.Errorf("%q is %d times in the export, want %d: %s", sk, n, m, text)
		}
	}

	if !strings.Contains(text, `"seenAt"`) || strings.Contains(text, `"SeenAt"`) {
		t.Errorf("the export names the attributes of phones otherwise than the table: %s", text)
	}

	if len(want) < 11 {
		t.Errorf("ann has only the items %q", want)
	}

	for range 2 {
		testkit.Must(t, testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(w.NewContext(), in))
	}

	if got := pickemtest.LinesWith(w.Dump(), "ann"); len(got) > 0 {
		t.Errorf("rows that name ann: %q", got)
	}

	if diff := cmp.Diff(others, pickemtest.LinesWith(w.Dump(), "cat")); diff != "" {
		t.Errorf("rows of cat (-before +after):\n%s", diff)
	}

	done := account.Done{Kind: account.Forget, Room: "pickem", Request: in}
	if got := testkit.Messages[account.Done](w.World, account.DoneQueue); !slices.Equal(got,
		[]account.Done{{Kind: account.Export, Room: "pickem", Request: in}, done, done}) {
		t.Errorf("the confirmations are %v", got)
	}
}

// TestNobodyIsForgotten: a user who is no member is confirmed, too.
func TestNobodyIsForgotten(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	in := account.Request{Job: "j1", UserID: "fan"}
	testkit.Must(t, testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(w.NewContext(), in))
	testkit.Must(t, testkit.Open(w.World, userdata.ExportUserFunction(), userdata.Open).ExportUser(w.NewContext(), in))

	if got := testkit.Messages[account.Done](w.World, account.DoneQueue); len(got) != 2 || len(w.Dump()) != 0 {
		t.Errorf("confirmations %v, rows %q; want 2 and none", got, w.Dump())
	}
}

// TestExportReportsAFailedCall: an export is confirmed only if all of it is written.
func TestExportReportsAFailedCall(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")

	in := account.Request{Job: "j1", UserID: "ann"}

	dynamotest.CheckFailures(t, &w.IO, func() error {
		return testkit.Open(w.World, userdata.ExportUserFunction(), userdata.Open).ExportUser(w.NewContext(), in)
	})

	if got, want := testkit.Messages[account.Done](w.World, account.DoneQueue),
		[]account.Done{{Kind: account.Export, Room: "pickem", Request: in}}; !slices.Equal(got, want) {
		t.Errorf("the confirmations (-want +got):\n%s", cmp.Diff(want, got))
	}
}

func TestForgetUserCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := pickemtest.NewBusy(t)
		in := account.Request{Job: "j1", UserID: "ann"}
		p.Ended(testkit.OpenWith(w.World, w.CrashingEnv(userdata.ForgetUserFunction(), p), userdata.Open).ForgetUser(w.NewContext(), in))
		testkit.Must(t, testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(w.NewContext(), in))

		if len(testkit.Messages[account.Done](w.World, account.DoneQueue)) == 0 {
			t.Error("the deletion was not confirmed")
		}

		return w.Dump()
	})
}

// count returns how often a value is in a list.
func count(all []string, value string) (n int) {
	for _, v := range all {
		if v == value {
			n++
		}
	}

	return n
}
