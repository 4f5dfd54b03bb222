import { canonicalGroup } from '../api/dialect.ts';
import type { Logger } from '../observability/logger.ts';
import { refuseWorkers } from '../proxy/confined-pages.ts';
import type { AuthorizedRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { type BackendTransport, encodePath } from '../request/backend.ts';
import { plainAnswer } from '../request/plain-answer.ts';
import type { RemoteVersion } from './managed-api-services.ts';
import { passOn } from './pass-on.ts';
import type { RemoteVersions } from './remote-versions.ts';
import type { ServiceResolver } from './service-resolver.ts';

interface RemoteProxyParts {
  readonly remote: Pick<RemoteVersions, 'isEmpty' | 'find'>;
  readonly resolver: Pick<ServiceResolver, 'resolve'>;
  readonly transport: BackendTransport;
  /** --aggregator-reject-forwarding-redirect */
  readonly rejectsRedirects: boolean;
  /** --sandbox-proxied-pages */
  readonly sandboxesPages: boolean;
  /** The feature RemoteRequestHeaderUID. */
  readonly tellsUid: boolean;
  readonly logger: Logger;
}

/** Answers requests for other servers' resources; undefined for all others. */
export type RemoteHandler = (request: AuthorizedRequest) => Promise<ApiResponse> | undefined;

/** Forwards requests to other servers, with their users (Kubernetes: kube-aggregator, handler_proxy.go). */
export function createRemoteProxy(parts: RemoteProxyParts): RemoteHandler {
  return (request) => {
    if (parts.remote.isEmpty) return undefined;
    const found = findVersion(parts.remote, request);
    return found === undefined ? undefined : pass(parts, found, request);
  };
}

function findVersion(
  remote: Pick<RemoteVersions, 'find'>,
  { target, path }: AuthorizedRequest,
): RemoteVersion | undefined {
  if (target !== undefined) return remote.find(target.group, target.version);
  const [root, ...parts] = path.replace(OPENAPI, '/').split('/').filter(Boolean);
  if (root === 'api' && parts.length === 1) return remote.find('', parts[0] ?? '');
  if (root !== 'apis' || parts.length !== 2) return undefined;
  return remote.find(canonicalGroup(parts[0] ?? '').group, parts[1] ?? '');
}

/** The path prefix of a group version's document. */
const OPENAPI = /^\/openapi\/v3\//;

async function pass(
  { resolver, logger, transport, rejectsRedirects, sandboxesPages, tellsUid }: RemoteProxyParts,
  { isAvailable, service, tls }: RemoteVersion,
  request: AuthorizedRequest,
): Promise<ApiResponse> {
  refuseWorkers(request);
  if (!isAvailable) return plainAnswer(503, UNAVAILABLE);
  let address: { readonly host: string; readonly port: number };
  try {
    address = await resolver.resolve(service);
  } catch (error) {
    logger.error(`error resolving ${service.namespace}/${service.name}`, error);
    return plainAnswer(503, UNAVAILABLE);
  }
  const follows = (location: string): boolean => !rejectsRedirects || isOfDocument(request, location);
  const pages = { prefix: encodePath(versionPath(request.path)), isSandboxed: sandboxesPages };
  return passOn(transport, { ...address, tls }, request, { follows, pages, tellsUid });
}

/** `/apis/metrics.k8s.io/v1beta1/nodes` → `/apis/metrics.k8s.io/v1beta1` */
const versionPath = (path: string): string => VERSION_PATH.exec(path)?.[0] ?? path;
const VERSION_PATH = /^\/api\/[^/]+|^\/apis\/[^/]+\/[^/]+/;

const UNAVAILABLE = 'service unavailable';

/** A renamed document redirects to its new name, and nowhere else. */
const isOfDocument = ({ path }: AuthorizedRequest, location: string): boolean =>
  OPENAPI.test(path) && location.startsWith(`${path}?`);
