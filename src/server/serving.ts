import type { TokenAuthenticator } from '../authn/token.ts';
import { publishAuthentication } from '../controllers/authentication-publisher.ts';
import { noteTokenTracking } from '../controllers/bootstrap-objects.ts';
import type { HealthCheck } from '../diagnostics/health-pages.ts';
import { createDiscovery, createIssuerPages } from '../discovery/discovery.ts';
import type { FlowControl } from '../flow-control/flow-control.ts';
import { boundHistoryWork, type HistoryWork } from '../history/large-work.ts';
import type { PairFiles } from '../http/serving-tls.ts';
import { Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ServerOptions } from '../options/options.ts';
import type { ServingOptions } from '../options/serving.ts';
import { type CreateGet, documentsElsewhere, SharedDocuments } from '../outbound/shared-documents.ts';
import { createPages, type Pages, toPageHandler } from '../pages/pages.ts';
import type { PortCalls } from '../util/port-calls.ts';
import { versionInfoOf } from '../version.ts';
import { findAdvertisedAddress } from './advertised-address.ts';
import type { Auditing } from './audit.ts';
import { type Authentication, createAuthentication } from './authentication.ts';
import { createFlowControl, type FlowControlOfServer } from './flow-control.ts';
import type { Foundation } from './foundation.ts';
import { createKubernetesService } from './kubernetes-service.ts';
import { createPhase, type Phase } from './phase.ts';
import { createServerPipeline, type ServedParts } from './request-path.ts';
import { createNoteUse } from './service-accounts.ts';
import type { Services } from './services.ts';
import type { StoragePhase } from './storage.ts';
import { remoteHistoryWork } from './threads/remote-history-work.ts';
import { ServingThreads } from './threads/serving-threads.ts';
import { SharedSigningKeys } from './threads/shared-signing-keys.ts';
import type { ServerService, ThreadHearing } from './threads/thread-contract.ts';
import { isOfServer, isProfile, threadOf, toAskedPage, toResponse } from './threads/thread-pages.ts';

interface ServingParts extends ServedParts {
  readonly storage: StoragePhase;
  readonly auditing: Auditing | undefined;
  /** Files of the serving certificate. */
  readonly serving: PairFiles;
  /** The module that serving threads run. */
  readonly threadEntry: string;
  readonly options: ServedParts['options'] & Pick<ServerOptions, 'args'>;
}

/** The last phase: authenticates, queues and answers requests, and publishes the address of this server. */
export function createServing(foundation: Foundation, parts: ServingParts): Phase {
  const { startup, registry } = foundation;
  const { front, storage, writing, options } = parts;
  const services = foundation.services.branch();
  const kubernetes = createKubernetesService(options, {
    ...foundation,
    ...{ client: writing.client, leases: storage.leases },
  });
  const documents = new SharedDocuments(foundation.egress.createGet);
  const historyWork = boundHistoryWork();
  let threads: ServingThreads | undefined;
  return createPhase({
    services,
    begin: async () => {
      const { createGet } = documents;
      const authentication = await startAuthentication(foundation, { ...parts, createGet }, services);
      const { persistently, now } = foundation;
      await persistently(() => publishAuthentication(writing.client, authentication.published));
      startup.finished('authentication');
      await persistently(() => noteTokenTracking(writing.client, now()));
      startup.finished('token-tracking');
      const flowControl = await createFlowControl(options.limits, {
        ...foundation,
        ...{ registry, services, store: storage.store, client: writing.client },
        countObjects: (resource) => storage.countObjects(resource),
        threads: options.serving.threads,
        turnsOfOthers: (asked) => threads?.running(asked) ?? Promise.resolve([]),
      });
      startup.finished('flow-control');
      const own = createServerPages(parts, { authentication, flowControl });
      const pages = addDiscovery(foundation, parts, { authentication, pages: own });
      writing.serve();
      front.serve(
        createServerPipeline(foundation, parts, {
          ...{ authentication, documents: toPageHandler(pages) },
          ...{ flowControl: flowControl.flowControl, historyWork },
        }),
      );
      services.start('kubernetes-service', 'upkeep', (signal) => kubernetes.run(signal));
      await services.until(kubernetes.ready());
      startup.finished('kubernetes-service');
      if (options.serving.threads > 1)
        threads = await startThreads(
          foundation,
          { ...parts, authentication, flowControl, documents, historyWork },
          services,
        );
      startup.finished('serving');
    },
    leave: () => front.end(() => kubernetes.leave()),
  });
}

