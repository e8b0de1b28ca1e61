package console

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"time"

	"matchday/infra/sim/ses"
)

// MailTab is the name of the tab with the mails of all rooms. It has the form of a room's name.
const MailTab = "mail"

const (
	mailsShown = 50
	// attempts is how often the SDK of a function tries a call.
	attempts = 4
)

// mailPanel returns the tab with the mails that functions have sent.
func (h *Hub) mailPanel() Panel {
	files, err := fs.Sub(page, "page/mail")
	if err != nil {
		panic(err) // the folder is embedded
	}

	return Panel{Room: MailTab, Title: "Mail", Files: files, View: h.mailbox, Buttons: map[string]Button{"answer": NewButton(h.answerMails)}}
}

// mail is a mail on the page.
type mail struct {
	N          int    `json:"n"` // from 1, in the order in which SES accepted them
	At         int64  `json:"at"`
	From       string `json:"from"`
	To         string `json:"to"`
	Subject    string `json:"subject"`
	Text       string `json:"text"`
	HTML       bool   `json:"html"` // it has an HTML part, at /console/mail/message/<n>
	Suppressed bool   `json:"suppressed"`
}

// sentMails returns the mails that functions have sent.
func (h *Hub) sentMails() []ses.Mail {
	h.mu.Lock()
	f := h.fleet
	h.mu.Unlock()

	if f == nil || f.Mail == nil {
		return nil
	}

	return f.Mail.Sent()
}

// mailbox returns the sections of the tab: the latest mails, newest first.
func (h *Hub) mailbox(time.Time) map[string]any {
	sent := h.sentMails()

	all := []mail{}
	for i, m := range slices.Backward(sent) {
		if len(all) == mailsShown {
			break
		}

		all = append(all, mail{i + 1, m.At.UnixMilli(), m.From, m.To, m.Subject, m.Text, m.HTML != "", m.Suppressed})
	}

	type button struct {
		Name string `json:"name"`
		Does string `json:"does"`
	}

	var answers []button
	for _, a := range mailAnswers() {
		answers = append(answers, button{a.name, a.does})
	}

	return map[string]any{"mails": map[string]any{"sent": len(sent), "latest": all}, "mailAnswers": answers}
}

// message serves the HTML of a mail. It runs no scripts and loads nothing; its links open.
func (h *Hub) message(w http.ResponseWriter, r *http.Request) {
	all := h.sentMails()

	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 1 || n > len(all) || all[n-1].HTML == "" {
		http.NotFound(w, r)
		return
	}

	w.Header().Set("Content-Security-Policy",
		"sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, all[n-1].HTML) // the browser has disconnected
}

// mailAnswer is a selectable answer of SES.
type mailAnswer struct {
	name, does string
	faults     []ses.Fault
}

func mailAnswers() []mailAnswer {
	return []mailAnswer{
		{"Throttled", "The next mail is throttled at each of its 4 tries.", slices.Repeat([]ses.Fault{ses.Throttled}, attempts)},
		{"Down", "The next mail gets 500 at each of its 4 tries.", slices.Repeat([]ses.Fault{ses.Failed}, attempts)},
		{"Rejected", "The next mail is rejected.", []ses.Fault{ses.Rejected}},
		{"Mail answer lost", "The next mail is sent, its sender gets no answer and sends it again.", []ses.Fault{ses.AnswerLost}},
		{"Accept mail again", "Mails are accepted again.", nil},
	}
}

func (h *Hub) answerMails(_ context.Context, in struct{ Answer string }) (string, error) {
	h.mu.Lock()
	f := h.fleet
	h.mu.Unlock()

	for _, a := range mailAnswers() {
		if a.name == in.Answer {
			f.Mail.Fail(a.faults...)
			return a.does, nil
		}
	}

	return "", fmt.Errorf("unknown answer %q", in.Answer)
}
