package templatetests

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"matchday/pkg/spec"
)

// TestRoutes: the API has the spec's routes and no others, each calls its function,
// and itself checks the caller of those that want a user. All have one limit, for
// API Gateway keeps that of a route and so the route.
func TestRoutes(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		integrations := map[string]resource{} // by what a route calls them
		for id, r := range tmpl.Resources {
			if r.Type == "AWS::ApiGatewayV2::Integration" {
				integrations[fmt.Sprint([]any{"", []any{"integrations/", map[string]any{"Ref": id}}})] = r
			}
		}
		var got, want []string
		for _, r := range tmpl.of("AWS::ApiGatewayV2::Route") {
			i := integrations[fmt.Sprint(r.at("Target", "Fn::Join"))]
			if i.at("PayloadFormatVersion") != "2.0" || i.at("IntegrationType") != "AWS_PROXY" {
				t.Errorf("%s is answered by %v", r.name("RouteKey"), i.Properties)
			}
			line := r.name("RouteKey") + " to " + tmpl.plain(i.at("IntegrationUri"))
			if r.at("AuthorizationType") != nil {
				line += fmt.Sprintf(" by %v %v of %v", r.at("AuthorizationType"), tmpl.plain(r.at("AuthorizerId")), r.at("AuthorizationScopes"))
			}
			got = append(got, line)
		}
		for _, f := range tmpl.Room.Functions {
			on, ok := f.On.(spec.Route)
			if !ok {
				continue
			}
			line := on.Method + " " + on.Path + " to Function " + tmpl.Stage.Function(f)
			switch on.Auth {
			case spec.User:
				line += " by JWT Authorizer jwt of [openid]"
			case spec.Admin:
				line += " by JWT Authorizer admin-jwt of [openid]"
			}
			want = append(want, line)
		}
		same(t, "routes", got, want)
		for _, s := range tmpl.of("AWS::ApiGatewayV2::Stage") {
			format := s.at("AccessLogSettings", "Format").(string)
			if !json.Valid([]byte(format)) || strings.Contains(strings.ToLower(format), "header") {
				t.Errorf("the API logs %s", format)
			}
			tmpl.compare(t, "the API's stage", s.Properties, map[string]any{
				"ApiId": "Api " + tmpl.Stage.API(tmpl.Room.Name), "StageName": "$default", "AutoDeploy": true,
				"AccessLogSettings":    map[string]any{"DestinationArn": "LogGroup " + tmpl.Stage.APILogs(tmpl.Room.Name), "Format": format},
				"DefaultRouteSettings": map[string]any{"ThrottlingRateLimit": 500, "ThrottlingBurstLimit": 1000},
			})
		}
		for _, m := range tmpl.of("AWS::ApiGatewayV2::ApiMapping") {
			tmpl.compare(t, "the domain", m.Properties, map[string]any{
				"ApiId": "Api " + tmpl.Stage.API(tmpl.Room.Name), "DomainName": tmpl.Stage.Domain, "ApiMappingKey": tmpl.Room.Name, "Stage": "Stage",
			})
		}
		for _, a := range tmpl.of("AWS::ApiGatewayV2::Api") {
			tmpl.compare(t, "the API", a.Properties, map[string]any{
				"Name": tmpl.Stage.API(tmpl.Room.Name), "ProtocolType": "HTTP", "CorsConfiguration": map[string]any{
					"AllowOrigins": tmpl.Stage.Origins, "AllowMethods": []any{"GET", "POST", "PUT", "PATCH", "DELETE"},
					"AllowHeaders": []any{"authorization", "content-type", "if-none-match"}, "ExposeHeaders": []any{"etag", "retry-after"}, "MaxAge": 3600,
				},
			})
		}
	})
}