interface StartedParts extends ServingParts {
  readonly authentication: Authentication;
  readonly flowControl: FlowControlOfServer;
  readonly documents: SharedDocuments;
  readonly historyWork: HistoryWork;
}

/** Starts the serving threads, and hands over to them. */
async function startThreads(
  { logger, metrics }: Foundation,
  {
    front,
    storage,
    policy,
    writing,
    aggregation,
    authentication,
    flowControl,
    auditing,
    documents,
    historyWork,
    ...parts
  }: StartedParts,
  services: Services,
): Promise<ServingThreads> {
  const { serving, clientCaFiles, serviceAccountKeyFile, options } = parts;
  const threads: ServingThreads = new ServingThreads({
    ...{ logger, count: options.serving.threads, entry: parts.threadEntry },
    start: { args: options.args, port: front.port, serving, clientCaFiles, serviceAccountKeyFile },
    shared: {
      ...{ hosted: storage.hosted, hostedOf: storage.hostedOf },
      signingKeys: new SharedSigningKeys(storage.signingKeys),
      ...{ flowControl: flowControl.flowControl, sharedFlow: flowControl.shared },
      peers: async () => [...aggregation.knownPeers()],
      remoteApis: aggregation.remoteApis,
      historyWork,
      tokenWebhook: authentication.tokenWebhook,
      documents,
      webhookOf: policy.webhookOf,
      auditSink: auditing?.sink,
      askPlugin: writing.askPlugin,
      pages: (request) => pages(request),
    },
  });
  const ofServer = { authentication, flowControl, checks: threads.checks() };
  const pages = toPageHandler(createServerPages({ front, storage }, ofServer));
  addThreadMetrics(metrics, threads);
  await threads.begin(services);
  await front.handOver(threads);
  return threads;
}

function addThreadMetrics(metrics: Metrics, threads: ServingThreads): void {
  const serving = { name: 'pg_apiserver_serving_threads', help: 'Threads that serve requests now.' };
  metrics.add(
    new Numbers('gauge', serving, (numbers) => {
      numbers.at().value = threads.count;
    }),
  );
  const ended = {
    name: 'pg_apiserver_serving_threads_ended_total',
    help: 'Serving threads that ended by themselves and were replaced.',
  };
  metrics.add(
    new Numbers('counter', ended, (numbers) => {
      numbers.at().value = threads.restarts;
    }),
  );
}

interface ThreadServingParts extends ServedParts {
  readonly flowControl: FlowControl | undefined;
  readonly server: PortCalls<ThreadHearing, ServerService>;
  /** Profiles of this thread. */
  readonly profiles: ReturnType<typeof toPageHandler>;
}

/** The last phase of a serving thread: the same path of requests, and pages of the whole server from the main thread. */
export function createThreadServing(foundation: Foundation, parts: ThreadServingParts): Phase {
  const services = foundation.services.branch();
  const { front, writing, server, profiles, flowControl, options } = parts;
  return createPhase({
    services,
    begin: async () => {
      const tokensElsewhere: TokenAuthenticator = {
        authenticate: (token, audiences) => server.call('token', { token, audiences }),
      };
      const createGet = documentsElsewhere(foundation.egress.createGet, (named, signal) =>
        server.call('document', named, signal),
      );
      const elsewhere = { ...parts, tokensElsewhere, createGet };
      const authentication = await startAuthentication(foundation, elsewhere, services);
      const discovery = toPageHandler(
        addDiscovery(foundation, parts, { authentication, pages: createPages().route('/', front.logFiles) }),
      );
      writing.serve();
      front.serve(
        createServerPipeline(foundation, parts, {
          ...{ authentication, flowControl, historyWork: remoteHistoryWork(server) },
          documents: async (request) => {
            const { path, query } = request;
            if (isProfile(path) && !options.serving.profiling) return undefined;
            if (isProfile(path) && threadOf(query) === undefined) return profiles(request);
            if (!isOfServer(path)) return discovery(request);
            const page = await server.call('page', await toAskedPage(request), request);
            return page === undefined ? undefined : toResponse(page);
          },
        }),
      );
      await front.listen();
    },
  });
}

