export { type Client, type Options, type Retry, type Success, connect } from "./client.js";
export { Problem, type Detail } from "./problem.js";
export { Session, SignedOut, type TokenStore, type Tokens, refreshAt } from "./session.js";
