package stacks

import (
	"encoding/json"
	"slices"
	"strings"

	api "github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsssm"
	"github.com/aws/jsii-runtime-go"

	"matchday/infra/stage"
	"matchday/pkg/spec"
)

// newAPI adds the room's HTTP API without its routes, if the room has routes. Pages of the
// stage's origins send their cookies to a room that has routes for browsers.
func (r *room) newAPI() {
	if len(routes(r.spec)) == 0 {
		return
	}

	cors := &api.CfnApi_CorsProperty{
		AllowOrigins: jsii.Strings(r.Stage.Origins...), AllowMethods: jsii.Strings(stage.CORSMethods...),
		AllowHeaders: jsii.Strings(stage.CORSHeaders...), ExposeHeaders: jsii.Strings(stage.CORSExposed...),
		MaxAge: number(stage.CORSMaxAge.Seconds()),
	}
	if allowCredentials(r.Stage, r.spec) {
		cors.AllowCredentials = yes(true)
	}

	r.rest = api.NewCfnApi(r.stack, text("Api"),
		&api.CfnApiProps{Name: text(r.Stage.API(r.spec.Name)), ProtocolType: text("HTTP"), CorsConfiguration: cors})

	r.deployed[stage.APIID] = r.rest.Ref()
	if !r.spec.ServesBrowsers() {
		return
	}

	if r.url = r.rest.AttrApiEndpoint(); r.Stage.Domain != "" {
		r.url = text("https://" + r.Stage.Domain + "/" + r.spec.Name)
	}

	r.webClient()
	r.nativeClient()
}

// allowCredentials reports whether pages may send their cookies to rooms: they may if a room has
// routes for browsers, unless all pages may call the APIs.
func allowCredentials(s stage.Stage, rooms ...spec.Room) bool {
	return slices.ContainsFunc(rooms, spec.Room.ServesBrowsers) && !slices.Contains(s.Origins, "*")
}

// webClient adds the client of the user pool with which the room signs browsers in. It is in the
// room's stack because it contains the address of the room's API.
func (r *room) webClient() {
	if !slices.ContainsFunc(r.spec.Functions, func(f spec.Function) bool { return f.SignIn }) {
		return
	}

	pages := slices.DeleteFunc(slices.Clone(r.Stage.Origins), func(origin string) bool { return origin == "*" })
	client := awscognito.NewCfnUserPoolClient(r.stack, text("Web"), &awscognito.CfnUserPoolClientProps{
		UserPoolId:                      r.parameter(stage.UserPool),
		ClientName:                      text(r.spec.Name + "-web"),
		GenerateSecret:                  yes(false),
		PreventUserExistenceErrors:      text("ENABLED"),
		AllowedOAuthFlowsUserPoolClient: yes(true),
		AllowedOAuthFlows:               jsii.Strings("code"),
		AllowedOAuthScopes:              jsii.Strings("openid", "email"),
		CallbackUrLs:                    &[]*string{text(*r.url + spec.SignedIn)},
		LogoutUrLs:                      jsii.Strings(pages...),
		SupportedIdentityProviders:      jsii.Strings("COGNITO"),
		EnableTokenRevocation:           yes(true),
		AccessTokenValidity:             number(tokenMinutes),
		IdTokenValidity:                 number(tokenMinutes),
		TokenValidityUnits: &awscognito.CfnUserPoolClient_TokenValidityUnitsProperty{
			AccessToken: text("minutes"),
			IdToken:     text("minutes"),
		},
	})
	r.client = client.Ref()
}

