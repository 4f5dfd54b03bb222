import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import type { UserInfo } from '../request/api-request.ts';
import { getOrAdd } from '../util/get-or-add.ts';
import { type Authentication, type Authenticator, type Credentials, joinErrors } from './authenticator.ts';

/** Finds the owner of a token. Undefined: the token is of another kind. */
export interface TokenAuthenticator {
  /**
   * `audiences`: the token must be for at least one of them.
   * @throws Error for a wrong token of its kind
   */
  authenticate(
    token: string,
    audiences: readonly string[],
  ): Promise<Authentication | undefined> | Authentication | undefined;
}

/** The first authenticator that knows a token decides; without one, the errors are joined. */
export function createTokenUnion(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  return {
    authenticate: async (token, audiences) => {
      const errors: unknown[] = [];
      for (const authenticator of authenticators) {
        try {
          const found = await authenticator.authenticate(token, audiences);
          if (found !== undefined) return found;
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw joinErrors(errors);
      return undefined;
    },
  };
}

export const intersect = (some: readonly string[], others: readonly string[]): string[] =>
  some.filter((one) => others.includes(one));

/** Tokens without audiences are for this server alone. */
export function forAudiences(implicit: readonly string[], tokens: TokenAuthenticator): TokenAuthenticator {
  return {
    authenticate: async (token, asked) => {
      const audiences = intersect(implicit, asked);
      if (audiences.length === 0) return undefined;
      const found = await tokens.authenticate(token, asked);
      return found === undefined ? undefined : { ...found, audiences };
    },
  };
}

const INVALID = 'invalid bearer token';
/** Browsers cannot set headers on websockets: a token may come as one of the offered protocols. */
const PROTOCOLS = ['base64url.bearer.authorization.k8s.io.', 'base64url.bearer.authorization.cluster.io.'];

/** `Authorization: Bearer …`, or the protocol of a websocket. */
export function createBearerAuthenticator(
  tokens: TokenAuthenticator,
  apiAudiences: readonly string[],
): Authenticator {
  return {
    authenticate: async (credentials) => {
      const offered = readProtocols(credentials);
      const token = readHeader(credentials) ?? offered?.token;
      if (token === undefined) return undefined;
      const found = await check(tokens, token, credentials.audiences ?? apiAudiences);
      // Backends must not see the token, nor choose it as the protocol.
      if (offered !== undefined) credentials.headers['sec-websocket-protocol'] = offered.others.join(',');
      return found;
    },
  };
}

async function check(
  tokens: TokenAuthenticator,
  token: string,
  audiences: readonly string[],
): Promise<Authentication> {
  const found = await tokens.authenticate(token, audiences);
  if (found === undefined) throw new Error(INVALID);
  return found;
}

/** Other schemes than Bearer are ignored. */
function readHeader({ headers }: Credentials): string | undefined {
  return /^ *bearer +([^ ]+)/i.exec(headers.authorization ?? '')?.[1];
}

interface Offered {
  readonly token: string;
  /** The protocols that remain; one must, for the server to choose. */
  readonly others: readonly string[];
}

/** @throws Error for an invalid offer of a token */
function readProtocols({ headers }: Credentials): Offered | undefined {
  const protocols = headers['sec-websocket-protocol'];
  if (protocols === undefined || !isWebsocket(headers)) return undefined;
  const offered = protocols
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');
  const bearing = offered.filter((protocol) => prefixOf(protocol) !== undefined);
  const [bearer] = bearing;
  if (bearer === undefined) return undefined;
  if (bearing.length > 1) throw new Error('multiple base64.bearer.authorization tokens specified');
  const others = offered.filter((protocol) => protocol !== bearer);
  if (others.length === 0) throw new Error('missing additional subprotocol');
  return { token: decode(bearer.slice(prefixOf(bearer)?.length)), others };
}

const isWebsocket = (headers: Credentials['headers']): boolean =>
  /\bupgrade\b/i.test(headers.connection ?? '') && headers.upgrade?.toLowerCase() === 'websocket';

const prefixOf = (protocol: string): string | undefined =>
  PROTOCOLS.find((prefix) => protocol.startsWith(prefix));

function decode(encoded: string): string {
  if (!/^[\w-]+$/.test(encoded)) throw new Error('invalid base64.bearer.authorization token encoding');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64url'));
  } catch {
    throw new Error('invalid base64.bearer.authorization token');
  }
}

interface TokenCacheOptions {
  readonly tokens: TokenAuthenticator;
  /** How long a successful answer is cached, at most until the token expires. */
  readonly successTtlMs: number;
  /** How long the answer for an unknown token is cached. */
  readonly failureTtlMs: number;
  readonly now?: () => number;
}

interface Answer {
  readonly found: Authentication | undefined;
  readonly untilMs: number;
}

/** Kubernetes' bound: the tokens of 5,000 nodes and their pods. */
const CAPACITY = 32 * 1024;

/**
 * Caches answers about tokens, and asks once for concurrent requests. Stores tokens as keyed digests, so that attackers cannot
 * prepare colliding tokens. Errors are not cached, because they may pass.
 */
export class TokenCache implements TokenAuthenticator {
  readonly #options: TokenCacheOptions;
  readonly #secret = randomBytes(32);
  readonly #answers = new LRUCache<string, Answer>({ max: CAPACITY });
  readonly #asking = new Map<string, Promise<Authentication | undefined>>();

  constructor(options: TokenCacheOptions) {
    this.#options = options;
  }

  authenticate(
    token: string,
    audiences: readonly string[],
  ): Promise<Authentication | undefined> | Authentication | undefined {
    const key = createHmac('sha256', this.#secret)
      .update(JSON.stringify([token, audiences]))
      .digest('base64');
    const known = this.#answers.get(key);
    if (known !== undefined && known.untilMs > this.#now()) return known.found;
    return getOrAdd(this.#asking, key, () =>
      this.#ask(key, token, audiences).finally(() => this.#asking.delete(key)),
    );
  }

  async #ask(key: string, token: string, audiences: readonly string[]): Promise<Authentication | undefined> {
    const { tokens, successTtlMs, failureTtlMs } = this.#options;
    const found = await tokens.authenticate(token, audiences);
    const ttlMs = found === undefined ? failureTtlMs : successTtlMs;
    const untilMs = Math.min(this.#now() + ttlMs, found?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    if (untilMs > this.#now()) this.#answers.set(key, { found, untilMs });
    return found;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

/**
 * --token-auth-file: lines of `token,user,uid,"group1,group2"`, the groups optional. Read once, as Kubernetes does.
 * Tokens are compared by digest, so that the time of a comparison reveals nothing about them.
 * @throws Error that names the line
 */
export function readTokenFile(path: string): TokenAuthenticator {
  const users = new Map<string, UserInfo>();
  for (const [at, line] of readFileSync(path, 'utf8').split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [token = '', username = '', uid = '', groups = ''] = parseLine(line);
    if (token === '' || username === '') {
      throw new Error(`${path}, line ${at + 1}: expected token,user,uid and optionally "group1,group2"`);
    }
    const list = groups.split(',').map((group) => group.trim());
    users.set(digest(token), { username, uid, groups: list.filter((group) => group !== ''), extra: {} });
  }
  return {
    authenticate: (token) => {
      const user = users.get(digest(token));
      return user === undefined ? undefined : { user };
    },
  };
}

const digest = (token: string): string => createHash('sha256').update(token).digest('base64');

/** Comma separated; a value in double quotes may hold commas. */
function parseLine(line: string): string[] {
  return [...line.matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim(),
  );
}
