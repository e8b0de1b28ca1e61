import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { refreshAt, Session, type Options, type Tokens, type TokenStore } from "../src/index.js";

/** World is a running fleet, in which one person plays a story of each room. */
export class World {
  /** A word for what the person makes: another client plays in the same fleet. */
  readonly tag = "ts";
  /** The address of the person. */
  readonly email = `tess-${this.tag}@example.com`;
  private readonly sessions = new Map<string, Session>();

  /** `fleet` is the fleet's address. `door` lets its time pass, and shows the mails. */
  constructor(
    private readonly fleet: string,
    private readonly door: string,
  ) {}

  /** The options of a client that sends the person's tokens. */
  user(room: string): Options {
    return { url: `${this.fleet}/${room}`, session: this.signIn(`user=${encodeURIComponent(this.email)}`) };
  }

  /** The options of a client that sends the tokens of an administrator of the room. */
  administrator(room: string): Options {
    return { url: `${this.fleet}/${room}`, session: this.signIn(`user=root&group=${room}-admin`) };
  }

  /** The options of a client in a browser, which keeps cookies. */
  browser(room: string): Options & { fetch: typeof fetch } {
    return { url: `${this.fleet}/${room}`, fetch: browse(this.fleet) };
  }

  /** The options of the app of a room on a phone, to which a user signs in at the user pool, in the browser of the system. */
  async phone(room: string, user: string): Promise<Options> {
    const pool = `${this.fleet}/identity/oauth2`;
    const client = { client_id: `local-${room}-app`, redirect_uri: `com.example.${room}:/signed-in` };
    const proof = randomBytes(32).toString("base64url");
    const challenge = createHash("sha256").update(proof).digest("base64url");

    const page = await fetch(`${pool}/authorize`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ ...client, response_type: "code", code_challenge: challenge, code_challenge_method: "S256", user }),
    });
    const back = new URL(page.headers.get("Location") ?? "none:");
    const code = back.searchParams.get("code");
    assert.ok(code, `the sign-in page answers ${page.status} and leads to ${back}`);

    const grant = new URLSearchParams({ ...client, grant_type: "authorization_code", code, code_verifier: proof });
    const response = await fetch(`${pool}/token`, { method: "POST", body: grant });
    const answer = (await response.json()) as { access_token: string; refresh_token: string };
    const store = memory({ accessToken: answer.access_token, refreshToken: answer.refresh_token });

    return { url: `${this.fleet}/${room}`, session: new Session(store, refreshAt(`${pool}/token`, client.client_id)) };
  }

  /** Lets time pass in the fleet, and returns its time. */
  async wait(seconds: number): Promise<Date> {
    return new Date(await this.ask(`/wait?seconds=${seconds}`));
  }

  /** Returns the text of the latest mail to an address. */
  mail(to: string): Promise<string> {
    return this.ask(`/mail?to=${encodeURIComponent(to)}`);
  }

  private async ask(path: string): Promise<string> {
    const response = await fetch(this.door + path, { method: "POST" });
    assert.equal(response.status, 200, `${path}: ${await response.clone().text()}`);

    return response.text();
  }

  // All rooms share the session of a person. The first call finds no valid token, and refreshes it.
  private signIn(query: string): Session {
    let session = this.sessions.get(query);
    if (session === undefined) {
      session = new Session(memory({ accessToken: "expired", refreshToken: query }), async (refreshToken) => {
        const response = await fetch(`${this.fleet}/dev/token?${refreshToken}`);
        const { access_token } = (await response.json()) as { access_token: string };

        return { accessToken: access_token };
      });
      this.sessions.set(query, session);
    }

    return session;
  }
}

// memory returns a store that forgets the tokens at the end.
function memory(tokens: Tokens): TokenStore {
  return { load: async () => tokens, save: async (saved) => void (tokens = saved) };
}

// browse returns the fetch of a browser: it keeps cookies, and sends the address of its page.
function browse(origin: string): typeof fetch {
  const cookies = new Map<string, string>();

  return async (input, init) => {
    const request = new Request(input, { ...init, redirect: "manual" });
    request.headers.set("Origin", origin);
    if (cookies.size > 0) request.headers.set("Cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));

    const response = await fetch(request);
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ""] = cookie.split(";");
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }

    return response;
  };
}
