package follower

import "matchday/pkg/cricket/score/event"

// Overrides replace some of the preferences of a user: for one match, or for those of a team or a league.
type Overrides struct {
	_ struct{} `schema:"PreferenceOverrides"`

	Alerts        []event.Kind `json:"alerts,omitzero" dynamodbav:"alerts" nullable:"false" maxItems:"10" uniqueItems:"true" enum:"toss,start,wicket,fifty,hundred,innings,target,rain,superOver,result" doc:"The kinds of alerts, as in the user's preferences. Absent: as the user's preferences say. Empty: none."`
	More          []event.Kind `json:"moreAlerts,omitzero" dynamodbav:"moreAlerts" nullable:"false" maxItems:"6" uniqueItems:"true" enum:"lineup,fiveWickets,hatTrick,stumps,closeFinish,award" doc:"As in the user's preferences. Absent with alerts: each follows one of these. Absent without: as the user's preferences say."`
	KeyEventsOnly *bool        `json:"keyEventsOnly,omitempty" dynamodbav:"keyEventsOnly,omitempty" doc:"As in the user's preferences. Absent: as these say."`
	SpoilerFree   *bool        `json:"spoilerFree,omitempty" dynamodbav:"spoilerFree,omitempty" doc:"As in the user's preferences. Absent: as these say."`
}

// In returns p with the overrides applied. A nil o changes nothing.
func (o *Overrides) In(p Preferences) Preferences {
	if o == nil {
		return p
	}

	if o.Alerts != nil {
		p.Alerts, p.More = o.Alerts, nil
	}

	if o.More != nil {
		p.More = o.More
	}

	if o.KeyEventsOnly != nil {
		p.KeyEventsOnly = *o.KeyEventsOnly
	}

	if o.SpoilerFree != nil {
		p.SpoilerFree = *o.SpoilerFree
	}

	return p
}

// orNil returns nil if o overrides nothing.
func (o *Overrides) orNil() *Overrides {
	if o == nil || o.Alerts == nil && o.More == nil && o.KeyEventsOnly == nil && o.SpoilerFree == nil {
		return nil
	}

	return o
}
