import { posix } from 'node:path';
import { encodePath } from '../request/backend.ts';

/** Paths and Location headers between the two sides of a proxy. */

/** The part of the client's path before the backend's path. Both are decoded. */
export function outerPrefix(clientPath: string, backendPath: string): string {
  const suffix = clientPath.endsWith('/') && !backendPath.endsWith('/') ? `${backendPath}/` : backendPath;
  return clientPath.endsWith(suffix) ? clientPath.slice(0, clientPath.length - suffix.length) : clientPath;
}

/** Joined and cleaned of `.`, `..` and doubled slashes; a slash at the end stays. */
export function joinPath(prefix: string, path: string): string {
  return path === '' ? prefix : posix.normalize(`${prefix}/${path}`);
}

interface LocationContext {
  /** From {@link outerPrefix}. */
  readonly prefix: string;
  /** host:port of the backend. */
  readonly backendHost: string;
  /** The Host header that the backend saw. */
  readonly requestHost: string;
}

/**
 * Rewrites a redirect so that it leads through the proxy (Kubernetes: util/proxy, rewriteURL): an absolute path on the backend's
 * own host gets the prefix; relative paths and other hosts stay as they are.
 * Example: prefix `/api/v1/namespaces/a/services/b/proxy`, `http://10.0.0.1:80/login?x` → `/api/…/proxy/login?x`.
 */
export function rewriteLocation(location: string, context: LocationContext): string {
  const parsed = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is.exec(location);
  if (parsed === null) return location;
  const [, scheme, host = '', path = '', rest = ''] = parsed;
  const { prefix, backendHost, requestHost } = context;
  const foreign = host !== '' && host !== backendHost && host !== requestHost;
  if (foreign || !path.startsWith('/')) return location;
  const origin = host !== '' && host === requestHost ? `${scheme ?? ''}${scheme ? ':' : ''}//${host}` : '';
  const decoded = decode(path);
  if (decoded === undefined) return location;
  const within = decoded.startsWith(prefix) ? decoded : joinPath(prefix, decoded);
  return `${origin}${encodePath(within)}${rest}`;
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
