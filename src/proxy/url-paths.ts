import { posix } from 'node:path';
import { encodePath } from '../request/backend.ts';

/** Paths and Location headers between the two sides of a proxy. */

/** The part of the client's path before the backend's path. Both are decoded. */
export function outerPrefix(clientPath: string, backendPath: string): string {
  const suffix = clientPath.endsWith('/') && !backendPath.endsWith('/') ? `${backendPath}/` : backendPath;
  return clientPath.endsWith(suffix) ? clientPath.slice(0, clientPath.length - suffix.length) : clientPath;
}

/** Joined and cleaned of `.`, `..` and doubled slashes, none of which leads out of the prefix; a slash at the end stays. */
export function joinPath(prefix: string, path: string): string {
  return path === '' ? prefix : prefix + posix.normalize(`/${path}`);
}

/** The part of a normalized path after the prefix; undefined for a path outside of it, or one that is not normalized. */
export function splitPath(path: string, prefix: string): string | undefined {
  if (posix.normalize(path) !== path) return undefined;
  if (path === prefix) return '';
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined;
}

interface LocationContext {
  /** From {@link outerPrefix}. */
  readonly prefix: string;
  /** The client's path, decoded. */
  readonly path: string;
  /** host:port of the backend. */
  readonly backendHost: string;
  /** The Host header that the backend saw. */
  readonly requestHost: string;
}

/**
 * Rewrites a redirect so that it leads through the proxy (Kubernetes: util/proxy, rewriteURL): an absolute path on the backend's
 * own host gets the prefix, and a relative one that would lead out of it as well; other relative paths and other hosts stay as they are.
 * Example: prefix `/api/v1/namespaces/a/services/b/proxy`, `http://10.0.0.1:80/login?x` → `/api/…/proxy/login?x`.
 */
export function rewriteLocation(location: string, context: LocationContext): string {
  const parsed = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is.exec(location);
  if (parsed === null) return location;
  const [, scheme, host = '', path = '', rest = ''] = parsed;
  const { prefix, backendHost, requestHost } = context;
  const foreign = host !== '' && host !== backendHost && host !== requestHost;
  if (foreign || path === '') return location;
  const decoded = decode(path) ?? path;
  const isRooted = path.startsWith('/');
  const target = isRooted ? decoded : resolved(decoded, context.path);
  const isWithin = splitPath(posix.normalize(target), prefix) !== undefined;
  if (!isRooted && (isWithin || scheme !== undefined)) return location;
  const origin = host !== '' && host === requestHost ? `${scheme ?? ''}${scheme ? ':' : ''}//${host}` : '';
  const within = isWithin ? posix.normalize(target) : joinPath(prefix, decoded);
  return `${origin}${rooted(encodePath(within))}${rest}`;
}

/** Resolves as browsers do, which treat `\` as `/`. */
const resolved = (relative: string, base: string): string =>
  `${base.slice(0, base.lastIndexOf('/') + 1)}${relative.replaceAll('\\', '/')}`;

/** Two slashes would begin the name of a host (RFC 3986, section 4.2). */
export const rooted = (path: string): string => path.replace(/^[/\\]+/, '/');

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
