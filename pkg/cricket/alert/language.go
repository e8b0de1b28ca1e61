package alert

import (
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/words"
	"matchday/pkg/kit/push"
)

// translated is the language of phones whose app translates the alert: they get its keys.
const translated words.Language = "keys"

// The longest texts in bytes. A letter of Hindi, Urdu or Bengali has up to three.
const (
	maxTitle = 3 * 64
	maxBody  = 3 * 160
)

// languageOf returns the language in which a phone gets the alert: translated if the version of its
// catalogue has all keys of the alert, otherwise that of its locale. A phone that registered without a
// version has version 1, which has no keys. A message without Says is in English only.
func (m Alert) languageOf(p push.Phone) words.Language {
	switch {
	case m.Says == nil:
		return words.English
	case max(p.Catalogue, 1) >= m.catalogue():
		return translated
	}

	return words.Match(p.Locale)
}

// catalogue returns the first version of the catalogue that has all keys of the alert.
func (m Alert) catalogue() int {
	return max(2, words.Since(m.Says.Match, m.Says.Title, m.Says.Body, m.Says.Plain))
}

// banner returns the visible part of the alert in a language, without a sound: for spoilerFree users
// the match, and the body without the score.
func (m Alert) banner(l words.Language, spoilerFree bool) push.Banner {
	english := push.Banner{Title: m.Title, Body: m.Body}
	if spoilerFree {
		english = push.Banner{Title: m.Match, Body: m.Plain}
	}

	if m.Says == nil || l == words.English {
		return english
	}

	title, body := m.Says.Title, m.Says.Body
	if spoilerFree {
		title, body = m.Says.Match, m.Says.Plain
	}

	if l != translated {
		return push.Banner{Title: score.Fit(title.In(l), maxTitle), Body: score.Fit(body.In(l), maxBody)}
	}

	b := push.Banner{TitleKey: key(title), BodyKey: key(body)}
	if b.TitleKey == nil {
		b.Title = title.In(words.English)
	}

	if b.BodyKey == nil {
		b.Body = body.In(words.English)
	}

	return b
}

// key returns what the app translates of a text, or nil for a text without a key.
func key(t words.Text) *push.Key {
	if t.Key == "" {
		return nil
	}

	return &push.Key{Key: t.Key, Args: t.Args}
}

// androidChannel is the notification channel of the Android app for alerts.
const androidChannel = "alerts"

// forAndroid returns an alert as Android phones get it: in their channel of alerts. The strings of their
// app are named "alert_" and the key: fcm.Resource makes both the name of a resource.
func forAndroid(a push.Alert) push.Alert {
	a.Thread = androidChannel
	a.TitleKey, a.BodyKey = resource(a.TitleKey), resource(a.BodyKey)

	return a
}

func resource(k *push.Key) *push.Key {
	if k == nil {
		return nil
	}

	return &push.Key{Key: "alert " + k.Key, Args: k.Args}
}

// setBody sets the body, which is no spoiler.
func (m *Alert) setBody(t words.Text) {
	m.Body = t.In(words.English)
	m.Plain = m.Body

	if m.Says != nil {
		says := *m.Says
		says.Body, says.Plain = t, t
		m.Says = &says
	}
}
