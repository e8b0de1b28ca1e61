package stacks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	api "github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsssm"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"matchday/infra/stage"
	"matchday/pkg/kit/auth"
	"matchday/pkg/spec"
)

// addShared adds what all rooms share: the user pools and their domain.
func addShared(app constructs.Construct, cfg Config) (awscdk.Stack, error) {
	s := cfg.Stage

	confirmed, err := whenConfirmed(cfg.Rooms)
	if err != nil {
		return nil, err
	}

	stack := newStack(app, s, "shared", "Matchday: users and domain")

	tables, buckets := spec.Shared(cfg.Rooms)
	for _, t := range tables {
		addTable(stack, s, t)
	}

	for _, b := range buckets {
		addBucket(stack, s, b)
	}

	pool := awscognito.NewUserPool(stack, text("Users"), &awscognito.UserPoolProps{
		// The cheapest plan has all features that are used here: the classic sign-in pages,
		// groups, the trigger, and one-time passwords as a second factor.
		FeaturePlan:  awscognito.FeaturePlan_LITE,
		UserPoolName: text(s.Stack("users")), SelfSignUpEnabled: yes(s.SignUp), SignInCaseSensitive: yes(false),
		SignInAliases: &awscognito.SignInAliases{Email: yes(true)}, AutoVerify: &awscognito.AutoVerifiedAttrs{Email: yes(true)},
		// A user who changes the address keeps the old one until the new one is verified.
		// Otherwise a user could take an address of somebody else, who could then not sign up.
		KeepOriginal:    &awscognito.KeepOriginalAttrs{Email: yes(true)},
		AccountRecovery: awscognito.AccountRecovery_EMAIL_ONLY,
		PasswordPolicy:  passwords(),
		Mfa:             awscognito.Mfa_OPTIONAL, MfaSecondFactor: &awscognito.MfaSecondFactor{Otp: yes(true), Sms: yes(false)},
		DeletionProtection: yes(s.Name == stage.Prod), RemovalPolicy: removal(s),
	})
	addIdentity(stack, s)
	sendBySES(stack, s, pool)

	if s.Triggers && confirmed != nil {
		// By its name: the function is in its room's stack, which is deployed later and allows
		// the pool to call it.
		pool.Node().DefaultChild().(awscognito.CfnUserPool).SetLambdaConfig(&awscognito.CfnUserPool_LambdaConfigProperty{
			PostConfirmation: arn(stack, "lambda", "function:"+s.Function(*confirmed)),
		})
	}

	excuse(pool, "AwsSolutions-COG2", "A fan may go without a second factor; it is offered.")
	excuse(pool, "AwsSolutions-COG3", "Threat protection is of a feature plan that costs more for each user; failed sign-ins are throttled "+
		"in every plan.")
	client := addClient(pool, s, "App")
	// The page where users sign in. Its name is unique in a region, among all accounts.
	signIn := pool.AddDomain(text("SignIn"), &awscognito.UserPoolDomainOptions{
		CognitoDomain: &awscognito.CognitoDomainOptions{DomainPrefix: text("matchday-" + s.Name + "-" + *stack.Account())},
	})
	parameter := func(id, name, description string, value *string) {
		awsssm.NewStringParameter(stack, &id, &awsssm.StringParameterProps{
			ParameterName: text(s.Parameter(name)),
			StringValue:   value,
			Description:   &description,
		})
	}
	parameter("Issuer", stage.JWTIssuer, "Issues the tokens that the rooms' APIs take.", pool.UserPoolProviderUrl())
	parameter("Audience", stage.JWTAudience, "Whom the tokens are issued for: the app.", client.UserPoolClientId())
	parameter("Pool", stage.UserPool, "Where the users are that rooms invite and remove.", pool.UserPoolId())
	parameter("SignInPage", stage.SignInURL, "Where users sign in.", signIn.BaseUrl(nil))
	output(stack, "ClientId", client.UserPoolClientId(), "The app's client id")
	output(stack, "SignInUrl", signIn.BaseUrl(nil), "Where users sign in: the OAuth endpoints are below it")
	admins := addAdministrators(stack, cfg)
	sendBySES(stack, s, admins)
	office := addClient(admins, s, "Office")
	adminSignIn := admins.AddDomain(text("AdminSignIn"), &awscognito.UserPoolDomainOptions{
		CognitoDomain: &awscognito.CognitoDomainOptions{DomainPrefix: text("matchday-" + s.Name + "-admin-" + *stack.Account())},
	})
	parameter("AdminIssuer", stage.AdminIssuer, "Issues the tokens of administrators.", admins.UserPoolProviderUrl())
	parameter("AdminAudience", stage.AdminAudience, "Whom the tokens of administrators are issued for.", office.UserPoolClientId())
	output(stack, "AdminClientId", office.UserPoolClientId(), "The client id for administrators")
	output(stack, "AdminSignInUrl", adminSignIn.BaseUrl(nil), "Where administrators sign in")

	if s.CDN {
		addCDNKeys(stack, s)
	}

	addTopics(stack, s)
	addDashboard(stack, cfg)
	addBudget(stack, s)
	rememberRooms(stack, cfg)

	if s.Domain == "" || s.CDN {
		return stack, nil
	}

	domain := api.NewCfnDomainName(stack, text("Domain"), &api.CfnDomainNameProps{
		DomainName: text(s.Domain), DomainNameConfigurations: []any{&api.CfnDomainName_DomainNameConfigurationProperty{
			CertificateArn: text(s.Certificate), EndpointType: text("REGIONAL"), SecurityPolicy: text("TLS_1_2"),
		}},
	})
	output(stack, "DomainTarget", domain.AttrRegionalDomainName(), "What %s is to be a CNAME of", s.Domain)

	return stack, nil
}

