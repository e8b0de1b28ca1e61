package templatetests

import (
	"encoding/json"
	"fmt"
	"maps"
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
			for _, method := range on.Methods() {
				line := method + " " + on.Path + " to " + tmpl.callable(f)
				switch on.Auth {
				case spec.User:
					line += " by JWT Authorizer jwt of [openid]"
				case spec.Admin:
					line += " by JWT Authorizer admin-jwt of [openid]"
				}
				want = append(want, line)
			}
		}
		same(t, "routes", got, want)
		for _, s := range tmpl.of("AWS::ApiGatewayV2::Stage") {
			format := s.at("AccessLogSettings", "Format").(string)
			secret := slices.ContainsFunc(tmpl.Room.Functions,
				func(f spec.Function) bool {
					on, ok := f.On.(spec.Route)
					return ok && (on.Auth == spec.Secret || strings.Contains(on.Path, "{code}") || strings.Contains(on.Path, "{ticket}"))
				})
			if !json.Valid([]byte(format)) || strings.Contains(strings.ToLower(format), "header") ||
				strings.Contains(format, "$context.path") == secret {
				t.Errorf("the API logs %s; want no header, and no path where a path has a secret or a code", format)
			}
			want := map[string]any{
				"ApiId": "Api " + tmpl.Stage.API(tmpl.Room.Name), "StageName": "$default", "AutoDeploy": true,
				"AccessLogSettings":    map[string]any{"DestinationArn": "LogGroup " + tmpl.Stage.APILogs(tmpl.Room.Name), "Format": format},
				"DefaultRouteSettings": map[string]any{"ThrottlingRateLimit": tmpl.Stage.Rate, "ThrottlingBurstLimit": tmpl.Stage.Burst},
			}
			if tmpl.Stage.CDN {
				want["StageName"], want["StageVariables"] = tmpl.Room.Name, map[string]any{
					"cdnKeys": map[string]string{"prod": keyTwo + "," + keyOne, "try": keyOfTry}[tmpl.Stage.Name],
				}
			}
			tmpl.compare(t, "the API's stage", s.Properties, want)
		}
		mappings := tmpl.of("AWS::ApiGatewayV2::ApiMapping")
		if want := tmpl.Stage.Domain != "" && !tmpl.Stage.CDN && len(want) > 0; (len(mappings) == 1) != want {
			t.Errorf("the API has %d domains, although the stage's is %q and its CDN %t", len(mappings), tmpl.Stage.Domain, tmpl.Stage.CDN)
		}
		for _, m := range mappings {
			tmpl.compare(t, "the domain", m.Properties, map[string]any{
				"ApiId": "Api " + tmpl.Stage.API(tmpl.Room.Name), "DomainName": tmpl.Stage.Domain, "ApiMappingKey": tmpl.Room.Name, "Stage": "Stage",
			})
		}
		for _, a := range tmpl.of("AWS::ApiGatewayV2::Api") {
			cors := map[string]any{
				"AllowOrigins":  tmpl.Stage.Origins,
				"AllowMethods":  []any{"GET", "POST", "PUT", "PATCH", "DELETE"},
				"AllowHeaders":  []any{"authorization", "content-type", "idempotency-key", "if-match", "if-none-match"},
				"ExposeHeaders": []any{"etag", "retry-after"},
				"MaxAge":        3600,
			}
			if tmpl.Room.ServesBrowsers() && !slices.Contains(tmpl.Stage.Origins, "*") {
				cors["AllowCredentials"] = true
			}
			tmpl.compare(t, "the API", a.Properties,
				map[string]any{"Name": tmpl.Stage.API(tmpl.Room.Name), "ProtocolType": "HTTP", "CorsConfiguration": cors})
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
				if client.at("AccessTokenValidity") != 15.0 || fmt.Sprint(client.at("AllowedOAuthFlows")) != "[code]" ||
					client.at("GenerateSecret") != false || client.at("PreventUserExistenceErrors") != "ENABLED" ||
					fmt.Sprint(client.at("CallbackURLs")) != fmt.Sprint(tmpl.Stage.Callbacks) ||
					fmt.Sprint(client.at("LogoutURLs")) != fmt.Sprint(tmpl.Stage.Callbacks) {
					t.Errorf("the app's client is %v", client.Properties)
				}
			}
			for name, mfa := range map[string]string{"users": "OPTIONAL", "administrators": "ON"} {
				pool := tmpl.pool(t, name)
				if pool.at("AdminCreateUserConfig", "AllowAdminCreateUserOnly") != (name == "administrators" || !tmpl.Stage.SignUp) {
					t.Errorf("the sign-up to %s is %v", name, pool.at("AdminCreateUserConfig"))
				}
				if pool.at("UserPoolTier") != "LITE" || pool.at("MfaConfiguration") != mfa ||
					fmt.Sprint(pool.at("EnabledMfas")) != "[SOFTWARE_TOKEN_MFA]" ||
					pool.at("Policies", "PasswordPolicy", "MinimumLength") != 12.0 {
					t.Errorf("the pool is %v", pool.Properties)
				}
			}
			if got := fmt.Sprint(tmpl.pool(t, "users").at("UserAttributeUpdateSettings",
				"AttributesRequireVerificationBeforeUpdate")); got != "[email]" {
				t.Errorf("a user changes without a proof: %s", got)
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
				tmpl.Stage.Parameter("sign-in") + " is of the https://UserPoolDomain.auth.us-east-1.amazoncognito.com",
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

// TestBrowsersSignIn: a room whose functions send browsers to the sign-in page has a client
// for them, which sends them back to the room's own address.
func TestBrowsersSignIn(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		if tmpl.Room.Name == "" {
			return
		}
		clients := slices.DeleteFunc(tmpl.of("AWS::Cognito::UserPoolClient"), isNative)
		if want := slices.ContainsFunc(tmpl.Room.Functions, func(f spec.Function) bool { return f.SignIn }); (len(clients) == 1) != want {
			t.Fatalf("there are %d clients", len(clients))
		}
		address := "https://" + tmpl.Stage.Domain + "/" + tmpl.Room.Name
		for _, client := range clients {
			pages := slices.DeleteFunc(slices.Clone(tmpl.Stage.Origins), func(o string) bool { return o == "*" })
			if fmt.Sprint(client.at("CallbackURLs")) != "["+address+"/auth/callback]" ||
				fmt.Sprint(many(client.at("LogoutURLs"))) != fmt.Sprint(pages) ||
				fmt.Sprint(client.at("AllowedOAuthFlows")) != "[code]" || client.at("GenerateSecret") != false ||
				client.at("PreventUserExistenceErrors") != "ENABLED" ||
				!strings.Contains(tmpl.text, `"Default": "`+tmpl.Stage.Parameter("user-pool")+`"`) {
				t.Errorf("the client is %v", client.Properties)
			}
		}
	})
}

