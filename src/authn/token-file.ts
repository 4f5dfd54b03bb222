import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { UserInfo } from '../request/api-request.ts';
import type { TokenAuthenticator } from './token.ts';

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
