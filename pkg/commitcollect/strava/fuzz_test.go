package strava_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"matchday/pkg/commitcollect/strava"
)

// FuzzAnswers: whatever Strava answers, a call returns what it promises or an Error without
// the token and the secret. Who is limited waits until a window ends, at most a day.
func FuzzAnswers(f *testing.F) {
	for _, s := range []struct {
		status             uint16
		body, limit, usage string
	}{
		{200, `{"access_token":"a","refresh_token":"b","expires_at":1780757100,"athlete":{"id":77}}`, "", ""},
		{200, `{"access_token":"a"}`, "", ""},
		{200, `{"id":10000000001,"athlete":{"id":77},"name":"Lunch Run","sport_type":"Run","start_date":"2026-06-06T12:00:00Z","utc_offset":36000.0,"distance":5012.4,"moving_time":600,"total_elevation_gain":12.5,"visibility":"only_me"}`, "200,2000", "1,1"},
		{200, `[{"id":1,"distance":1e300,"total_elevation_gain":-1},{"id":2,"distance":0.4}]`, "", ""},
		{200, `[]`, "", ""},
		{200, `null`, "", ""},
		{200, ``, "", ""},
		{200, `{"id":1.5}`, "", ""},
		{204, ``, "", ""},
		{400, `{"message":"Bad Request","errors":[{"resource":"RefreshToken","field":"refresh_token","code":"invalid"}]}`, "", ""},
		{400, `{"errors":[]}`, "", ""},
		{401, `{"message":"Authorization Error"}`, "", ""},
		{403, ``, "", ""},
		{404, `{"message":"Record Not Found"}`, "", ""},
		{408, ``, "", ""},
		{302, ``, "", ""},
		{503, `<html>`, "", ""},
		{429, ``, "200,2000", "201,300"},
		{429, ``, "200,2000", "10,2000"},
		{429, ``, "", ""},
		{429, ``, "200", "200"},
		{429, ``, "a,b", "1,99999999999999999999"},
		{429, ``, "200, -1", " 1 , 0 "},
	} {
		f.Add(s.status, s.body, s.limit, s.usage)
	}

	const token, secret = "t0ken-of-ann", "s3cret-of-app"

	f.Fuzz(func(t *testing.T, status uint16, body, limit, usage string) {
		if status < 200 || status > 599 {
			t.Skip("no answer has such a status")
		}

		c := strava.Open("https://strava.test", strava.App{ID: "4711", Secret: secret}, answerer(func(*http.Request) (*http.Response, error) {
			h := http.Header{
				"X-Ratelimit-Limit":     {limit},
				"X-Ratelimit-Usage":     {usage},
				"X-Readratelimit-Limit": {usage},
				"X-Readratelimit-Usage": {limit},
			}
			return &http.Response{
				StatusCode: int(status),
				Status:     http.StatusText(int(status)),
				Header:     h,
				Body:       io.NopCloser(strings.NewReader(body)),
			}, nil
		}), func() time.Time { return time.Date(2026, 6, 6, 12, 7, 30, 0, time.UTC) })
		check := func(call string, err error) bool {
			if err == nil {
				return status < 300
			}

			e, ok := errors.AsType[*strava.Error](err)
			if !ok || e.Status/100 != int(status)/100 || strings.Contains(err.Error(), token) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: got %#v", call, err)
			} else if limited := e.Kind == strava.Limited; limited != (status == 429) || limited != (e.RetryAfter > 0) ||
				e.RetryAfter > 24*time.Hour {
				t.Errorf("%s: got the kind %d with %v", call, e.Kind, e.RetryAfter)
			}

			return true
		}

		exchanged, err := c.Exchange(t.Context(), "code")
		if !check("Exchange", err) || err == nil && (exchanged.Access == "" || exchanged.Refresh == "" || exchanged.Athlete.ID == 0) {
			t.Errorf("Exchange: got %+v, %v", exchanged, err)
		}

		refreshed, err := c.Refresh(t.Context(), token)
		if !check("Refresh", err) || err == nil && (refreshed.Access == "" || refreshed.Refresh == "") {
			t.Errorf("Refresh: got %+v, %v", refreshed, err)
		}

		one, err := c.Activity(t.Context(), token, "7")
		if !check("Activity", err) || err == nil && one.ID == 0 {
			t.Errorf("Activity: got %+v, %v", one, err)
		}

		all, err := c.Activities(t.Context(), token, time.Unix(0, 0), 1)
		if !check("Activities", err) {
			t.Errorf("Activities: got %+v, %v", all, err)
		}

		for _, a := range append(all, one) {
			for _, n := range []int64{strava.Metres(a.Distance), strava.Metres(a.ElevationGain)} {
				if n < 0 || n > 1e9 {
					t.Errorf("%v has %d m", a, n)
				}
			}
		}

		_, err = c.Subscribe(t.Context(), "https://app.test", "verify")

		_, err2 := c.Subscriptions(t.Context())
		for call, err := range map[string]error{
			"Subscribe":     err,
			"Subscriptions": err2,
			"Unsubscribe":   c.Unsubscribe(t.Context(), 7),
			"Revoke":        c.Revoke(t.Context(), token),
		} {
			if gone := call == "Unsubscribe" && status == 404 || call == "Revoke" && (status == 400 || status == 401); !check(call, err) && !gone {
				t.Errorf("%s: no error", call)
			}
		}
	})
}

// answerer answers requests.
type answerer func(*http.Request) (*http.Response, error)

func (a answerer) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }
