package price

import (
	"net/url"
	"reflect"
	"testing"
	"time"
)

// TestEachPriceHasItsSource: a page and a date, or it is listed as known by heart.
func TestEachPriceHasItsSource(t *testing.T) {
	t.Parallel()

	sources, list := Sources(), reflect.ValueOf(Listed())
	for i := range list.NumField() {
		name := list.Type().Field(i).Name
		s, ok := sources[name]
		delete(sources, name)

		if !ok || list.Field(i).Float() <= 0 {
			t.Errorf("%s is %v, with the source %+v", name, list.Field(i), s)
			continue
		}

		if u, err := url.Parse(s.URL); err != nil || s.URL != "" && (u.Scheme != "https" || u.Host == "") {
			t.Errorf("the source of %s is %q", name, s.URL)
		}

		if _, err := time.Parse(time.DateOnly, s.Date); err != nil {
			t.Errorf("the date of %s is %q", name, s.Date)
		}
	}

	for name := range sources {
		t.Errorf("there is a source of %s, which is no price", name)
	}

	if n := len(ByHeart()); n > 4 {
		t.Errorf("%d prices are known by heart, more than before: %q", n, ByHeart())
	}
}
