import type { Auditor } from '../audit/auditor.ts';
import type { TokenAuthenticator } from '../authn/token.ts';
import { publishAuthentication } from '../controllers/authentication-publisher.ts';
import { noteTokenTracking } from '../controllers/bootstrap-objects.ts';
import type { HealthCheck } from '../diagnostics/health-pages.ts';
import { createDiscovery, createIssuerPages } from '../discovery/discovery.ts';
import type { FlowControl } from '../flow-control/flow-control.ts';
import { boundHistoryWork, type HistoryWork } from '../history/large-work.ts';
import type { HistoryParts } from '../history/parts.ts';
import { createRestores } from '../history/restore/restores.ts';
import { causesAmong } from '../history/why/causes.ts';
import { findIn } from '../history/why/find-kind.ts';
import { createOriginMatcher } from '../http/response-headers.ts';
import type { PairFiles } from '../http/serving-tls.ts';
import { AccessMetrics } from '../observability/access-metrics.ts';
import { Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ServerOptions } from '../options/options.ts';
import type { ServingOptions } from '../options/serving.ts';
import { type CreateGet, documentsElsewhere, SharedDocuments } from '../outbound/shared-documents.ts';
import { createConsole } from '../pages/console-files.ts';
import { createPages, type Pages, toPageHandler } from '../pages/pages.ts';
import { ConstrainedImpersonation } from '../pipeline/constrained-impersonation.ts';
import { createPipeline, type Pipeline } from '../pipeline/pipeline.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { PortCalls } from '../util/port-calls.ts';
import { Births } from '../verbs/incarnations.ts';
import { createReviews } from '../verbs/review-handlers.ts';
import { createResourceHandler, type ResourceHandler } from '../verbs/verbs.ts';
import { versionInfoOf } from '../version.ts';
import { findAdvertisedAddress } from './advertised-address.ts';
import type { AggregationPhase } from './aggregation.ts';
import type { Auditing } from './audit.ts';
import { type Authentication, createAuthentication } from './authentication.ts';
import { createBackends } from './backends.ts';
import { createFlowControl, type FlowControlOfServer } from './flow-control.ts';
import type { Foundation } from './foundation.ts';
import type { Front } from './front.ts';
import { createKubernetesService } from './kubernetes-service.ts';
import { createPhase, type Phase } from './phase.ts';
import type { PolicyPhase } from './policy.ts';
import { createNoteUse } from './service-accounts.ts';
import type { Services } from './services.ts';
import type { ServedStorage, StoragePhase } from './storage.ts';
import { remoteHistoryWork } from './threads/remote-history-work.ts';
import { ServingThreads } from './threads/serving-threads.ts';
import { SharedSigningKeys } from './threads/shared-signing-keys.ts';
import type { ServerService, ThreadHearing } from './threads/thread-contract.ts';
import { isOfServer, isProfile, threadOf, toAskedPage, toResponse } from './threads/thread-pages.ts';
import { createVirtualStores } from './virtual-stores.ts';
import type { WritingPhase } from './writing.ts';

/** What serving needs in every thread. */
interface ServedParts {
  readonly front: Front;
  readonly storage: ServedStorage;
  readonly policy: PolicyPhase;
  readonly writing: WritingPhase;
  readonly aggregation: AggregationPhase;
  readonly auditor: Auditor | undefined;
  /** Authorities of client certificates. */
  readonly clientCaFiles: readonly string[];
  /** Private key for service account tokens; '' for the keys in the database. */
  readonly serviceAccountKeyFile: string;
  readonly options: Pick<
    ServerOptions,
    'agents' | 'api' | 'authentication' | 'limits' | 'observability' | 'services' | 'serving' | 'writing'
  >;
}

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
    examinationPages: front.examinationPages.filter((path) => path !== '/debug'),
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

interface PipelineParts {
  readonly authentication: Authentication;
  readonly documents: ReturnType<typeof toPageHandler>;
  /** Undefined: no limits at all. */
  readonly flowControl: FlowControl | undefined;
  readonly historyWork: HistoryWork;
}

