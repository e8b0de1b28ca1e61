package stacks

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"

	"matchday/pkg/spec"
)

// sendMail lets a function send mail from one address, whose domain SES has
// verified. A deployment that sets no address sends no mail.
func (r *room) sendMail(m spec.MailSender) []awsiam.PolicyStatement {
	address := r.Stage.Settings[m.Setting]
	_, domain, ok := strings.Cut(address, "@")
	if !ok {
		return nil
	}
	send := allow([]string{"ses:SendEmail"}, r.arn("ses", "identity/"+domain))
	send.AddCondition(text("StringEquals"), map[string]string{"ses:FromAddress": address})
	return []awsiam.PolicyStatement{send}
}
