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
import { createBaseChecks, createCacheChecks } from './server/health-checks.ts';
import { createKubernetesService } from './server/kubernetes-service.ts';
import { createNamespaceObjects } from './server/namespace-objects.ts';
import { createNoteUse } from './server/service-accounts.ts';
import { Services } from './server/services.ts';
import { createStorageMetrics } from './server/storage-metrics.ts';
import { traceCommits } from './server/traced-commits.ts';
import { openPostgres, type PostgresLog } from './storage/postgres/postgres.ts';
import { describeTrouble, isPassing } from './storage/postgres/trouble.ts';
import { WatchCache } from './storage/watch-cache/watch-cache.ts';
import { createReminder } from './util/now-and-then.ts';
import { pause } from './util/pause.ts';
import { persist, unlessAborted } from './util/persist.ts';
import { createResourceHandler } from './verbs/verbs.ts';
import { createReviews } from './verbs/virtual/reviews.ts';
import { Ownership } from './verbs/writing/ownership.ts';
import { ObjectWriter } from './verbs/writing/writer.ts';
import { VERSION } from './version.ts';

/** What the command line knows and no flag says. */
export interface ServerEnvironment {
  readonly options: ServerOptions;
  readonly databaseUrls: readonly string[];
  readonly serving: PairFiles;
  /** What verifies the serving certificate, in PEM form. */
  readonly servingCa: string;
  /** Authorities of client certificates. */
  readonly clientCaFiles: readonly string[];
  /** Signs service account tokens; '' for the keys that the database has. */
  readonly serviceAccountKeyFile: string;
  readonly logger: LogControl;
  /** Ends a start that is not finished. A running server is ended by its `close`. */
  readonly stop: AbortSignal;
}

export interface RunningServer {
  readonly port: number;
  /** Rejects when the server cannot serve rightly any more, and is to be closed. The message is one line for a person. */
  readonly failed: Promise<never>;
  /** Ends in order: requests, controllers, feed, database. */
  close(): Promise<void>;
}

/** For replay. Others have pools of their own. */
const POOL_SIZE = 4;

/**
 * The composition root: the only place that knows which implementation stands behind each interface.
 * Resolves when the server is ready. @throws Error when it cannot become so
 */
export async function startServer(environment: ServerEnvironment): Promise<RunningServer> {
  const { options, logger } = environment;
  const postgres = openDatabase(environment);
  const checks = createBaseChecks(postgres, logger, options);
  const front = await Front.open({ ...environment, checks });
  try {
    return await unlessAborted(() => startBehind(front, postgres, environment), environment.stop);
  } catch (error) {
    await front.abandon();
    throw error;
  }
}

