import type { UserInfo } from '../../request/api-request.ts';

/** User names of service accounts (Kubernetes: authentication/serviceaccount). */
const PREFIX = 'system:serviceaccount:';
const ALL = 'system:serviceaccounts';

export interface AccountName {
  readonly namespace: string;
  readonly name: string;
}

export const toUsername = ({ namespace, name }: AccountName): string => `${PREFIX}${namespace}:${name}`;

export const groupsOf = (namespace: string): string[] => [ALL, `${ALL}:${namespace}`];

const LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const USERNAME = new RegExp(`^${PREFIX}(${LABEL}):(${LABEL}(?:\\.${LABEL})*)$`);

/** Undefined for any other user. */
export function parseUsername(username: string): AccountName | undefined {
  const [, namespace, name] = USERNAME.exec(username) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

export function toUser(account: AccountName, uid: string, extra: UserInfo['extra'] = {}): UserInfo {
  return { username: toUsername(account), uid, groups: groupsOf(account.namespace), extra };
}
