import { parsePosition, toPosition } from './key.ts';
import type { Revision } from './revision.ts';
import { toRevision } from './revision.ts';

/**
 * Where a chunked list continues: unpadded base64url of `{"v":"meta.k8s.io/v1","rv":120,"start":"default/web\u0000"}`.
 *
 * The form is that of Kubernetes, because clients of the ecosystem look into tokens in their own tests. `start` is the last object
 * of the chunk before, followed by NUL: the smallest key after it. Cluster-scoped objects have no namespace part. A revision of -1
 * continues at the newest one (the token inside a 410).
 */
export interface ContinueToken {
  readonly revision: Revision | 'latest';
  /** Exclusive position (key.ts) after which the next chunk begins. */
  readonly after: string;
}

const TOKEN_VERSION = 'meta.k8s.io/v1';
/** No two names make a token this long; longer ones are not parsed. */
const MAX_TOKEN_CHARS = 4096;

export function encodeContinueToken({ revision, after }: ContinueToken): string {
  const { namespace, name } = parsePosition(after);
  const start = `${namespace === '' ? name : `${namespace}/${name}`}\0`;
  const rv = revision === 'latest' ? '-1' : revision.toString();
  // The revision may be larger than a JavaScript number holds exactly, so it is not passed through JSON.stringify.
  const json = `{"v":"${TOKEN_VERSION}","rv":${rv},"start":${JSON.stringify(start)}}`;
  return Buffer.from(json).toString('base64url');
}

/** Returns undefined unless {@link encodeContinueToken} made the token for a resource of this scope. */
export function parseContinueToken(token: string, namespaced: boolean): ContinueToken | undefined {
  if (token.length > MAX_TOKEN_CHARS || !/^[A-Za-z0-9_-]+$/.test(token)) return undefined;
  const json = Buffer.from(token, 'base64url').toString();
  const revision = parseRevisionField(json);
  const start = parseStart(json);
  if (revision === undefined || start === undefined) return undefined;
  const slash = start.indexOf('/');
  if (namespaced !== slash > 0) return undefined;
  const namespace = start.slice(0, Math.max(slash, 0));
  const name = start.slice(slash + 1);
  if (name === '' || name === '..' || name.includes('/')) return undefined;
  return { revision, after: toPosition({ namespace, name }) };
}

function parseRevisionField(json: string): Revision | 'latest' | undefined {
  const match = /"rv":(-1|[1-9][0-9]{0,18})[,}]/.exec(json);
  if (match?.[1] === undefined) return undefined;
  return match[1] === '-1' ? 'latest' : toRevision(match[1]);
}

function parseStart(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== 'object' || value === null) return undefined;
    if (!('v' in value) || value.v !== TOKEN_VERSION) return undefined;
    if (!('start' in value) || typeof value.start !== 'string') return undefined;
    return value.start.endsWith('\0') ? value.start.slice(0, -1) : undefined;
  } catch {
    return undefined;
  }
}
