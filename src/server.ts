import type { Dialect } from './api/dialect.ts';
import { loadTypes } from './api/idl/types.ts';
import type { Auditor } from './audit/auditor.ts';
import { repairAllocations } from './controllers/allocation-repair.ts';
import { publishAuthentication } from './controllers/authentication-publisher.ts';
import { bootstrapNamespaces, createNamespace } from './controllers/bootstrap.ts';
import { ControllerIdentity } from './controllers/identity.ts';
import { noteTokenTracking } from './controllers/legacy-token-tracking.ts';
import { NamespaceDeletion } from './controllers/namespace-deletion.ts';
import { bootstrapPriorities } from './controllers/priority-bootstrap.ts';
import { StoredQuotas } from './controllers/quota-ledger.ts';
import { QuotaUsage } from './controllers/quota-usage.ts';
import { RoleAggregation } from './controllers/role-aggregation.ts';
import { bootstrapRoles } from './controllers/role-bootstrap.ts';
import type { HealthCheck } from './diagnostics/health.ts';
import { createDiscovery } from './discovery/discovery.ts';
import { createIssuerPages } from './discovery/issuer-documents.ts';
import type { PairFiles } from './http/tls/serving-tls.ts';
import type { LogControl, Logger } from './observability/logger.ts';
import type { ServerOptions } from './options/options.ts';
import { toPageHandler } from './pages/pages.ts';
import { createPipeline } from './pipeline/pipeline.ts';
import { GatedFields } from './registry/gated-fields.ts';
import { Registry } from './registry/registry.ts';
import { BUILT_IN_RESOURCES } from './resources/all.ts';
import { resourcequotas } from './resources/core/resource-quota.ts';
import { createAdmission } from './server/admission.ts';
import { findAdvertisedAddress } from './server/advertised-address.ts';
import { createAllocation } from './server/allocation.ts';
import { createAuditor } from './server/audit.ts';
import { createAuthentication } from './server/authentication.ts';
import { createAuthorization } from './server/authorization.ts';
import { createBackends } from './server/backends.ts';
import { createFlowControl } from './server/flow-control.ts';
import { Front } from './server/front.ts';
import { createKubernetesService } from './server/kubernetes-service.ts';
import { createNamespaceObjects } from './server/namespace-objects.ts';
import { createNoteUse } from './server/service-accounts.ts';
import { createStorageMetrics } from './server/storage-metrics.ts';
import { traceCommits } from './server/traced-commits.ts';
import { openPostgres, type PostgresLog } from './storage/postgres/postgres.ts';
import { WatchCache } from './storage/watch-cache/watch-cache.ts';
import { Ownership } from './verbs/ownership.ts';
import { createResourceHandler } from './verbs/verbs.ts';
import { createReviews } from './verbs/virtual/reviews.ts';
import { ObjectWriter } from './verbs/writer.ts';
import { VERSION } from './version.ts';

/** What only whoever starts the server knows. */
export interface ServerEnvironment {
  readonly options: ServerOptions;
  readonly databaseUrls: readonly string[];
  readonly serving: PairFiles;
  /** What verifies the serving certificate, in PEM form. */
  readonly servingCa: string;
  /** Authorities of client certificates, beside --client-ca-file. */
  readonly clientCaFiles: readonly string[];
  /** Signs service account tokens. */
  readonly serviceAccountKeyFile: string;
  readonly logger: LogControl;
}

export interface RunningServer {
  readonly port: number;
  /** Ends in order: requests, controllers, feed, database. */
  close(): Promise<void>;
}

const POOL_SIZE = 8;

/** What must be finished before the server is ready; /livez takes them for done during --livez-grace-period. */
const STARTUP_STEPS = [
  'start-watch-cache',
  'bootstrap-namespaces',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'start-kubernetes-service',
];

/**
 * The composition root: the only place that knows which implementation stands behind each interface.
 * Resolves when the server is ready. @throws Error when it cannot become so
 */
export async function startServer(environment: ServerEnvironment): Promise<RunningServer> {
  const front = await Front.open({ ...environment, startupSteps: STARTUP_STEPS });
  try {
    return await startBehind(front, environment);
  } catch (error) {
    await front.abandon();
    throw error;
  }
}

