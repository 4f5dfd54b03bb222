import { serviceUnavailable } from '../api/status.ts';
import { Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Registry } from '../registry/registry.ts';
import type { AuthorizedRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { BackendTransport } from '../request/backend.ts';
import type { KnownPeer } from '../storage/peers.ts';
import { passOn } from './pass-on.ts';
import type { PeerVersions } from './peer-versions.ts';
import type { RemoteHandler } from './remote-proxy.ts';

/** Marks a request that was forwarded once, and must be answered here. The header is removed from clients' requests. */
const REROUTED = 'x-kubernetes-apiserver-rerouted';
/** The name in the certificate of every server of the cluster. */
const SERVER_NAME = 'kubernetes.default.svc';

interface PeerProxyParts {
  readonly peers: Pick<PeerVersions, 'find'>;
  readonly registry: Pick<Registry, 'find'>;
  readonly transport: BackendTransport;
  readonly metrics: Pick<Metrics, 'add'>;
  readonly random?: () => number;
  /** See {@link passOn}. */
  readonly tellsUid: boolean;
}

/**
 * Forwards requests for resources that this server does not know to a server of the cluster that does, with their users
 * (Kubernetes: apiserver, util/peerproxy). Undefined for all others.
 */
export function createPeerProxy(parts: PeerProxyParts): RemoteHandler {
  const { peers, registry, transport, metrics, tellsUid, random = Math.random } = parts;
  const rerouted = metrics.add(
    new Numbers('counter', {
      name: 'apiserver_rerouted_request_total',
      help: 'Requests that were handed to another server of the cluster, because this one does not serve the version.',
      labels: ['code'],
    }),
  );
  const handOver = async (request: AuthorizedRequest, live: readonly KnownPeer[]): Promise<ApiResponse> => {
    const peer = live[Math.floor(random() * live.length)];
    if (peer === undefined)
      throw serviceUnavailable('Error getting ip and port info of the remote server while proxying');
    const tls = { ca: undefined, serverName: SERVER_NAME, isVerified: true };
    const at = { host: peer.address, port: peer.port, tls };
    const answer = await passOn(transport, at, request, { headers: [REROUTED, 'true'], tellsUid });
    rerouted.at(String(answer.code)).add();
    return answer;
  };
  return (request) => {
    const { target, headers } = request;
    if (target === undefined || headers[REROUTED] !== undefined) return undefined;
    const { group, version, resource } = target;
    if (registry.find(group, version, resource) !== undefined) return undefined;
    const known = peers.find(group, version, resource);
    return known === undefined ? undefined : handOver(request, known.live);
  };
}