// nativeClient adds the client of the user pool for the native apps of the room, if the stage knows where their
// sign-ins return. It has no secret, so an app proves itself by PKCE, and a refresh token is replaced whenever
// it is used (RFC 9700, 4.14.2). The one before is valid for another minute: an app may have lost the answer.
func (r *room) nativeClient() {
	if !r.spec.Native || len(r.Stage.Apps) == 0 {
		return
	}

	client := awscognito.NewCfnUserPoolClient(r.stack, text("Native"), &awscognito.CfnUserPoolClientProps{
		UserPoolId:                      r.parameter(stage.UserPool),
		ClientName:                      text(r.spec.Name + "-native"),
		GenerateSecret:                  yes(false),
		PreventUserExistenceErrors:      text("ENABLED"),
		AllowedOAuthFlowsUserPoolClient: yes(true),
		AllowedOAuthFlows:               jsii.Strings("code"),
		AllowedOAuthScopes:              jsii.Strings("openid", "email"),
		CallbackUrLs:                    jsii.Strings(r.Stage.Apps...),
		LogoutUrLs:                      jsii.Strings(r.Stage.Apps...),
		SupportedIdentityProviders:      jsii.Strings("COGNITO"),
		EnableTokenRevocation:           yes(true),
		// Without a list Cognito allows ALLOW_REFRESH_TOKEN_AUTH, which it refuses beside the rotation. The pool has
		// no trigger for this flow, so that nobody signs in without the page.
		ExplicitAuthFlows: jsii.Strings("ALLOW_CUSTOM_AUTH"),
		RefreshTokenRotation: &awscognito.CfnUserPoolClient_RefreshTokenRotationProperty{
			Feature: text("ENABLED"), RetryGracePeriodSeconds: number(rotationGrace),
		},
		AccessTokenValidity:  number(nativeMinutes),
		IdTokenValidity:      number(nativeMinutes),
		RefreshTokenValidity: number(nativeDays),
		TokenValidityUnits: &awscognito.CfnUserPoolClient_TokenValidityUnitsProperty{
			AccessToken:  text("minutes"),
			IdToken:      text("minutes"),
			RefreshToken: text("days"),
		},
	})
	r.native = client.Ref()
	output(r.stack, "NativeClientId", client.Ref(), "The client id of the native apps of %s", r.spec.Name)
}

// The lives of a native app's tokens. An access token is valid until it expires, also after a sign-out. The
// tombstone of a deleted user is kept for longer. A sign-in lasts as long as the first refresh token.
const (
	nativeMinutes = 15
	nativeDays    = 90
	rotationGrace = 60 // s, the longest
)

// tokenMinutes is how long the tokens of a sign-in are valid. The room reads the user from them,
// and then drops them.
const tokenMinutes = 5

// api adds the routes of the room's API. A route of a user or an administrator requires a JWT;
// the function checks the group. The routes are in a nested stack.
func (r *room) api() {
	routed, rest := routes(r.spec), r.rest
	if rest == nil {
		return
	}

	jwt := map[spec.Auth]api.CfnAuthorizer{
		spec.User:  r.authorizer(rest, routed, spec.User, "jwt", stage.JWTIssuer, stage.JWTAudience),
		spec.Admin: r.authorizer(rest, routed, spec.Admin, "admin-jwt", stage.AdminIssuer, stage.AdminAudience),
	}

	scope := r.nested("Routes", "the routes")

	for _, f := range routed {
		on, fn, name := f.On.(spec.Route), r.functions[f.Name], strings.TrimPrefix(f.Name, r.spec.Name+"/")
		integration := api.NewCfnIntegration(scope, text("Integration-"+name), &api.CfnIntegrationProps{
			ApiId: rest.Ref(), IntegrationType: text("AWS_PROXY"), IntegrationUri: fn.FunctionArn(), PayloadFormatVersion: text("2.0"),
		})

		for _, method := range on.Methods() {
			key := method + " " + on.Path

			props := &api.CfnRouteProps{ApiId: rest.Ref(), RouteKey: &key, Target: text("integrations/" + *integration.Ref())}
			if needsJWT(on) {
				props.AuthorizationType, props.AuthorizerId = text("JWT"), jwt[on.Auth].Ref()
				props.AuthorizationScopes = jsii.Strings(spec.Scope)
			}

			route := api.NewCfnRoute(scope, text("Route-"+name), props)

			switch on.Auth {
			case spec.Public:
				excuse(route, "AwsSolutions-APIG4", "Anyone may read this.")
			case spec.Browser:
				excuse(route, "AwsSolutions-APIG4", "Anyone may open this, signed in or not.")
			case spec.Session, spec.Secret:
				excuse(route, "AwsSolutions-APIG4", "The function itself checks the caller's "+string(on.Auth)+".")
			}

			if !r.Stage.SAM { // SAM CLI does not read it, and with one for each route a room has more than 500 resources
				awslambda.NewCfnPermission(scope, text("Permission-"+name), &awslambda.CfnPermissionProps{
					Action: text("lambda:InvokeFunction"), FunctionName: fn.FunctionArn(), Principal: text("apigateway.amazonaws.com"),
					SourceArn: r.arn("execute-api", *rest.Ref()+"/*/"+method+segments(on.Path)),
				})
			}

			name += "-head" // of the second method
		}
	}

	logs := r.logGroup("Logs-api", r.Stage.APILogs(r.spec.Name))

	var variables any
	if r.Stage.CDN {
		variables = map[string]string{spec.CDNKeys: secretValues(r.Stage.CDNKeys()...)}
	}
	// Routes have no individual limits: API Gateway keeps such a limit forever and then
	// rejects the removal of the route.
	open := api.NewCfnStage(r.stack, text("Stage"), &api.CfnStageProps{
		ApiId: rest.Ref(), StageName: text(r.Stage.APIStage(r.spec.Name)), AutoDeploy: yes(true), StageVariables: variables,
		AccessLogSettings: &api.CfnStage_AccessLogSettingsProperty{DestinationArn: logs.LogGroupArn(), Format: text(accessLog(routed))},
		DefaultRouteSettings: &api.CfnStage_RouteSettingsProperty{
			ThrottlingRateLimit:  number(float64(r.Stage.Rate)),
			ThrottlingBurstLimit: number(float64(r.Stage.Burst)),
		},
	})
	if r.Stage.CDN {
		awsssm.NewStringParameter(r.stack, text("ApiId"), &awsssm.StringParameterProps{
			ParameterName: text(r.Stage.Parameter(stage.APIParameter(r.spec.Name))),
			StringValue:   rest.Ref(),
			Description:   text("The API that CloudFront calls."),
		})
		output(r.stack, "DirectUrl", text(*rest.AttrApiEndpoint()+"/"+r.spec.Name),
			"The API of %s, which refuses what does not come through CloudFront", r.spec.Name)

		return
	}

	output(r.stack, "Url", rest.AttrApiEndpoint(), "The API of %s", r.spec.Name)

	if r.Stage.Domain != "" {
		mapping := api.NewCfnApiMapping(r.stack, text("Mapping"), &api.CfnApiMappingProps{
			ApiId: rest.Ref(), DomainName: text(r.Stage.Domain), Stage: open.Ref(), ApiMappingKey: text(r.spec.Name),
		})
		mapping.AddResourceDependency(open, nil)
	}
}