func isNative(r resource) bool { return strings.HasSuffix(r.name("ClientName"), "-native") }

// TestNativeAppsSignIn: a room with native apps has a client for them, if the stage has their addresses: without a
// secret, and with refresh tokens that rotate, for which Cognito must not allow the flow that does not.
func TestNativeAppsSignIn(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		clients := slices.DeleteFunc(tmpl.of("AWS::Cognito::UserPoolClient"), func(r resource) bool { return !isNative(r) })
		if want := tmpl.Room.Native && len(tmpl.Stage.Apps) > 0; (len(clients) == 1) != want {
			t.Fatalf("there are %d clients", len(clients))
		}
		for _, client := range clients {
			same(t, "the client of "+tmpl.Room.Name, []string{
				fmt.Sprint(many(client.at("CallbackURLs"))), fmt.Sprint(many(client.at("LogoutURLs"))), fmt.Sprint(client.at("GenerateSecret")),
				fmt.Sprint(many(client.at("AllowedOAuthFlows"))), fmt.Sprint(many(client.at("AllowedOAuthScopes"))),
				fmt.Sprint(many(client.at("ExplicitAuthFlows"))), fmt.Sprint(client.at("EnableTokenRevocation")),
				fmt.Sprint(client.at("RefreshTokenRotation")), fmt.Sprint(client.at("TokenValidityUnits")),
				fmt.Sprint(client.at("AccessTokenValidity"), client.at("IdTokenValidity"), client.at("RefreshTokenValidity")),
			}, []string{
				fmt.Sprint(tmpl.Stage.Apps), fmt.Sprint(tmpl.Stage.Apps), "false", "[code]", "[openid email]", "[ALLOW_CUSTOM_AUTH]", "true",
				"map[Feature:ENABLED RetryGracePeriodSeconds:60]", "map[AccessToken:minutes IdToken:minutes RefreshToken:days]", "15 15 90",
			})
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

// The references to the keys by which CloudFront proves itself: in production the second,
// after which the first is still accepted.
const (
	keyOne   = "{{resolve:secretsmanager:prod/cdn/key1:SecretString}}"
	keyTwo   = "{{resolve:secretsmanager:prod/cdn/key2:SecretString}}"
	keyOfTry = "{{resolve:secretsmanager:try/cdn/key1:SecretString}}"
)

// TestEdge: with cdn=true, and only then, one distribution is in front of all rooms,
// behind a firewall. What is cached is what anyone may read.
func TestEdge(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		all := tmpl.of("AWS::CloudFront::Distribution")
		if want := tmpl.Room.Name == edge.Name; (len(all) == 1) != want {
			t.Fatalf("there are %d distributions", len(all))
		}
		for _, d := range all {
			if acl := tmpl.plain(d.at("DistributionConfig", "WebACLId")); acl != "WebACL "+tmpl.Name {
				t.Errorf("its firewall is %s", acl)
			}
			var rules []string
			for _, r := range many(tmpl.of("AWS::WAFv2::WebACL")[0].at("Rules")) {
				r := r.(map[string]any)
				rules = append(rules, fmt.Sprint(r["Action"], r["OverrideAction"], r["Statement"]))
			}
			same(t, "the firewall", rules, []string{
				"<nil> map[None:map[]] map[ManagedRuleGroupStatement:map[Name:AWSManagedRulesCommonRuleSet " +
					"RuleActionOverrides:[map[ActionToUse:map[Count:map[]] Name:SizeRestrictions_BODY]] VendorName:AWS]]",
				"map[Block:map[]] <nil> map[RateBasedStatement:map[AggregateKeyType:IP Limit:10000]]",
			})
			behaviors := many(d.at("DistributionConfig", "CacheBehaviors"))
			otherwise := d.at("DistributionConfig", "DefaultCacheBehavior")
			for _, b := range append(slices.Clone(behaviors), otherwise) {
				b := resource{Properties: b.(map[string]any)}
				cached := b.at("CachePolicyId", "Ref") != nil
				if !cached && (b.at("CachePolicyId") != "4135ea2d-6df8-44a3-9df3-4b5a84be39ad" ||
					b.at("OriginRequestPolicyId") != "b689b0a8-53d0-40ab-baf2-68738e2966ac" || b.at("ResponseHeadersPolicyId") != nil) {
					t.Errorf("%v is neither cached nor passed through by CachingDisabled and AllViewerExceptHostHeader: %v",
						b.at("PathPattern"), b.Properties)
				}
				if cached && (b.at("OriginRequestPolicyId", "Ref") == nil || b.at("ResponseHeadersPolicyId", "Ref") == nil) {
					t.Errorf("%v is cached with what the viewer chooses: %v", b.at("PathPattern"), b.Properties)
				}
				if b.at("ViewerProtocolPolicy") != "https-only" || len(many(b.at("AllowedMethods"))) != 7 {
					t.Errorf("%v is served by %v of %v", b.at("PathPattern"), b.at("ViewerProtocolPolicy"), b.at("AllowedMethods"))
				}
			}
			queries := map[any][]string{} // by policy
			for _, room := range tmpl.Rooms {
				for _, f := range room.Functions {
					on, ok := f.On.(spec.Route)
					if !ok {
						continue
					}
					path := "/" + room.Name + regexp.MustCompile(`\{[^/]*\}`).ReplaceAllString(on.Path, "1")
					i := slices.IndexFunc(behaviors, func(b any) bool { // the first pattern that fits
						pattern := b.(map[string]any)["PathPattern"].(string)
						return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(path)
					})
					if i < 0 {
						t.Errorf("no pattern fits %s", path)
						continue
					}
					b := resource{Properties: behaviors[i].(map[string]any)}
					if b.at("TargetOriginId") != room.Name {
						t.Errorf("%s is of the origin %v", path, b.at("TargetOriginId"))
					}
					cached := b.at("CachePolicyId", "Ref") != nil
					if on.Method == "GET" && cached != (on.Auth == spec.Public) {
						t.Errorf("GET %s is for %s, and is cached: %v", path, on.Auth, cached)
					}
					if on.Auth == spec.Public && cached {
						queries[b.at("CachePolicyId", "Ref")] = append(queries[b.at("CachePolicyId", "Ref")], on.Queries...)
					}
				}
			}
			policies := slices.DeleteFunc(slices.Sorted(maps.Keys(tmpl.Resources)), func(id string) bool {
				return tmpl.Resources[id].Type != "AWS::CloudFront::CachePolicy"
			})
			if len(policies) != len(queries) {
				t.Errorf("%d cache policies for the routes of %d", len(policies), len(queries))
			}
			for i, id := range policies {
				all := queries[id]
				slices.Sort(all)
				all = slices.Compact(all)
				if len(all) == 0 || len(all) > 10 {
					t.Errorf("CloudFront takes 1 to 10 query parameters, not %q", all)
				}
				name := tmpl.Name
				if i > 0 {
					name += fmt.Sprint("-", i+1)
				}
				tmpl.compare(t, "the cache's key", tmpl.Resources[id].Properties,
					map[string]any{"CachePolicyConfig": map[string]any{
						"Name": name, "MinTTL": 0, "DefaultTTL": 2, "MaxTTL": 3600, "ParametersInCacheKeyAndForwardedToOrigin": map[string]any{
							"EnableAcceptEncodingBrotli": true, "EnableAcceptEncodingGzip": true, "CookiesConfig": map[string]any{"CookieBehavior": "none"},
							"HeadersConfig":      map[string]any{"HeaderBehavior": "none"},
							"QueryStringsConfig": map[string]any{"QueryStringBehavior": "whitelist", "QueryStrings": all},
						},
					}})
			}
			// A query parameter that is passed on without being in the key could have the
			// refusal of one request answer others.
			tmpl.compare(t, "what else the API gets", tmpl.of("AWS::CloudFront::OriginRequestPolicy")[0].Properties,
				map[string]any{"OriginRequestPolicyConfig": map[string]any{
					"Name":               tmpl.Name,
					"CookiesConfig":      map[string]any{"CookieBehavior": "none"},
					"QueryStringsConfig": map[string]any{"QueryStringBehavior": "none"},
					"HeadersConfig":      map[string]any{"HeaderBehavior": "allExcept", "Headers": []any{"Host"}},
				}})
			// A cached answer has the headers of the page that asked first. The same pages may
			// read what is cached and what is not.
			tmpl.compare(t, "CORS", tmpl.of("AWS::CloudFront::ResponseHeadersPolicy")[0].Properties,
				map[string]any{"ResponseHeadersPolicyConfig": map[string]any{
					"Name": tmpl.Name, "CorsConfig": map[string]any{
						"OriginOverride": true, "AccessControlAllowCredentials": !slices.Contains(tmpl.Stage.Origins, "*"), "AccessControlMaxAgeSec": 3600,
						"AccessControlAllowOrigins": map[string]any{"Items": tmpl.Stage.Origins},
						"AccessControlAllowMethods": map[string]any{"Items": []any{"GET", "POST", "PUT", "PATCH", "DELETE"}},
						"AccessControlAllowHeaders": map[string]any{
							"Items": []any{"authorization", "content-type", "idempotency-key", "if-match", "if-none-match"},
						},
						"AccessControlExposeHeaders": map[string]any{"Items": []any{"etag", "retry-after"}},
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

// TestDirectAddressIsClosed: CloudFront sends the current key to the API of each room,
// whose functions accept it and, after a change, the one before. Secrets Manager makes
// up the keys. Without cdn=true there are none.
func TestDirectAddressIsClosed(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		var secrets, want []string
		for _, s := range tmpl.of("AWS::SecretsManager::Secret") {
			if s.at("GenerateSecretString") == nil {
				continue
			}
			secrets = append(secrets, s.name("Name"))
			if s.at("SecretString") != nil || s.at("GenerateSecretString", "PasswordLength") != 43.0 ||
				s.at("GenerateSecretString", "ExcludePunctuation") != true {
				t.Errorf("a key is %v", s.Properties)
			}
		}
		if tmpl.Room.Name == "" {
			want = map[string][]string{"prod": {"prod/cdn/key1", "prod/cdn/key2"}, "try": {"try/cdn/key1"}}[tmpl.Stage.Name]
		}
		same(t, "keys", secrets, want)
		if !tmpl.Stage.CDN && strings.Contains(tmpl.text, "resolve:secretsmanager") {
			t.Error("there is a key, and no CDN")
		}
		for _, d := range tmpl.of("AWS::CloudFront::Distribution") {
			var got, want []string
			for _, o := range many(d.at("DistributionConfig", "Origins")) {
				o := resource{Properties: o.(map[string]any)}
				headers := many(o.at("OriginCustomHeaders"))
				if len(headers) != 1 || o.at("CustomOriginConfig", "OriginProtocolPolicy") != "https-only" {
					t.Errorf("an origin is %v", o.Properties)
					continue
				}
				h := headers[0].(map[string]any)
				got = append(got, fmt.Sprintf("%v at %s with %v: %v", o.at("Id"), tmpl.plain(o.at("DomainName")), h["HeaderName"], h["HeaderValue"]))
			}
			for _, room := range tmpl.Rooms {
				key := map[string]string{"prod": keyTwo, "try": keyOfTry}[tmpl.Stage.Name]
				want = append(want, fmt.Sprintf("%s at {%s}.execute-api.us-east-1.amazonaws.com with x-matchday-cdn: %s", room.Name,
					tmpl.Stage.Parameter("api/"+room.Name), key))
			}
			same(t, "origins", got, want)
		}
	})
}

// TestDomain: the stage's domain leads to the distribution if there is one, else to the
// APIs.
func TestDomain(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		var got, want []string
		for _, d := range tmpl.of("AWS::ApiGatewayV2::DomainName") {
			got = append(got, "API Gateway: "+d.name("DomainName"))
		}
		for _, d := range tmpl.of("AWS::CloudFront::Distribution") {
			for _, alias := range many(d.at("DistributionConfig", "Aliases")) {
				got = append(got, fmt.Sprint("CloudFront: ", alias))
				tmpl.compare(t, "its certificate", d.at("DistributionConfig", "ViewerCertificate"), map[string]any{
					"AcmCertificateArn": tmpl.Stage.Certificate, "SslSupportMethod": "sni-only", "MinimumProtocolVersion": "TLSv1.2_2021",
				})
			}
		}
		switch {
		case tmpl.Stage.Domain == "":
		case tmpl.Stage.CDN && tmpl.Room.Name == edge.Name:
			want = []string{"CloudFront: " + tmpl.Stage.Domain}
		case !tmpl.Stage.CDN && tmpl.Room.Name == "":
			want = []string{"API Gateway: " + tmpl.Stage.Domain}
		}
		same(t, "domain", got, want)
		if _, ok := tmpl.Outputs["DomainTarget"]; ok != (want != nil) {
			t.Errorf("it says what the domain is to be a CNAME of: %t", ok)
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

// TestStageSettings: production of the tests sets what a stage may set, the others leave
// the defaults.
func TestStageSettings(t *testing.T) {
	each(t, func(t *testing.T, tmpl template) {
		rate, mail, closed, units, budget := 500.0, any(nil), false, 12_000.0, 0
		if tmpl.Stage.Name == "prod" {
			rate, closed, units, budget = 50, true, 900, 1
			mail = map[string]any{
				"EmailSendingAccount": "DEVELOPER",
				"From":                "hello@example.com",
				"SourceArn":           "arn:aws:ses:us-east-1:123456789012:identity/example.com",
			}
		}
		for _, s := range tmpl.of("AWS::ApiGatewayV2::Stage") {
			if got := s.at("DefaultRouteSettings", "ThrottlingRateLimit"); got != rate {
				t.Errorf("the API takes %v requests a second, want %v", got, rate)
			}
		}
		for _, p := range tmpl.of("AWS::Cognito::UserPool") {
			tmpl.compare(t, "mail of "+p.name("UserPoolName"), p.at("EmailConfiguration"), mail)
			admins := p.name("UserPoolName") == tmpl.Stage.Stack("administrators")
			if got := p.at("AdminCreateUserConfig", "AllowAdminCreateUserOnly"); got != (closed || admins) {
				t.Errorf("only administrators add users to %s: %v", p.name("UserPoolName"), got)
			}
		}
		if got := float64(tmpl.Stage.Reads); got != units {
			t.Errorf("a table reads at most %v units a second, want %v", got, units)
		}
		if tmpl.Room.Name == "" {
			if got := len(tmpl.of("AWS::Budgets::Budget")); got != budget {
				t.Errorf("there are %d budgets, want %d", got, budget)
			}
		}
	})
}
