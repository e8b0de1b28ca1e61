package stacks

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// addBucket adds an S3 bucket: encrypted, private, reached over TLS only. Uploads that
// were not completed are removed after a day.
func addBucket(stack awscdk.Stack, s stage.Stage, b spec.Bucket) {
	rule := &awss3.LifecycleRule{AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(number(1))}
	if b.Expires > 0 {
		rule.Expiration = awscdk.Duration_Days(number(b.Expires.Hours() / 24))
	}

	bucket := awss3.NewBucket(stack, text("Bucket-"+b.Name), &awss3.BucketProps{
		BucketName: text(bucketName(stack, s, b)), Encryption: awss3.BucketEncryption_S3_MANAGED, EnforceSSL: yes(true),
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(), ObjectOwnership: awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		LifecycleRules: &[]*awss3.LifecycleRule{rule}, RemovalPolicy: removal(s),
	})
	excuse(bucket, "AwsSolutions-S1", "Only functions use it, and they log what they do.")
}

// bucketName returns a name that is unique among all accounts of AWS.
func bucketName(stack awscdk.Stack, s stage.Stage, b spec.Bucket) string {
	return fmt.Sprintf("%s%s-%s", s.Prefix(), b.Name, *stack.Account())
}

// objects returns the policy statements for a function's use of buckets.
func (r *room) objects(a spec.ObjectAccess) (all []awsiam.PolicyStatement) {
	bucket := fmt.Sprintf("arn:%s:s3:::%s", *r.stack.Partition(), bucketName(r.stack, r.Stage, a.Bucket))

	var actions []string

	for _, op := range a.Ops {
		if op != spec.ListBucket {
			actions = append(actions, "s3:"+string(op))
			continue
		}

		list := allow([]string{"s3:ListBucket"}, &bucket)
		if a.Prefix != "" {
			list.AddCondition(text("StringLike"), map[string]string{"s3:prefix": a.Prefix + "*"})
		}

		all = append(all, list)
	}

	if len(actions) > 0 {
		all = append(all, allow(actions, text(bucket+"/"+a.Prefix+"*")))
	}

	return all
}
