import { UsageError } from '../options/flag.ts';
import type { RoleNames } from '../storage/postgres/migration/roles.ts';

/** The prefix for a cluster without --kvstore-prefix. */
export const ROLE_PREFIX = 'apiserver';
/** PostgreSQL's limit. */
const MAX_BYTES = 63;

/**
 * Parses --roles: empty, a prefix, or three names.
 *
 *     parseRoleNames('kube')      → kube_migrator, kube_server, kube_reader
 *     parseRoleNames('dba,k8s,bi') → dba, k8s, bi
 * @throws UsageError
 */
export function parseRoleNames(value: string = ROLE_PREFIX): RoleNames {
  const words = value.split(',');
  const [migrator = '', server = '', reader = ''] =
    words.length === 1 ? ['migrator', 'server', 'reader'].map((role) => `${value}_${role}`) : words;
  const names = [migrator, server, reader];
  const isSound = words.length === 1 || (words.length === 3 && new Set(names).size === 3);
  if (!isSound || words.includes('') || !names.every(isName)) {
    throw new UsageError(
      `--roles: ${JSON.stringify(value)} is neither what the names begin with, such as ${ROLE_PREFIX}, nor three different names: ` +
        `migrator,server,reader, of at most ${MAX_BYTES} bytes, none of which is public or begins with pg_`,
    );
  }
  return { migrator, server, reader };
}

/** PostgreSQL reserves some names. */
const isName = (name: string): boolean =>
  Buffer.byteLength(name) <= MAX_BYTES && !/^pg_|^(public|none)$|[\0\s]/.test(name);