function createServerPipeline(
  foundation: Foundation,
  parts: ServedParts,
  { authentication, documents, flowControl, historyWork }: PipelineParts,
): Pipeline {
  const { types, registry, logger, tracing } = foundation;
  const { front, policy, aggregation, auditor, options } = parts;
  const asksWithSelectors = foundation.isFeatureOn('AuthorizeWithSelectors');
  return createPipeline({
    ...authentication,
    remote: aggregation.remoteProxy,
    ...{ flowControl, auditor, logger, tracing },
    ...(options.serving.console ? { open: createConsole() } : {}),
    allowsOrigin: createOriginMatcher(options.serving.corsAllowedOrigins),
    externalHostname: options.serving.externalHostname,
    authorizer: policy.authorizer,
    asksWithSelectors,
    minor: foundation.isFeatureOn.minor,
    knowsCbor: foundation.isFeatureOn('CBORServingAndStorage'),
    constrained: foundation.isFeatureOn('ConstrainedImpersonation')
      ? new ConstrainedImpersonation({
          authorizer: policy.authorizer,
          metrics: front.metrics,
          asksWithSelectors,
        })
      : undefined,
    documents,
    resources: createResources(foundation, { ...parts, historyWork }, authentication),
    statusSchema: types.message('meta/v1.Status'),
    requestMetrics: front.requestMetrics,
    accessMetrics: new AccessMetrics(front.metrics),
    requestTimeoutMs: options.limits.requestTimeoutMs,
    kindOf: ({ group, version, resource }) => registry.find(group, version, resource)?.definition.kind,
    removedReleaseOf: ({ group, version, resource }) =>
      removedReleaseOf(registry.find(group, version, resource)),
  });
}

function removedReleaseOf(served: ServedResource | undefined): string | undefined {
  if (served?.definition.custom?.deprecation !== undefined) return '';
  const deprecation = served?.version.deprecation;
  return deprecation === undefined ? undefined : (deprecation.removedRelease ?? '');
}

function createResources(
  { registry, types, now, isFeatureOn, egress, logger, emulated }: Foundation,
  {
    storage,
    policy,
    writing,
    auditor,
    options,
    historyWork,
  }: ServedParts & Pick<PipelineParts, 'historyWork'>,
  { authenticator, tokens }: Authentication,
): ResourceHandler {
  const { authorizer } = policy;
  const { writer, admission } = writing;
  const { apiAudiences } = options.authentication;
  const { clientStore: store, historyOf, progressOf, elsewhere } = storage;
  const births = new Births({ store: storage.store, historyOf });
  const history: HistoryParts = {
    ...{ store, historyOf, progressOf, elsewhere, registry, types, authorizer, births },
    causesAmong: (rows) => causesAmong(rows, findIn(registry)),
  };
  return createResourceHandler({
    ...{ registry, types, now, isFeatureOn, writer, authorizer, admission, tokens },
    ...{ store, historyOf, births },
    virtualStores: createVirtualStores(history, historyWork.reads),
    backends: createBackends(options.agents, { isFeatureOn, egress }, options.serving.sandboxProxiedPages),
    virtual: new Map([
      ...createReviews({ authorizer, authenticator, apiAudiences, isFeatureOn }),
      createRestores({
        ...{ ...history, writer, auditor, now, large: historyWork.restores },
        ...{ requestTimeoutMs: options.limits.requestTimeoutMs },
        onError: (error) => logger.error('restore', error),
      }),
    ]),
    watchList: isFeatureOn('WatchList'),
    streamsTables: emulated >= 34,
    minRequestTimeoutMs: options.limits.minRequestTimeoutMs,
    deleteCollectionWorkers: options.writing.deleteCollectionWorkers,
  });
}

/** host:port for clients: the external name, or the address that members of the cluster use. */
function externalAddress(serving: ServingOptions): string {
  const { advertiseAddress, bindAddress, externalHostname, securePort } = serving;
  const advertised = findAdvertisedAddress(advertiseAddress, bindAddress) ?? bindAddress;
  return `${externalHostname === '' ? advertised : externalHostname}:${securePort}`;
}