// TestSignIn: the app signs in by an authorization code and keeps no secret, and
// the rooms learn by SSM parameters whose tokens to take.
func TestSignIn(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		if tmpl.Room.Name == "" {
			clients := tmpl.of("AWS::Cognito::UserPoolClient")
			if len(clients) != 2 {
				t.Fatalf("there are %d clients, want one of users and one of administrators", len(clients))
			}
			for _, client := range clients {
				if client.at("AccessTokenValidity") != 15.0 || fmt.Sprint(client.at("AllowedOAuthFlows")) != "[code]" || client.at("GenerateSecret") != false || client.at("PreventUserExistenceErrors") != "ENABLED" ||
					fmt.Sprint(client.at("CallbackURLs")) != fmt.Sprint(tmpl.Stage.Callbacks) || fmt.Sprint(client.at("LogoutURLs")) != fmt.Sprint(tmpl.Stage.Callbacks) {
					t.Errorf("the app's client is %v", client.Properties)
				}
			}
			for name, mfa := range map[string]string{"users": "OPTIONAL", "administrators": "ON"} {
				pool := tmpl.pool(t, name)
				if pool.at("AdminCreateUserConfig", "AllowAdminCreateUserOnly") != (name == "administrators") {
					t.Errorf("the sign-up to %s is %v", name, pool.at("AdminCreateUserConfig"))
				}
				if pool.at("UserPoolTier") != "LITE" || pool.at("MfaConfiguration") != mfa || fmt.Sprint(pool.at("EnabledMfas")) != "[SOFTWARE_TOKEN_MFA]" ||
					pool.at("Policies", "PasswordPolicy", "MinimumLength") != 12.0 {
					t.Errorf("the pool is %v", pool.Properties)
				}
			}
			var groups, wanted []string
			for _, g := range tmpl.of("AWS::Cognito::UserPoolGroup") {
				groups = append(groups, g.name("GroupName"))
				if ref := fmt.Sprint(g.at("UserPoolId", "Ref")); !strings.HasPrefix(ref, "Administrators") {
					t.Errorf("the group %s is of %s, want the pool of administrators", g.name("GroupName"), ref)
				}
			}
			for _, room := range tmpl.Rooms {
				if slices.ContainsFunc(room.Functions, func(f spec.Function) bool { on, ok := f.On.(spec.Route); return ok && on.Auth == spec.Admin }) {
					wanted = append(wanted, room.Name+"-admin")
				}
			}
			same(t, "groups of administrators", groups, wanted)
			var parameters []string
			for _, p := range tmpl.of("AWS::SSM::Parameter") {
				parameters = append(parameters, p.name("Name")+" is of the "+tmpl.plain(p.at("Value")))
			}
			same(t, "parameters", parameters, []string{
				tmpl.Stage.Parameter("jwt-issuer") + " is of the UserPool", tmpl.Stage.Parameter("jwt-audience") + " is of the UserPoolClient",
				tmpl.Stage.Parameter("user-pool") + " is of the UserPool",
				tmpl.Stage.Parameter("admin-issuer") + " is of the UserPool", tmpl.Stage.Parameter("admin-audience") + " is of the UserPoolClient",
			})
			return
		}
		for _, a := range tmpl.of("AWS::ApiGatewayV2::Authorizer") {
			prefix := strings.TrimSuffix(a.name("Name"), "jwt")
			if prefix == "" {
				prefix = "jwt-"
			}
			for _, name := range []string{prefix + "audience", prefix + "issuer"} {
				if !strings.Contains(tmpl.text, `"Default": "`+tmpl.Stage.Parameter(name)+`"`) {
					t.Errorf("the room does not read the parameter %s", name)
				}
			}
			if a.at("JwtConfiguration", "Issuer", "Ref") == nil {
				t.Errorf("the issuer is %v", a.at("JwtConfiguration", "Issuer"))
			}
		}
	})
}

// TestTriggers: the user pool calls the function that waits for its users by the
// name that it has in its room's stack, unless the deployment says that it calls
// nothing.
func TestTriggers(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		arn := func(f spec.Function) string {
			return "arn:aws:lambda:us-east-1:123456789012:function:" + tmpl.Stage.Function(f)
		}
		if tmpl.Room.Name == "" {
			want := "<nil>"
			for _, room := range tmpl.Rooms {
				for _, f := range room.Functions {
					if f.On == (spec.UserConfirmed{}) && tmpl.Stage.Triggers {
						want = arn(f)
					}
				}
			}
			pool := tmpl.pool(t, "users")
			if got := tmpl.plain(pool.at("LambdaConfig", "PostConfirmation")); got != want {
				t.Errorf("the pool calls %s for who has signed up, want %s", got, want)
			}
			if all, _ := pool.at("LambdaConfig").(map[string]any); len(all) > 1 || (pool.at("LambdaConfig") != nil) != (want != "<nil>") {
				t.Errorf("the pool calls %v", all)
			}
		}
	})
}

