/** Tokens are the tokens of a signed-in user. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
}

/** TokenStore keeps the tokens where the app keeps secrets. */
export interface TokenStore {
  /** Returns undefined if nobody is signed in. */
  load(): Promise<Tokens | undefined>;
  /** Resolves when the tokens survive the end of the app. */
  save(tokens: Tokens): Promise<void>;
}

/** SignedOut is the error of a call whose refresh token is no longer valid: the user has to sign in again. */
export class SignedOut extends Error {
  override readonly name = "SignedOut";
}

/**
 * Session has the tokens of one user. All clients of an app share one, because a refresh token can be valid once only:
 * calls that find their access token expired at the same time wait for one refresh.
 */
export class Session {
  private renewing: Promise<Tokens> | undefined;

  /** `refresh` exchanges a refresh token. It throws SignedOut if the token is not valid. */
  constructor(
    private readonly store: TokenStore,
    private readonly refresh: (refreshToken: string) => Promise<Tokens>,
  ) {}

  /** Returns the access token; undefined if nobody is signed in. */
  async accessToken(): Promise<string | undefined> {
    return (await this.store.load())?.accessToken;
  }

  /** Replaces an access token that was refused. The new tokens are stored before the new access token is returned. */
  async renew(refused: string): Promise<string> {
    this.renewing ??= this.replace(refused).finally(() => (this.renewing = undefined));

    return (await this.renewing).accessToken;
  }

  private async replace(refused: string): Promise<Tokens> {
    const old = await this.store.load();
    if (old !== undefined && old.accessToken !== refused) return old; // an earlier call has replaced it
    if (old?.refreshToken === undefined) throw new SignedOut("the session has no refresh token");

    const tokens = { refreshToken: old.refreshToken, ...(await this.refresh(old.refreshToken)) };
    await this.store.save(tokens);

    return tokens;
  }
}

/**
 * refreshAt returns the refresh of a user pool: `url` is its token endpoint, `https://DOMAIN/oauth2/token`, and
 * `clientId` the app's public client.
 */
export function refreshAt(url: string, clientId: string, fetch: typeof globalThis.fetch = globalThis.fetch) {
  return async (refreshToken: string): Promise<Tokens> => {
    const body = new URLSearchParams({ grant_type: "refresh_token", client_id: clientId, refresh_token: refreshToken });
    const response = await fetch(url, { method: "POST", body });
    if (response.status === 400 || response.status === 401) throw new SignedOut("the refresh token is not valid");
    if (!response.ok) throw new Error(`the token endpoint answers ${response.status}`);

    const answer = (await response.json()) as { access_token: string; refresh_token?: string };

    return { accessToken: answer.access_token, ...(answer.refresh_token === undefined ? {} : { refreshToken: answer.refresh_token }) };
  };
}
