import type { Authentication, Authenticator, Credentials } from './authenticator.ts';
import type { TokenAuthenticator } from './token.ts';

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