// rememberRooms adds the outputs by which the next deployment knows the rooms of the stage.
func rememberRooms(stack awscdk.Stack, cfg Config) {
	var deployed []string

	for _, room := range cfg.Rooms {
		if !slices.Contains(cfg.Left, room.Name) {
			deployed = append(deployed, room.Name)
		}
	}

	output(stack, stage.RoomsOutput, text(strings.Join(deployed, ",")), "The rooms of the stage that a deployment updates")

	if len(cfg.Left) > 0 {
		output(stack, stage.LeftOutput, text(strings.Join(cfg.Left, ",")), "The rooms whose stacks stay as they are")
	}
}

// sendBySES makes a user pool send its mail by SES, with the limit of the account. Cognito's own
// mail is limited to about 50 messages a day, which a stranger can use up by signing up.
func sendBySES(stack awscdk.Stack, s stage.Stage, pool awscognito.UserPool) {
	if s.SES == "" {
		return
	}

	_, domain, _ := strings.Cut(s.SES, "@")
	pool.Node().DefaultChild().(awscognito.CfnUserPool).SetEmailConfiguration(&awscognito.CfnUserPool_EmailConfigurationProperty{
		EmailSendingAccount: text("DEVELOPER"), From: text(s.SES), SourceArn: arn(stack, "ses", "identity/"+domain),
	})
}

// addBudget sends mail to the stage's address when the whole account has spent 80 % of the
// month's budget, and when it is forecast to exceed the budget. Figures are 8 to 12 hours old.
func addBudget(stack awscdk.Stack, s stage.Stage) {
	if s.Budget == 0 {
		return
	}

	var notified []any
	for _, n := range []*awsbudgets.CfnBudget_NotificationProperty{
		{NotificationType: text("ACTUAL"), ComparisonOperator: text("GREATER_THAN"), Threshold: number(80)},
		{NotificationType: text("FORECASTED"), ComparisonOperator: text("GREATER_THAN"), Threshold: number(100)},
	} {
		notified = append(notified, &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
			Notification: n, Subscribers: []any{&awsbudgets.CfnBudget_SubscriberProperty{SubscriptionType: text("EMAIL"), Address: text(s.Mail)}},
		})
	}

	awsbudgets.NewCfnBudget(stack, text("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetName: text(s.Stack("budget")), BudgetType: text("COST"), TimeUnit: text("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{Amount: number(float64(s.Budget)), Unit: text("USD")},
		},
		NotificationsWithSubscribers: notified,
	})
}

