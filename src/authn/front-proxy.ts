import type { IncomingHttpHeaders } from 'node:http';
import { foldedName } from '../request/header-names.ts';
import { getOrAdd } from '../util/get-or-add.ts';
import type { Authentication, Authenticator, Credentials } from './authenticator.ts';
import type { CertificateAuthorities } from './client-certificate.ts';

/** The --requestheader flags: the headers in which a proxy in front of the server names the user that it authenticated. */
export interface FrontProxyHeaders {
  readonly usernames: readonly string[];
  readonly uids: readonly string[];
  readonly groups: readonly string[];
  /** Prefixes; the rest of the header's name is the key of an extra value. */
  readonly extra: readonly string[];
}

interface FrontProxyOptions {
  readonly authorities: CertificateAuthorities;
  /** Common names of proxies; empty: any certificate of the authorities. */
  readonly allowedNames: readonly string[];
  readonly headers: FrontProxyHeaders;
}

/** The headers count only from a peer with a proxy's certificate; from other peers they are ignored. */
export function createFrontProxyAuthenticator(options: FrontProxyOptions): Authenticator {
  const { authorities, allowedNames, headers } = options;
  return {
    authenticate: (credentials) => {
      if (credentials.peerCertificate === undefined) return undefined;
      const { commonName } = authorities.verify(credentials.peerCertificate);
      if (allowedNames.length > 0 && !allowedNames.includes(commonName)) {
        throw new Error(`x509: subject with cn=${commonName} is not in the allowed list`);
      }
      return readIdentity(credentials, headers);
    },
  };
}

function readIdentity(credentials: Credentials, headers: FrontProxyHeaders): Authentication | undefined {
  const values = (name: string): string[] => headerValues(credentials, name).filter((value) => value !== '');
  const [username] = headers.usernames.flatMap((name) => values(name).slice(0, 1));
  if (username === undefined) return undefined;
  const [uid = ''] = headers.uids.flatMap((name) => values(name).slice(0, 1));
  const groups = headers.groups.flatMap(values);
  return { user: { username, uid, groups, extra: readExtra(credentials, headers.extra) } };
}

function readExtra(credentials: Credentials, prefixes: readonly string[]): Record<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes.map((one) => one.toLowerCase())) {
    for (const [name, value] of headerEntries(credentials, (header) => header.startsWith(prefix))) {
      const key = decodeExtraKey(name.slice(prefix.length));
      getOrAdd(extra, key, () => []).push(value);
    }
  }
  return Object.fromEntries(extra);
}

/** Headers that are always removed, even if no proxy is configured. */
const STANDARD: FrontProxyHeaders = {
  usernames: ['x-remote-user'],
  uids: ['x-remote-uid'],
  groups: ['x-remote-group'],
  extra: ['x-remote-extra-'],
};

/** Removes the credentials of an authenticated request, so that no inner stage can use or forward them. */
export function createHeaderStripper(configured?: FrontProxyHeaders): (headers: IncomingHttpHeaders) => void {
  const all = configured === undefined ? [STANDARD] : [STANDARD, configured];
  const names = new Set(
    all.flatMap(({ usernames, uids, groups }) => [...usernames, ...uids, ...groups].map(foldedName)),
  );
  const prefixes = all.flatMap(({ extra }) => extra.map(foldedName));
  return (headers) => {
    delete headers.authorization;
    for (const name of Object.keys(headers)) {
      const folded = foldedName(name);
      if (names.has(folded) || prefixes.some((prefix) => folded.startsWith(prefix))) delete headers[name];
    }
  };
}

/**
 * Every value of a header that may be sent more than once, in order. The parsed headers join them with commas, and a comma
 * may be part of a value.
 */
export function headerValues({ raw }: Pick<Credentials, 'raw'>, name: string): string[] {
  return headerEntries({ raw }, (header) => header === name.toLowerCase()).map(([, value]) => value);
}

/** Names in lower case, with values. */
export function headerEntries(
  { raw }: Pick<Credentials, 'raw'>,
  wanted: (name: string) => boolean,
): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < raw.headers.length; at += 2) {
    const name = (raw.headers[at] ?? '').toLowerCase();
    if (wanted(name)) found.push([name, fromBytes(raw.headers[at + 1] ?? '')]);
  }
  return found;
}

/** Node gives each byte of a header as a character; names are in UTF-8. */
const fromBytes = (value: string): string =>
  /[\x80-\xff]/.test(value) ? Buffer.from(value, 'latin1').toString() : value;

/** Keys of extra values travel percent-encoded, because a header's name has few characters. */
export function decodeExtraKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