async function startBehind(
  front: Front,
  postgres: PostgresLog,
  environment: ServerEnvironment,
): Promise<RunningServer> {
  const { options, logger } = environment;
  const types = loadTypes();
  const { metrics, requestMetrics, tracing } = front;
  const auditor = await createAuditor(options.audit, { logger, metrics: metrics.registry, types });
  const registry = createRegistry(options);
  const store = new WatchCache({
    ...postgres,
    committer: traceCommits(postgres.committer, front.tracing),
    fieldsOf: (resource) => registry.findStorage(resource)?.fields.read ?? (() => ({})),
  });
  const services = createServices(logger);
  services.start('watch-cache', 'essential', (signal, works) => store.run(signal, works));
  await services.until(store.ready());
  front.startup.finished('watch-cache');
  const now = (): Date => new Date();
  const authorization = await createAuthorization(options, store, logger);
  services.start('authorization', 'essential', authorization.run);
  const quotas = new StoredQuotas(resourcequotas, () => writer);
  const plugins = createAdmission({
    ...{ options, store, registry, types, quotas, logger, ...authorization },
    metrics: metrics.registry,
    createNamespace: (name) => createNamespace(registry, writer, name),
  });
  services.start('admission', 'essential', plugins.run);
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
  const lasting = untilDone(environment);
  await lasting(() => bootstrapNamespaces(registry, writer));
  front.startup.finished('namespaces');
  const isOn = (gate: string): boolean => options.featureGates.isEnabled(gate);
  await lasting(() => bootstrapRoles({ store, registry, writer, isOn }));
  front.startup.finished('roles');
  await lasting(() => bootstrapPriorities(registry, writer));
  front.startup.finished('priorities');
  const repair = {
    ...{ store, registry, writer, now },
    ...{ allocations: postgres.allocations, pools: allocation.pools },
    onTrouble: (message: string) => logger.warn('allocations', { message }),
  };
  await lasting(() => repairAllocations(repair));
  front.startup.finished('allocations');
  if (options.compactionIntervalMs > 0)
    services.start('compaction', 'upkeep', (signal) => postgres.compactor.run(signal));
  services.start('expiry', 'upkeep', (signal) => postgres.expirer.run(signal));
  const identity = new ControllerIdentity('namespace-controller');
  const onError = (error: unknown): void => logger.error('namespace controller', error);
  const namespaces = new NamespaceDeletion({ store, registry, writer, identity, onError });
  services.start('namespace-deletion', 'upkeep', (signal) => namespaces.run(signal));
  const { countPollMs, sizePollMs } = options.observability;
  for (const poll of createStorageMetrics({ metrics, postgres, store, countPollMs, sizePollMs, logger }))
    services.start('metrics', 'upkeep', poll);
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
  services.start('quotas', 'essential', (signal, works) => quotaUsage.run(signal, works));
  startRoleAggregation({ store, registry, writer, services, logger });
  await services.until(authorization.ready());
  await services.until(plugins.ready());
  front.startup.finished('admission');
  const { servingCa } = environment;
  const namespaceObjects = createNamespaceObjects({ store, registry, writer, logger, servingCa });
  await namespaceObjects.begin();
  services.start('namespace-objects', 'upkeep', (signal) => namespaceObjects.run(signal));
  const { authorizer } = authorization;
  const serverAddress = externalAddress(options);
  const noteUse = createNoteUse(registry, writer, logger);
  const signingKeys = { file: environment.serviceAccountKeyFile, store: postgres.signingKeys };
  const authentication = await createAuthentication({
    ...{ ...environment, serverAddress, store, noteUse, signingKeys },
  });
  services.start('authentication', 'essential', authentication.run);
  await lasting(() => publishAuthentication(registry, writer, authentication.published));
  front.startup.finished('authentication');
  await lasting(() => noteTokenTracking(registry, writer, now()));
  front.startup.finished('token-tracking');
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
    lasting,
  });
  front.startup.finished('flow-control');
  const discovery = createDiscovery({
    registry,
    types,
    domains: options.apiDomains as Dialect[],
    serverAddress,
    version: { ...VERSION, gitVersion: options.reportedVersion ?? VERSION.gitVersion },
  });
  const pages = front
    .pages(createCacheChecks(postgres, services.checks()))
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
  front.startup.finished('serving');
  services.start('kubernetes-service', 'upkeep', (signal) => kubernetes.run(signal));
  await services.until(kubernetes.ready());
  front.startup.finished('kubernetes-service');
  const leave = (): Promise<void> => kubernetes.leave();
  const { failed } = services;
  return { port: front.port, failed, close: () => shutDown({ front, services, postgres, leave, auditor }) };
}

/** Does a step of the start for as long as only the database's absence is in its way. */
const untilDone =
  ({ stop, logger }: ServerEnvironment) =>
  <Result>(step: () => Promise<Result>): Promise<Result> =>
    persist(step, {
      signal: stop,
      isPassing,
      onFailure: createFailureLog(logger),
    });

function createFailureLog(logger: Logger): (error: unknown) => void {
  const remind = createReminder((trouble) => logger.warn('the start waits for the database', { trouble }));
  return (error) => remind(describeTrouble(error));
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
  options.services.start('role-aggregation', 'upkeep', (signal) => aggregation.run(signal));
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

/** The role of each is decided where it is started: see ServiceRole. */
const createServices = (logger: Logger): Services =>
  new Services({
    logger,
    isOutage: isPassing,
    now: () => performance.now(),
    random: Math.random,
    pause,
  });

function createRegistry({ runtimeConfig }: ServerOptions): Registry {
  const registry = new Registry();
  for (const definition of BUILT_IN_RESOURCES) {
    registry.add(definition, (version, served) => runtimeConfig.isEnabled(version, served.enabledByDefault));
  }
  return registry;
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