// addAdministrators adds the user pool of administrators: nobody signs up, everybody needs
// a second factor, which Cognito cannot require of a group, and each room has a group.
func addAdministrators(stack awscdk.Stack, cfg Config) awscognito.UserPool {
	s := cfg.Stage
	pool := awscognito.NewUserPool(stack, text("Administrators"), &awscognito.UserPoolProps{
		FeaturePlan:  awscognito.FeaturePlan_LITE,
		UserPoolName: text(s.Stack("administrators")), SelfSignUpEnabled: yes(false), SignInCaseSensitive: yes(false),
		SignInAliases: &awscognito.SignInAliases{Email: yes(true)}, AutoVerify: &awscognito.AutoVerifiedAttrs{Email: yes(true)},
		AccountRecovery: awscognito.AccountRecovery_EMAIL_ONLY, PasswordPolicy: passwords(),
		Mfa: awscognito.Mfa_REQUIRED, MfaSecondFactor: &awscognito.MfaSecondFactor{Otp: yes(true), Sms: yes(false)},
		DeletionProtection: yes(s.Name == stage.Prod), RemovalPolicy: removal(s),
	})
	excuse(pool, "AwsSolutions-COG3", "Threat protection is of a feature plan that costs more for each user; failed sign-ins are throttled "+
		"in every plan.")

	for _, room := range cfg.Rooms {
		if slices.ContainsFunc(room.Functions, func(f spec.Function) bool {
			on, ok := f.On.(spec.Route)
			return ok && on.Auth == spec.Admin
		}) {
			awscognito.NewCfnUserPoolGroup(stack, text("Admins-"+room.Name), &awscognito.CfnUserPoolGroupProps{
				UserPoolId: pool.UserPoolId(), GroupName: text(auth.AdminGroup(room.Name)), Description: text("Administrators of " + room.Name + "."),
			})
		}
	}

	return pool
}

func passwords() *awscognito.PasswordPolicy {
	return &awscognito.PasswordPolicy{
		MinLength: number(12), RequireLowercase: yes(true), RequireUppercase: yes(true), RequireDigits: yes(true), RequireSymbols: yes(true),
	}
}

// addClient adds the client of an app, which cannot keep a secret, so it uses PKCE.
func addClient(pool awscognito.UserPool, s stage.Stage, id string) awscognito.UserPoolClient {
	return pool.AddClient(text(id), &awscognito.UserPoolClientOptions{
		UserPoolClientName:         text(strings.ToLower(id)),
		GenerateSecret:             yes(false),
		PreventUserExistenceErrors: yes(true),
		EnableTokenRevocation:      yes(true),
		OAuth: &awscognito.OAuthSettings{
			Flows:        &awscognito.OAuthFlows{AuthorizationCodeGrant: yes(true)},
			Scopes:       &[]awscognito.OAuthScope{awscognito.OAuthScope_OPENID(), awscognito.OAuthScope_EMAIL()},
			CallbackUrls: jsii.Strings(s.Callbacks...), LogoutUrls: jsii.Strings(s.Callbacks...),
		},
		SupportedIdentityProviders: &[]awscognito.UserPoolClientIdentityProvider{awscognito.UserPoolClientIdentityProvider_COGNITO()},
		AccessTokenValidity:        awscdk.Duration_Minutes(number(15)),
		IdTokenValidity:            awscdk.Duration_Minutes(number(15)),
		RefreshTokenValidity:       awscdk.Duration_Days(number(90)),
	})
}

// whenConfirmed returns the function that the user pool calls after a sign-up, nil if there is
// none. A pool can call only one.
func whenConfirmed(rooms []spec.Room) (found *spec.Function, err error) {
	for _, room := range rooms {
		for _, f := range room.Functions {
			if _, ok := f.On.(spec.UserConfirmed); !ok {
				continue
			}

			if found != nil {
				return nil, fmt.Errorf("the user pool can call one function for those who have signed up, not both %s and %s", found.Name, f.Name)
			}

			found = &f
		}
	}

	return found, nil
}
