package member_test

import (
	"testing"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/account"
	"matchday/pkg/pickem/member"
)

// TestInvitationAdoptsNoUnconfirmedAccount: somebody who signs up with the address of
// somebody else is not made a member in that person's place.
func TestInvitationAdoptsNoUnconfirmedAccount(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	pool := w.WithUserPool()
	_, err := pool.SignUp("dan@example.com", "")
	testkit.Must(t, err)

	out := w.Ask(member.InviteUserFunction(), "/admin/users", testkit.Administrator, `{"name":"Dan","email":"dan@example.com"}`)
	if err := testkit.CheckProblemCode(out, 409, "account_unverified"); err != nil {
		t.Error(err)
	}

	if rows := w.Dump(); len(rows) != 0 {
		t.Errorf("the invitation wrote %q", rows)
	}
}

// TestPendingInvitationIsSentAgain: a temporary password expires, and another invitation
// mails another one.
func TestPendingInvitationIsSentAgain(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)

	pool := w.WithUserPool()
	for _, status := range []int{201, 200} {
		if out := w.Ask(member.InviteUserFunction(), "/admin/users", testkit.Administrator,
			`{"name":"Dan","email":"dan@example.com"}`); out.StatusCode != status {
			t.Errorf("an invitation: %d %s, want %d", out.StatusCode, out.Body, status)
		}
	}

	if got := pool.Invitations("dan@example.com"); got != 2 {
		t.Errorf("%d mails, want 2", got)
	}
}

// TestInvitationDuringADeletion: an account that is about to disappear becomes no member.
func TestInvitationDuringADeletion(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	pool := w.WithUserPool()
	_, err := pool.SignIn(t.Context(), "dan", "", nil)
	testkit.Must(t, err)
	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "dan", DeletedAt: "2026-03-01T12:00:00Z"})

	out := w.Ask(member.InviteUserFunction(), "/admin/users", testkit.Administrator, `{"name":"Dan","email":"dan@example.com"}`)
	if err := testkit.CheckProblemCode(out, 409, "account_deleting"); err != nil {
		t.Error(err)
	}

	if rows := w.Dump(); len(rows) != 0 {
		t.Errorf("the invitation wrote %q", rows)
	}
}
