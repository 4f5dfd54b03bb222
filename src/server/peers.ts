import { randomUUID } from 'node:crypto';
import { createPeerProxy } from '../aggregation/peer-proxy.ts';
import { PeerVersions } from '../aggregation/peer-versions.ts';
import type { RemoteHandler } from '../aggregation/remote-proxy.ts';
import { proxyClientFlags } from '../options/admission.ts';
import type { ServerOptions } from '../options/options.ts';
import { peerFlags } from '../options/serving.ts';
import { EitherTransport } from '../proxy/http2-transport.ts';
import { AgentCredentials } from '../proxy/node-transport.ts';
import { errorText } from '../util/error-text.ts';
import { createReminder } from '../util/reminder.ts';
import { findEndpointAddress } from './advertised-address.ts';
import type { Foundation } from './foundation.ts';
import type { Services } from './services.ts';
import type { StoragePhase } from './storage.ts';

/** The other servers of the cluster, for requests that only they can answer (UnknownVersionInteroperabilityProxy). */
interface PeerServers {
  readonly handler: RemoteHandler;
  /** Resolves when the others are known, and can know this one. */
  start(services: Services): Promise<void>;
  close(): void;
}

/** How long another server may take to accept a connection. Go's bound. */
const DIAL_TIMEOUT_MS = 30_000;

/** Undefined: the feature is off. @throws Error that names the flags */
export function createPeerServers(
  { registry, metrics, persistently, logger, describeOutage, isFeatureOn }: Foundation,
  { peers }: Pick<StoragePhase, 'peers'>,
  options: Pick<ServerOptions, 'admission' | 'serving'>,
): PeerServers | undefined {
  const { peers: flags, ...serving } = options.serving;
  if (flags === undefined) return undefined;
  const credentials = readCredentials(flags.caFile, options.admission.proxyClient);
  // The servers of a cluster are on one network: no egress is between them (Kubernetes has no context for them either).
  const transport = new EitherTransport({ credentials, timeoutMs: DIAL_TIMEOUT_MS, reusesConnections: true });
  const { advertiseAddress, bindAddress, securePort } = serving;
  const address = flags.advertiseIp || findEndpointAddress(advertiseAddress, bindAddress) || bindAddress;
  const port = Number(flags.advertisePort || securePort);
  const remind = createReminder((trouble) =>
    logger.warn('what the other servers of the cluster serve is not known', { trouble }),
  );
  const tellsUid = isFeatureOn('RemoteRequestHeaderUID');
  const versions = new PeerVersions({
    ...{ peers, registry, self: { server: randomUUID(), address, port } },
    onError: (error) => remind(describeOutage(error) ?? String(error)),
  });
  return {
    handler: createPeerProxy({ peers: versions, registry, transport, metrics, tellsUid }),
    start: async (services) => {
      await persistently(() => versions.renew());
      services.start('peers', 'upkeep', (signal) => versions.run(signal));
    },
    close: () => transport.close(),
  };
}

function readCredentials(
  caFile: string,
  { certFile, keyFile }: ServerOptions['admission']['proxyClient'],
): AgentCredentials {
  const { shown } = proxyClientFlags.certFile;
  if (certFile === '')
    throw new Error(
      `${shown} and ${proxyClientFlags.keyFile.shown} are needed with the feature gate UnknownVersionInteroperabilityProxy: by them the servers of a cluster know each other`,
    );
  try {
    return new AgentCredentials({ caFile, certFile, keyFile });
  } catch (error) {
    const flags = [peerFlags.caFile.shown, shown, proxyClientFlags.keyFile.shown].join(', ');
    throw new Error(`${flags}: ${errorText(error)}`, { cause: error });
  }
}
