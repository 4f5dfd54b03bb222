import type { UserInfo } from '../request/api-request.ts';

/** Characters of header names (RFC 9110, section 5.6.2); a percent sign begins an escape. */
const PLAIN = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;

/**
 * The headers that tell another server who is calling (Kubernetes: client-go/transport, SetAuthProxyHeaders), names and values in
 * turn. They count there because of the certificate that this server presents. `tellsUid`: the feature RemoteRequestHeaderUID.
 *
 *     {username: 'ann', groups: ['dev'], extra: {'example.com/team': ['a']}}
 *       → X-Remote-User: ann, X-Remote-Group: dev, X-Remote-Extra-example.com%2Fteam: a
 */
export function userHeaders({ username, uid, groups, extra }: UserInfo, tellsUid = false): string[] {
  const headers = ['X-Remote-User', inBytes(username)];
  if (tellsUid && uid !== '') headers.push('X-Remote-Uid', inBytes(uid));
  for (const group of groups) headers.push('X-Remote-Group', inBytes(group));
  for (const [key, values] of Object.entries(extra))
    for (const value of values) headers.push(`X-Remote-Extra-${escaped(key)}`, inBytes(value));
  return headers;
}

/** Node writes each character of a header as one byte. */
const inBytes = (text: string): string => Buffer.from(text).toString('latin1');

function escaped(key: string): string {
  let name = '';
  for (const byte of Buffer.from(key)) {
    const letter = String.fromCharCode(byte);
    name += PLAIN.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return name;
}

/** This server's user for its own requests to others. */
export const AGGREGATOR: UserInfo = {
  username: 'system:kube-aggregator',
  uid: '',
  groups: ['system:masters'],
  extra: {},
};
