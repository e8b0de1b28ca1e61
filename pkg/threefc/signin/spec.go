package signin

import (
	"time"

	"matchday/pkg/spec"
)

// MailFrom is the setting with the address of the room's mails.
const MailFrom = "THREEFC_MAIL"

// Mails is who sends the room's mails.
var Mails = spec.MailSender{Setting: MailFrom}

// Limits of mails with links, which anybody can have sent.
var (
	// MaxLinks is by caller, so that nobody keeps the owner of an address from signing in.
	MaxLinks = spec.Limit{Name: "sign-in mails per address and caller", Max: 5, Per: time.Hour, Code: "too_many_links"}
	// MaxAddressLinks keeps a mailbox from filling up by many callers.
	MaxAddressLinks = spec.Limit{Name: "sign-in mails per address", Max: 40, Per: time.Hour, Code: "too_many_links_of_address"}
	// MaxCallerLinks keeps a caller from mailing many addresses, or one mailbox under many of its
	// names, which would cost the room its reputation as a sender. All players at a pitch may share
	// one address of the network: three teams with substitutes sign in within an hour, and some of
	// them twice. A caller is one IPv4 address, or one network of IPv6.
	MaxCallerLinks = spec.Limit{Name: "sign-in mails per caller", Max: 30, Per: time.Hour, Code: "too_many_sign_ins"}
)
