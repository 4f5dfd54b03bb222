import { Availability } from '../aggregation/availability.ts';
import { KnownDocuments, type RemoteStates } from '../aggregation/known-documents.ts';
import { LocalApiServices } from '../aggregation/local-api-services.ts';
import { API_SERVICES } from '../aggregation/managed-api-services.ts';
import { RemoteDocuments } from '../aggregation/remote-documents.ts';
import { RemoteNamespaces } from '../aggregation/remote-namespaces.ts';
import { createRemoteProxy, type RemoteHandler } from '../aggregation/remote-proxy.ts';
import { RemoteVersions } from '../aggregation/remote-versions.ts';
import { ServiceResolver } from '../aggregation/service-resolver.ts';
import { type AdmissionOptions, proxyClientFlags } from '../options/admission.ts';
import type { ServerOptions } from '../options/options.ts';
import { EitherTransport } from '../proxy/http2-transport.ts';
import { AgentCredentials } from '../proxy/node-transport.ts';
import type { RemoteContents } from '../registry/remote-apis.ts';
import { Follower } from '../storage/follower.ts';
import type { KnownPeer } from '../storage/peers.ts';
import { errorText } from '../util/error-text.ts';
import { inTime } from '../util/in-time.ts';
import type { Foundation } from './foundation.ts';
import { createPeerServers } from './peers.ts';
import { createPhase, type Phase } from './phase.ts';
import type { Services } from './services.ts';
import type { ServedStorage } from './storage.ts';
import type { WritingPhase } from './writing.ts';

/** The fourth phase: which other servers serve a part of the API, and the way to them. */
export interface AggregationPhase extends Phase {
  readonly remoteProxy: RemoteHandler;
  readonly remoteApis: KnownDocuments;
  readonly remoteContents: RemoteContents;
  /** The other servers of the cluster, as far as requests are handed to them. */
  knownPeers(): readonly KnownPeer[];
}

/** The main thread, which checks other servers, reads their documents, and keeps the objects. */
interface AggregationElsewhere {
  /** Asks for other servers' documents, and for word of each change from then on. */
  documents(): Promise<RemoteStates>;
}

interface AggregationParts {
  readonly storage: ServedStorage;
  readonly writing: WritingPhase;
  /** Undefined: this is the main thread. */
  readonly elsewhere?: AggregationElsewhere;
}

/** How long a start waits for other servers' discovery. Servers without an answer are listed as stale. */
const PATIENCE_MS = 2000;
/** How long another server may take to accept a connection. Go's bound. */
const DIAL_TIMEOUT_MS = 30_000;

/** @throws Error that names the flags */
export function createAggregation(
  foundation: Foundation,
  { storage, writing, elsewhere }: AggregationParts,
  { admission, serving }: Pick<ServerOptions, 'admission' | 'serving'>,
): AggregationPhase {
  const { logger, startup, egress } = foundation;
  const { store } = storage;
  const services = foundation.services.branch();
  const remote = new RemoteVersions();
  const resolver = new ServiceResolver(store, serving.enableAggregatorRouting);
  const credentials = readCredentials(admission.proxyClient);
  const transport = new EitherTransport({
    credentials,
    timeoutMs: DIAL_TIMEOUT_MS,
    reusesConnections: true,
    dial: egress.dials.cluster,
  });
  const onError = (error: unknown): void => logger.error('API services', error);
  const known = new KnownDocuments(remote);
  const own =
    elsewhere === undefined
      ? keepApiServices(foundation, { client: writing.client, onError, remote, resolver, transport, known })
      : undefined;
  const peers = createPeerServers(foundation, storage, { admission, serving });
  const follower = new Follower({ store, sources: [{ resource: API_SERVICES, index: remote }] });
  const phase = createPhase({
    services,
    begin: async () => {
      services.start('api-services', 'essential', (signal, works) => follower.run(signal, works));
      await services.until(follower.ready());
      await own?.begin();
      await peers?.start(services);
      startup.finished('api-services');
      await own?.start(services);
      if (elsewhere !== undefined) known.take(await elsewhere.documents());
    },
    close: async () => {
      transport.close();
      peers?.close();
    },
  });
  const rejectsRedirects = serving.aggregatorRejectForwardingRedirect;
  const sandboxesPages = serving.sandboxProxiedPages;
  const passOn = createRemoteProxy({
    ...{ remote, resolver, transport, rejectsRedirects, sandboxesPages, logger },
    tellsUid: foundation.isFeatureOn('RemoteRequestHeaderUID'),
  });
  const remoteProxy: RemoteHandler = (request) => passOn(request) ?? peers?.handler(request);
  const remoteContents = new RemoteNamespaces({ remote, documents: known, resolver, transport });
  const knownPeers = (): readonly KnownPeer[] => peers?.known() ?? [];
  return { ...phase, remoteProxy, remoteApis: known, remoteContents, knownPeers };
}

type KeptParts = Omit<ConstructorParameters<typeof Availability>[0], 'metrics' | 'now'> & {
  readonly known: KnownDocuments;
};

/** Keeps the API services of this server, and the status and the documents of those of others. */
function keepApiServices(
  { registry, metrics, now, persistently, logger }: Foundation,
  { known, ...parts }: KeptParts,
): { readonly begin: () => Promise<void>; readonly start: (services: Services) => Promise<void> } {
  const { client, onError, remote, resolver, transport } = parts;
  const local = new LocalApiServices({ client, now, onError, registry });
  const availability = new Availability({ ...parts, metrics, now });
  const documents = new RemoteDocuments({
    ...{ remote, resolver, transport, known },
    onError: (error) =>
      logger.info(1, 'another API server does not say what it serves', { error: String(error) }),
  });
  return {
    begin: () => persistently(() => local.begin()),
    start: async (services) => {
      services.start('local-api-services', 'upkeep', (signal) => local.run(signal));
      services.start('api-service-availability', 'upkeep', (signal) => availability.run(signal));
      services.start('api-service-documents', 'upkeep', (signal) => documents.run(signal));
      await inTime(documents.asked(), PATIENCE_MS, () => {});
    },
  };
}

/** Without a certificate other servers are still called, and decide themselves about such calls. */
function readCredentials({ certFile, keyFile }: AdmissionOptions['proxyClient']): AgentCredentials {
  try {
    return new AgentCredentials({ caFile: '', certFile, keyFile });
  } catch (error) {
    const flags = `${proxyClientFlags.certFile.shown}, ${proxyClientFlags.keyFile.shown}`;
    throw new Error(`${flags}: ${errorText(error)}`, { cause: error });
  }
}