// TestEdge: with cdn=true, and only then, what is cached is what anyone may read.
func TestEdge(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		all := tmpl.of("AWS::CloudFront::Distribution")
		if want := tmpl.Stage.CDN && tmpl.Room.Name != ""; (len(all) == 1) != want {
			t.Fatalf("there are %d distributions", len(all))
		}
		for _, d := range all {
			if acl := tmpl.plain(d.at("DistributionConfig", "WebACLId")); acl != "WebACL "+tmpl.Stage.API(tmpl.Room.Name) {
				t.Errorf("its firewall is %s", acl)
			}
			var rules []string
			for _, r := range many(tmpl.of("AWS::WAFv2::WebACL")[0].at("Rules")) {
				r := r.(map[string]any)
				rules = append(rules, fmt.Sprint(r["Action"], r["OverrideAction"], r["Statement"]))
			}
			same(t, "the firewall", rules, []string{
				"<nil> map[None:map[]] map[ManagedRuleGroupStatement:map[Name:AWSManagedRulesCommonRuleSet VendorName:AWS]]",
				"map[Block:map[]] <nil> map[RateBasedStatement:map[AggregateKeyType:IP Limit:10000]]",
			})
			behaviors := many(d.at("DistributionConfig", "CacheBehaviors"))
			otherwise := d.at("DistributionConfig", "DefaultCacheBehavior")
			if policy := otherwise.(map[string]any)["CachePolicyId"]; policy != "4135ea2d-6df8-44a3-9df3-4b5a84be39ad" {
				t.Errorf("what no pattern fits is cached by %v, and not by CachingDisabled", policy)
			}
			for _, b := range append(slices.Clone(behaviors), otherwise) {
				if b := b.(map[string]any); b["ViewerProtocolPolicy"] != "https-only" {
					t.Errorf("%v is served by %v", b["PathPattern"], b["ViewerProtocolPolicy"])
				}
			}
			for _, f := range tmpl.Room.Functions {
				on, ok := f.On.(spec.Route)
				if !ok || on.Method != "GET" {
					continue
				}
				path := regexp.MustCompile(`\{[^/]*\}`).ReplaceAllString(on.Path, "1")
				cached := false // by the first pattern that fits
				for _, b := range behaviors {
					b := resource{Properties: b.(map[string]any)}
					if fits := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(b.name("PathPattern")), `\*`, ".*") + "$"); fits.MatchString(path) {
						cached = b.at("CachePolicyId", "Ref") != nil
						break
					}
				}
				if cached != (on.Auth == spec.Public) {
					t.Errorf("GET %s is for %s, and is cached: %v", on.Path, on.Auth, cached)
				}
			}
			// CORS answers name the page that asked; without the query another list would be shown.
			tmpl.compare(t, "the cache", tmpl.of("AWS::CloudFront::CachePolicy")[0].Properties, map[string]any{"CachePolicyConfig": map[string]any{
				"Name": tmpl.Stage.API(tmpl.Room.Name), "MinTTL": 0, "DefaultTTL": 2, "MaxTTL": 3600, "ParametersInCacheKeyAndForwardedToOrigin": map[string]any{
					"EnableAcceptEncodingBrotli": true, "EnableAcceptEncodingGzip": true, "CookiesConfig": map[string]any{"CookieBehavior": "none"},
					"HeadersConfig":      map[string]any{"HeaderBehavior": "whitelist", "Headers": []any{"Origin"}},
					"QueryStringsConfig": map[string]any{"QueryStringBehavior": "all"},
				},
			}})
			var errors []string
			for _, e := range many(d.at("DistributionConfig", "CustomErrorResponses")) {
				errors = append(errors, fmt.Sprint(e))
			}
			same(t, "errors", errors, []string{
				"map[ErrorCachingMinTTL:1 ErrorCode:404]", "map[ErrorCachingMinTTL:1 ErrorCode:500]", "map[ErrorCachingMinTTL:1 ErrorCode:502]",
				"map[ErrorCachingMinTTL:1 ErrorCode:503]", "map[ErrorCachingMinTTL:1 ErrorCode:504]",
			})
		}
	})
}

// pool returns a user pool by its name in the stage.
func (tmpl template) pool(t *testing.T, name string) resource {
	t.Helper()
	for _, p := range tmpl.of("AWS::Cognito::UserPool") {
		if p.name("UserPoolName") == tmpl.Stage.Stack(name) {
			return p
		}
	}
	t.Fatalf("there is no user pool of %s", name)
	return resource{}
}