// needsJWT reports whether the API verifies the caller of a route.
func needsJWT(on spec.Route) bool { return on.Auth == spec.User || on.Auth == spec.Admin }

// authorizer verifies the tokens of one of the shared stack's user pools. It is nil if no
// route requires one.
func (r *room) authorizer(rest api.CfnApi, routed []spec.Function, auth spec.Auth, name, issuer, audience string) api.CfnAuthorizer {
	if !slices.ContainsFunc(routed, func(f spec.Function) bool { return f.On.(spec.Route).Auth == auth }) {
		return nil
	}

	return api.NewCfnAuthorizer(r.stack, text("Authorizer-"+name), &api.CfnAuthorizerProps{
		ApiId: rest.Ref(), Name: text(name), AuthorizerType: text("JWT"), IdentitySource: jsii.Strings("$request.header.Authorization"),
		JwtConfiguration: &api.CfnAuthorizer_JWTConfigurationProperty{
			Issuer: r.parameter(issuer), Audience: &[]*string{r.parameter(audience)},
		},
	})
}

// segments returns a route's path in the form that a permission requires.
func segments(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			parts[i] = "*"
		}
	}

	return strings.Join(parts, "/")
}

// accessLog is the line of a request, without headers and tokens. For an API with a secret, a code or
// a ticket in the path of a route, it has no path: the route key says which route it was.
func accessLog(routed []spec.Function) string {
	fields := map[string]string{
		"requestId": "$context.requestId", "time": "$context.requestTimeEpoch", "ip": "$context.identity.sourceIp",
		"agent": "$context.identity.userAgent", "route": "$context.routeKey", "path": "$context.path", "status": "$context.status",
		"bytes": "$context.responseLength", "ms": "$context.responseLatency", "functionMs": "$context.integrationLatency",
		"user": "$context.authorizer.claims.sub", "authorizer": "$context.authorizer.error", "error": "$context.error.message",
		"integration": "$context.integrationErrorMessage",
	}
	if slices.ContainsFunc(routed, func(f spec.Function) bool {
		on := f.On.(spec.Route)
		return on.Auth == spec.Secret || strings.Contains(on.Path, "{code}") || strings.Contains(on.Path, "{ticket}")
	}) {
		delete(fields, "path")
	}

	line, err := json.Marshal(fields)
	if err != nil {
		panic(err) // strings always encode
	}

	return string(line)
}