async function startBehind(front: Front, environment: ServerEnvironment): Promise<RunningServer> {
  const { options, logger } = environment;
  const types = loadTypes();
  const { metrics, requestMetrics, tracing } = front;
  const auditor = await createAuditor(options.audit, { logger, metrics: metrics.registry, types });
  const postgres = openDatabase(environment);
  const registry = createRegistry(options);
  const store = new WatchCache({
    ...postgres,
    committer: traceCommits(postgres.committer, front.tracing),
    fieldsOf: (resource) => registry.findStorage(resource)?.fields.read ?? (() => ({})),
  });
  const services = new Services(logger);
  services.start('watch cache', (signal) => store.run(signal));
  await Promise.race([store.ready(), services.failed]);
  front.startup.finished('start-watch-cache');
  const now = (): Date => new Date();
  const authorization = await createAuthorization(options, store, logger);
  services.start('authorization', (signal) => authorization.run(signal));
  const quotas = new StoredQuotas(resourcequotas, () => writer);
  const plugins = createAdmission({
    ...{ options, store, registry, types, quotas, logger, ...authorization },
    metrics: metrics.registry,
    createNamespace: (name) => createNamespace(registry, writer, name),
  });
  services.start('admission', (signal) => plugins.run(signal));
  const admission = plugins.chain;
  const ownership = new Ownership({ types, registry, now });
  const allocation = createAllocation(options, postgres.allocations);
  const writer = new ObjectWriter({
    store,
    admission,
    types,
    ownership,
    allocator: allocation.allocator,
    now,
    eventTtlMs: options.eventTtlMs,
    collectsGarbage: options.garbageCollector,
    gatedFields: new GatedFields((gate) => options.featureGates.isEnabled(gate)),
  });
  await bootstrapNamespaces(registry, writer);
  front.startup.finished('bootstrap-namespaces');
  await bootstrapRoles({ store, registry, writer, isOn: (gate) => options.featureGates.isEnabled(gate) });
  front.startup.finished('rbac/bootstrap-roles');
  await bootstrapPriorities(registry, writer);
  front.startup.finished('scheduling/bootstrap-system-priority-classes');
  await repairAllocations({
    ...{ store, registry, writer, now },
    ...{ allocations: postgres.allocations, pools: allocation.pools },
    onTrouble: (message) => logger.warn('allocations', { message }),
  });
  services.start('compaction', (signal) => postgres.compactor.run(signal));
  services.start('expiry', (signal) => postgres.expirer.run(signal));
  const identity = new ControllerIdentity('namespace-controller');
  const onError = (error: unknown): void => logger.error('namespace controller', error);
  const namespaces = new NamespaceDeletion({ store, registry, writer, identity, onError });
  services.start('namespace deletion', (signal) => namespaces.run(signal));
  const { countPollMs, sizePollMs } = options.observability;
  for (const poll of createStorageMetrics({ metrics, postgres, store, countPollMs, sizePollMs, logger }))
    services.start('metrics', poll);
  const kubernetes = createKubernetesService({
    options,
    store,
    registry,
    writer,
    leases: postgres.leases,
    logger,
  });
  const quotaUsage = new QuotaUsage({
    ...{ store, quotas, now },
    definitions: () => [...registry.storages()],
    onError: (error) => logger.error('quotas', error),
  });
  services.start('quotas', (signal) => quotaUsage.run(signal));
  startRoleAggregation({ store, registry, writer, services, logger });
  await authorization.ready();
  await plugins.ready();
  const { servingCa } = environment;
  const namespaceObjects = createNamespaceObjects({ store, registry, writer, logger, servingCa });
  await namespaceObjects.begin();
  services.start('namespace objects', (signal) => namespaceObjects.run(signal));
  const { authorizer } = authorization;
  const serverAddress = externalAddress(options);
  const noteUse = createNoteUse(registry, writer, logger);
  const authentication = createAuthentication({ ...environment, serverAddress, store, noteUse });
  services.start('authentication', (signal) => authentication.run(signal));
  await publishAuthentication(registry, writer, authentication.published);
  await noteTokenTracking(registry, writer, now());
  const { authenticator, tokens } = authentication;
  const { apiAudiences } = options.authentication;
  const { flowControl, dumps } = await createFlowControl({
    options,
    store,
    countObjects: (resource) => store.countObjects(resource),
    registry,
    writer,
    metrics,
    logger,
    now,
    services,
  });
  const discovery = createDiscovery({
    registry,
    types,
    domains: options.apiDomains as Dialect[],
    serverAddress,
    version: { ...VERSION, gitVersion: options.reportedVersion ?? VERSION.gitVersion },
  });
  const pages = front
    .pages(healthChecks(postgres, store, options))
    .route('/', dumps)
    .route('/', createIssuerPages(authentication.issuerDocuments))
    .notFound(({ req, env }) => discovery.fetch(req.raw, env));
  const pipeline = createPipeline({
    ...authentication,
    authorizer,
    flowControl,
    auditor,
    documents: toPageHandler(pages),
    resources: createResourceHandler({
      store,
      registry,
      types,
      writer,
      authorizer,
      ownership,
      admission,
      backends: createBackends(options),
      virtual: new Map(createReviews({ authorizer, authenticator, apiAudiences })),
      tokens,
      watchList: options.featureGates.isEnabled('WatchList'),
      minRequestTimeoutMs: options.minRequestTimeoutMs,
      deleteCollectionWorkers: options.deleteCollectionWorkers,
      now,
    }),
    statusSchema: types.message('meta/v1.Status'),
    logger,
    requestMetrics,
    tracing,
    requestTimeoutMs: options.requestTimeoutMs,
    kindOf: ({ group, version, resource }) => registry.find(group, version, resource)?.definition.kind,
  });
  plugins.serve();
  front.serve(pipeline);
  services.start('kubernetes service', (signal) => kubernetes.run(signal));
  front.startup.finished('start-kubernetes-service');
  const leave = (): Promise<void> => kubernetes.leave();
  return { port: front.port, close: () => shutDown({ front, services, postgres, leave, auditor }) };
}