async function startAuthentication(
  foundation: Foundation,
  {
    storage,
    writing,
    options,
    ...parts
  }: ServedParts & { readonly tokensElsewhere?: TokenAuthenticator; readonly createGet: CreateGet },
  services: Services,
): Promise<Authentication> {
  const { logger, metrics, now, persistently, egress, isFeatureOn, emulated } = foundation;
  const { store } = storage;
  const { client } = writing;
  const authentication = await createAuthentication(options.authentication, {
    ...{ store, logger, metrics, egress, isFeatureOn, persistently, emulated, now },
    ...{ tokensElsewhere: parts.tokensElsewhere, createGet: parts.createGet },
    clientCaFiles: parts.clientCaFiles,
    serverAddress: externalAddress(options.serving),
    noteUse: createNoteUse(client, logger),
    signingKeys: { file: parts.serviceAccountKeyFile, store: storage.signingKeys },
  });
  services.start('authentication', 'essential', authentication.run);
  return authentication;
}

/** Documents of the whole server: health, metrics, profiles. */
function createServerPages(
  { front, storage }: Pick<ServingParts, 'front' | 'storage'>,
  { authentication, flowControl, checks = [] }: PagesOfServer,
): Pages {
  const { kubernetes, own } = storage.checks();
  return front
    .pages({ kubernetes, own: [...own, ...checks] })
    .route('/', flowControl.dumps)
    .route('/', createIssuerPages(authentication.issuerDocuments));
}

interface PagesOfServer {
  readonly authentication: Authentication;
  readonly flowControl: FlowControlOfServer;
  /** The health checks of serving threads. */
  readonly checks?: readonly HealthCheck[];
}

/** Adds what is found by its path alone: discovery. */
function addDiscovery(
  { registry, types, isFeatureOn }: Foundation,
  { front, aggregation, options }: ServedParts,
  { authentication, pages }: { readonly authentication: Authentication; readonly pages: Pages },
): Pages {
  const version = versionInfoOf(options.api.emulated, options.api.compatible);
  const discovery = createDiscovery({
    ...{ registry, types },
    enums: isFeatureOn('OpenAPIEnums'),
    cbor: isFeatureOn('CBORServingAndStorage'),
    versionHashes: isFeatureOn('StorageVersionHash'),
    beta: !isFeatureOn('AggregatedDiscoveryRemoveBetaType'),
    examinationPages: front.examinationPages,
    published: {
      issuer: authentication.issuerDocuments !== undefined,
      logs: options.serving.servesLogs,
    },
    remote: aggregation.remoteApis,
    domains: options.api.domains,
    serverAddress: externalAddress(options.serving),
    version: { ...version, gitVersion: options.observability.reportedVersion ?? version.gitVersion },
  });
  return pages.notFound(({ req, env }) => discovery.fetch(req.raw, env));
}

/** host:port for clients: the external name, or the address that members of the cluster use. */
function externalAddress(serving: ServingOptions): string {
  const { advertiseAddress, bindAddress, externalHostname, securePort } = serving;
  const advertised = findAdvertisedAddress(advertiseAddress, bindAddress) ?? bindAddress;
  return `${externalHostname === '' ? advertised : externalHostname}:${securePort}`;
}
