package stacks

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsses"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// sendMail lets a function send mail from one address, whose domain SES has verified. A
// deployment without an address sends no mail.
//
// The condition names the address, and the resources are all identities: SES also requires a
// permission on the identity of the recipient, if the account has one. In the sandbox every
// recipient has one.
func (r *room) sendMail(m spec.MailSender) []awsiam.PolicyStatement {
	address := r.Stage.Settings[m.Setting]
	if !strings.Contains(address, "@") {
		return nil
	}

	send := allow([]string{"ses:SendEmail"}, r.arn("ses", "identity/*"))
	send.AddCondition(text("StringEquals"), map[string]string{"ses:FromAddress": address})

	return []awsiam.PolicyStatement{send}
}

// addIdentity lets SES send mail from the stage's domain, once three records are in its DNS,
// with which SES also signs the mail (DKIM).
func addIdentity(stack awscdk.Stack, s stage.Stage) {
	if s.Identity == "" {
		return
	}

	identity := awsses.NewEmailIdentity(stack, text("Identity"), &awsses.EmailIdentityProps{
		Identity:     awsses.Identity_Domain(text(s.Identity)),
		DkimIdentity: awsses.DkimIdentity_EasyDkim(awsses.EasyDkimSigningKeyLength_RSA_2048_BIT),
	})
	identity.ApplyRemovalPolicy(removal(s))

	for i, record := range *identity.DkimRecords() {
		output(stack, fmt.Sprint("DkimName", i+1), record.Name, "The name of a CNAME record that verifies %s in SES", s.Identity)
		output(stack, fmt.Sprint("DkimValue", i+1), record.Value, "The value of that record")
	}
}
