// Package phonetest is somebody's phone: a browser that shows pages of a world of 3FC.
package phonetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"matchday/infra/local/console/consoletest"
)

// Phone is a browser of its own. Its clock stands still until SetClock.
type Phone struct {
	T          *testing.T
	Tab        context.Context
	URL        string          // of the pages
	Complaints func() []string // what the pages have written to the console
}

// clock makes the clock of the phone one that a test sets.
const clock = `Date.now = () => Number(localStorage.getItem("test-clock") ?? %d);`

// New opens a browser. It skips the test if there is none. more are further options of the browser.
func New(t *testing.T, url string, now time.Time, more ...chromedp.ExecAllocatorOption) *Phone {
	t.Helper()

	p := &Phone{T: t, URL: url}
	p.Tab, p.Complaints = consoletest.Browser(t, more...)
	p.Run(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(clock, now.UnixMilli())})

		return err
	}), consoletest.Resize(390, 740, "light"))

	return p
}

// Run does what somebody does with the phone.
func (p *Phone) Run(actions ...consoletest.Action) {
	p.T.Helper()

	if err := consoletest.Do(p.Tab, actions...); err != nil {
		p.T.Fatalf("%v; the page complained %q", err, p.Complaints())
	}
}

// SetClock sets the clock of the phone, which shows a page of 3FC.
func (p *Phone) SetClock(now time.Time) {
	p.T.Helper()
	p.Run(consoletest.See(fmt.Sprintf(`(localStorage.setItem("test-clock", "%d"), true)`, now.UnixMilli())))
}

// Offline cuts the network of the phone to the API, or joins it again.
func (p *Phone) Offline(cut bool) {
	p.T.Helper()
	p.Run(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, network.EmulateNetworkConditionsByRule,
			network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{
				{URLPattern: p.URL + "/v1/*", Offline: cut, DownloadThroughput: -1, UploadThroughput: -1},
			}})

		return err
	}))
}

// mark marks the element of a script, and waits until it is there.
func mark(element string) consoletest.Action {
	return consoletest.See(fmt.Sprintf(`(() => {
	for (const one of document.querySelectorAll("[data-test]")) one.removeAttribute("data-test");
	const found = %s;
	found?.setAttribute("data-test", "");
	return found;
})()`, element))
}

var marked = chromedp.CSS("[data-test]")

// pressed is the script of the link or the button of a text.
func pressed(text string) string {
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`[...document.querySelectorAll("a, button, summary")].find((one) => one.textContent.trim() === %s)`, quoted)
}

// Press presses the link or the button of a text, and waits until the page has another text in an element, "" for
// no wait.
func (p *Phone) Press(text, selector, says string) {
	p.T.Helper()
	p.Run(mark(pressed(text)), chromedp.Click(marked))

	if selector != "" {
		p.Run(consoletest.Says(selector, says))
	}
}

// Link returns the address of the link of a text, which a camera or a mail has from then on.
func (p *Phone) Link(text string) string {
	p.T.Helper()
	p.Run(mark(pressed(text)))

	to, err := consoletest.Run(p.Tab, chromedp.Evaluate[string](`document.querySelector("[data-test]").href`))
	if err != nil {
		p.T.Fatal(err)
	}

	return to
}

// Field is the script of a field of the form of an action.
func Field(action, name string) string {
	return fmt.Sprintf(`[...document.forms].find((one) => one.elements.action?.value === %q)?.elements[%q]`, action, name)
}

// Labelled is the script of the field of a label, of which a part in brackets does not count.
func Labelled(label string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("label")].find((one) => `+
		`one.firstChild.textContent.replace(/ \(.*/s, "").trim() === %q)?.querySelector("input, select")`, label)
}

// Write types a text into the field of a script.
func (p *Phone) Write(field, text string) {
	p.T.Helper()
	p.Run(mark(field), chromedp.SendKeys(marked, text))
}

// Choose gives the field of a script the value of a choice, a day or a time, or the choice of a text.
func (p *Phone) Choose(field, value string) {
	p.T.Helper()
	p.Run(mark(field), consoletest.See(fmt.Sprintf(`((one) => {
	const value = [...(one.options ?? [])].find((o) => o.text === %[1]q)?.value ?? %[1]q;
	return (one.value = value) === one.value;
})(document.querySelector("[data-test]"))`, value)))
}

// Ready is whether the scorekeeper's page takes taps.
const Ready = `!document.querySelector("#phone").hidden && !document.querySelector("#phone").inert`

// Tap taps the buttons of texts of the scorekeeper's page, each once the page takes taps.
func (p *Phone) Tap(texts ...string) {
	p.T.Helper()

	for _, text := range texts {
		quoted, _ := json.Marshal(text)
		button := fmt.Sprintf(`[...document.querySelectorAll("#phone button")].find((b) => `+
			`b.textContent === %s && b.offsetParent && !b.disabled)`, quoted)
		p.Run(consoletest.See(Ready+" && "+button), consoletest.See(button+`.setAttribute("data-tap", "") || true`),
			chromedp.Click(chromedp.CSS("[data-tap]")),
			consoletest.See(`[...document.querySelectorAll("[data-tap]")].forEach((b) => b.removeAttribute("data-tap")) || true`))
	}
}

// Look turns to the scorekeeper's page again, which reads what others have scored: otherwise it does so every ten
// seconds.
func (p *Phone) Look() {
	p.T.Helper()
	p.Run(consoletest.See(`(dispatchEvent(new Event("focus")), true)`))
}

// Sees waits for what the scorekeeper's page says of the network.
func (p *Phone) Sees(net string) {
	p.T.Helper()
	p.Run(consoletest.Says("#net", net))
}

// Shown waits for the goals on the scorekeeper's page, the latest first.
func (p *Phone) Shown(want ...string) {
	p.T.Helper()

	list, _ := json.Marshal(append([]string{}, want...))
	shown := `[...document.querySelectorAll("#goals li")].map((li) => li.firstElementChild.textContent)`
	p.Run(consoletest.See(fmt.Sprintf(`JSON.stringify(%s) === JSON.stringify(%s)`, shown, list)))
}

// Pictures keeps pictures of the page, light and dark, and checks that the page is not wider than a phone.
func (p *Phone) Pictures(name string) {
	p.T.Helper()

	for _, mode := range []string{"dark", "light"} {
		p.Run(consoletest.Resize(390, 740, mode))

		consoletest.Shoot(p.T, p.Tab, name+"-"+mode)
		consoletest.Fits(p.T, p.Tab, 390)
	}
}