/** How clients are told to reach the server: --external-hostname, or what members of the cluster use. */
function externalAddress({ serving, bindAddress, securePort }: ServerOptions): string {
  const advertised = findAdvertisedAddress(serving.advertiseAddress, bindAddress) ?? bindAddress;
  return `${serving.externalHostname === '' ? advertised : serving.externalHostname}:${securePort}`;
}

function startRoleAggregation(options: {
  store: WatchCache;
  registry: Registry;
  writer: ObjectWriter;
  services: Services;
  logger: Logger;
}): void {
  const { store, writer, logger } = options;
  const definition = options.registry.findStorage({
    group: 'rbac.authorization.k8s.io',
    resource: 'clusterroles',
  });
  if (definition === undefined) return;
  const onError = (error: unknown): void => logger.error('role aggregation', error);
  const identity = new ControllerIdentity('clusterrole-aggregation-controller');
  const aggregation = new RoleAggregation({ store, writer, definition, identity, onError });
  options.services.start('role aggregation', (signal) => aggregation.run(signal));
}

function openDatabase({ options, databaseUrls, logger }: ServerEnvironment): PostgresLog {
  return openPostgres({
    urls: databaseUrls,
    poolSize: POOL_SIZE,
    ...(options.databaseCaFile === '' ? {} : { caFile: options.databaseCaFile }),
    ...(options.databaseCertFile === '' ? {} : { certFile: options.databaseCertFile }),
    ...(options.databaseKeyFile === '' ? {} : { keyFile: options.databaseKeyFile }),
    compactionIntervalMs: options.compactionIntervalMs,
    onTrouble: (message) => logger.warn('database', { message }),
  });
}

function createRegistry({ runtimeConfig }: ServerOptions): Registry {
  const registry = new Registry();
  for (const definition of BUILT_IN_RESOURCES) {
    registry.add(definition, (version, served) => runtimeConfig.isEnabled(version, served.enabledByDefault));
  }
  return registry;
}

function healthChecks(postgres: PostgresLog, store: WatchCache, options: ServerOptions): HealthCheck[] {
  const everywhere = ['healthz', 'livez', 'readyz'] as const;
  return [
    { name: 'ping', endpoints: everywhere, check: () => {} },
    {
      name: 'postgres',
      endpoints: ['healthz', 'livez'],
      check: () => postgres.ping(options.healthTimeoutMs),
    },
    { name: 'postgres-readiness', endpoints: ['readyz'], check: () => postgres.ping(options.readyTimeoutMs) },
    {
      name: 'watch-cache',
      endpoints: ['readyz'],
      check: () => {
        if (!store.state.loaded) throw new Error('not loaded');
      },
    },
    {
      name: 'tail',
      endpoints: ['readyz'],
      // Polling is slower, not wrong: it is told in the log and does not take the server out of service.
      check: () => {
        if (postgres.feed.state.mode === 'starting') throw new Error('the tail has not begun');
      },
    },
  ];
}

/** Loops of the server, each with a name for the log; stopped last first, because later ones work with earlier ones. */
class Services {
  readonly #logger: Logger;
  readonly #running: { readonly stop: AbortController; readonly ended: Promise<void> }[] = [];
  #fail: (error: unknown) => void = () => {};
  /** Rejects with the first service that ends by an error. */
  readonly failed: Promise<never>;

  constructor(logger: Logger) {
    this.#logger = logger;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {});
  }

  start(name: string, run: (signal: AbortSignal) => Promise<void>): void {
    const stop = new AbortController();
    const ended = run(stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) this.#logger.error(`${name} ended`, error);
      this.#fail(error);
    });
    this.#running.push({ stop, ended });
  }

  async stop(): Promise<void> {
    for (const { stop, ended } of this.#running.reverse()) {
      stop.abort();
      await ended;
    }
  }
}

interface Running {
  readonly front: Front;
  readonly services: Services;
  readonly postgres: PostgresLog;
  readonly leave: () => Promise<void>;
  readonly auditor: Auditor | undefined;
}

async function shutDown({ front, services, postgres, leave, auditor }: Running): Promise<void> {
  await front.end(leave);
  await services.stop();
  await postgres.close();
  await auditor?.close();
}
