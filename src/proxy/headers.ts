import type { ApiRequest } from '../request/api-request.ts';
import type { BackendAnswer } from '../request/backend.ts';
import { foldedName } from '../request/header-names.ts';

/** Filters the headers of forwarded requests and answers. Lists are names and values in turn. */

/** RFC 9110, section 7.6.1: headers of one connection only. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers that identify the caller to this server, and those by which this server speaks for callers to others. A backend that got
 * them from a client would believe the client.
 */
const CREDENTIALS = /^(authorization|impersonate-.*|x-remote-(user|group|uid|extra-.*))$/;
/** Headers that the transport or servers set themselves. */
const OWN = /^(host|expect|content-length|x-forwarded-(for|uri)|x-kubernetes-apiserver-rerouted)$/;
/** The transport sets the length. */
const LENGTH = 'content-length';
/** RFC 9110, section 7.6.1: fields for all recipients, which a Connection header cannot remove. */
const END_TO_END = /^(host|content-.*|cookie|origin|sec-.*|x-forwarded-.*)$/;
const BEARER_PROTOCOL = 'base64url.bearer.authorization.';

function* pairs(raw: readonly string[]): Generator<[name: string, value: string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at] ?? '', raw[at + 1] ?? ''];
}

/** Names that the Connection header declares to belong to this connection. */
function connectionNames(connection: string | undefined): Set<string> {
  const names = (connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return new Set(names.filter((name) => !END_TO_END.test(name)));
}

/** Whether a client's header is dropped. A program that folds names would read `X_Remote_User` as set by this server. */
function staysHere(key: string): boolean {
  const folded = foldedName(key);
  if (HOP_BY_HOP.has(folded) || CREDENTIALS.test(folded)) return true;
  return OWN.test(folded) && key !== LENGTH;
}

/**
 * A request's headers for a backend. An upgrade keeps the two headers that ask for it, and all headers about protocols.
 */
export function forwardedHeaders(request: ApiRequest): string[] {
  const { raw, headers } = request;
  const dropped = connectionNames(headers.connection);
  const forwarded: string[] = [];
  for (const [name, value] of pairs(raw.headers)) {
    const key = name.toLowerCase();
    if (key.startsWith(':') || dropped.has(key) || staysHere(key)) continue;
    // A stage that removed a header did so because the header was for this server.
    if (headers[key] === undefined) continue;
    const kept = key === 'sec-websocket-protocol' ? withoutBearer(value) : value;
    if (kept !== '' || value === '') forwarded.push(name, kept);
  }
  const host = headers.host ?? String(headers[':authority'] ?? '');
  if (host !== '') forwarded.unshift('Host', host);
  forwarded.push('X-Forwarded-For', forwardedFor(request));
  if (raw.upgrade !== '') forwarded.push('Connection', 'Upgrade', 'Upgrade', headers.upgrade ?? raw.upgrade);
  return forwarded;
}

/** The headers of a websocket request, turned into those of a SPDY request. */
export function spdyHeaders(request: ApiRequest, protocols: readonly string[]): string[] {
  const kept: string[] = [];
  for (const [name, value] of pairs(forwardedHeaders(request))) {
    if (!OF_UPGRADE.test(name)) kept.push(name, value);
  }
  const offers = protocols.flatMap((protocol) => ['X-Stream-Protocol-Version', protocol]);
  return [...kept, 'Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1', ...offers, 'Content-Length', '0'];
}

const OF_UPGRADE = /^(sec-websocket-.*|connection|upgrade|x-stream-protocol-version|content-length)$/i;

function forwardedFor({ headers, sourceAddress }: ApiRequest): string {
  const before = headers['x-forwarded-for'];
  const list = typeof before === 'string' ? before : (before ?? []).join(', ');
  return list === '' ? sourceAddress : `${list}, ${sourceAddress}`;
}

function withoutBearer(protocols: string): string {
  const kept = protocols.split(',').filter((protocol) => !protocol.trim().startsWith(BEARER_PROTOCOL));
  return kept.join(',').trim();
}

/** CORS is this server's decision (--cors-allowed-origins), not a backend's. */
const CORS = /^access-control-allow-(credentials|headers|methods|origin)$/;

/** An answer's headers for the client; repeated ones as a list. */
export function answeredHeaders({ rawHeaders, headers }: BackendAnswer): Record<string, string | string[]> {
  const dropped = connectionNames(headers.connection);
  const answered: Record<string, string | string[]> = {};
  for (const [name, value] of pairs(rawHeaders)) {
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || dropped.has(key) || CORS.test(key)) continue;
    const before = answered[key];
    if (before === undefined) answered[key] = value;
    else answered[key] = [...(typeof before === 'string' ? [before] : before), value];
  }
  return answered;
}
