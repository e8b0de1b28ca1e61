package testkit_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/ses"
	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/mail"
	"matchday/pkg/spec"
)

var (
	invite = task(spec.Function{Name: "lab/invite", On: spec.Task{}, Mail: []spec.MailSender{{Setting: "LAB_FROM"}}})
	remind = task(spec.Function{Name: "lab/remind", On: spec.Task{}, Mail: []spec.MailSender{{Setting: "LAB_BELL"}}})
	paint  = task(spec.Function{Name: "lab/paint", On: spec.Task{}})
	lab    = app.NewRoom(spec.Room{Name: "lab"}, invite, remind, paint)
)

func task(fn spec.Function) app.Function { return app.Function{Function: fn} }

func open(_ context.Context, env app.Env) (mail.Sender, error) {
	return mail.Open(env.AWS, env.Setting("LAB_FROM")), nil
}

var letter = mail.Message{To: "ann@example.org", Subject: "Hello", Text: "Come."}

// failures is a test whose errors are only kept.
type failures struct {
	testing.TB
	all []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.all = append(f.all, fmt.Sprintf(format, args...))
}

// TestMail: a world has the mailboxes of its room, and counts a mail once however often it
// is tried. A mail whose answer is lost is there, too.
func TestMail(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, lab, time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC))
	mailboxes := ses.New(ses.Config{Clock: w.Clock})
	w.Mails = mailboxes
	s := testkit.Open(w, invite, open)

	mailboxes.Fail(ses.Throttled, ses.AnswerLost)

	calls := w.CountCalls(func() { testkit.Must(t, s.Send(w.NewContext(), letter)) })
	if diff := cmp.Diff(map[string]int{"SendEmail": 1}, calls); diff != "" {
		t.Errorf("the calls differ (-want +got):\n%s", diff)
	}

	var got []string
	for _, m := range mailboxes.Mailbox(letter.To) {
		got = append(got, m.From+" "+m.Text)
	}

	if diff := cmp.Diff([]string{"lab_from@example.com Come.", "lab_from@example.com Come."}, got); diff != "" {
		t.Errorf("the mailbox differs (-want +got):\n%s", diff)
	}
}

// TestMailOfOthers: a function that sends from an address that its spec does not list fails
// the test.
func TestMailOfOthers(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, lab, time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC))
	w.Mails = ses.New(ses.Config{Clock: w.Clock})

	for _, c := range []struct {
		fn   app.Function
		want []string
	}{
		{invite, nil},
		{remind, []string{"lab/remind reads the address LAB_FROM, from which its spec lists no mail",
			"lab/remind sends mail from lab_from@example.com, which its spec does not list"}},
		{paint, []string{"lab/paint reads the address LAB_FROM, from which its spec lists no mail",
			"lab/paint sends mail from lab_from@example.com, which its spec does not list"}},
	} {
		kept := &failures{TB: t}
		w.T = kept
		testkit.Must(t, testkit.Open(w, c.fn, open).Send(w.NewContext(), letter))

		w.T = t
		if diff := cmp.Diff(c.want, kept.all); diff != "" {
			t.Errorf("%s: the errors differ (-want +got):\n%s", c.fn.Name, diff)
		}
	}
}
