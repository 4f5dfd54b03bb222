import { AdmissionChain } from './admission/admission.ts';
import { createNamespaceLifecycle } from './admission/plugins/namespace-lifecycle.ts';
import type { Dialect } from './api/dialect.ts';
import { loadTypes } from './api/idl/types.ts';
import { publishAuthentication } from './controllers/authentication-publisher.ts';
import { bootstrapNamespaces } from './controllers/bootstrap.ts';
import { ControllerIdentity } from './controllers/identity.ts';
import { NamespaceDeletion } from './controllers/namespace-deletion.ts';
import { RoleAggregation } from './controllers/role-aggregation.ts';
import { bootstrapRoles } from './controllers/role-bootstrap.ts';
import { createDiscovery } from './discovery/discovery.ts';
import { createIssuerHandler } from './discovery/issuer-documents.ts';
import type { HealthCheck } from './http/health.ts';
import { type HttpServer, listen } from './http/server.ts';
import type { Logger } from './observability/logger.ts';
import { Metrics } from './observability/metrics.ts';
import type { ServerOptions } from './options/options.ts';
import { createPipeline } from './pipeline/pipeline.ts';
import { Registry } from './registry/registry.ts';
import { BUILT_IN_RESOURCES } from './resources/all.ts';
import { createAuthentication } from './server/authentication.ts';
import { createAuthorization } from './server/authorization.ts';
import { createBackends } from './server/backends.ts';
import { createNoteUse } from './server/service-accounts.ts';
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
  readonly serving: { readonly certificate: string; readonly key: string };
  /** Authorities of client certificates, beside --client-ca-file. */
  readonly clientCaFiles: readonly string[];
  /** Signs service account tokens when --service-account-signing-key-file does not. */
  readonly serviceAccountKeyFile: string;
  readonly logger: Logger;
}

export interface RunningServer {
  readonly port: number;
  /** Ends in order: requests, controllers, feed, database. */
  close(): Promise<void>;
}

const POOL_SIZE = 8;

/**
 * The composition root: the only place that knows which implementation stands behind each interface.
 * Resolves when the server is ready. @throws Error when it cannot become so
 */
export async function startServer(environment: ServerEnvironment): Promise<RunningServer> {
  const { options, logger } = environment;
  const postgres = openDatabase(environment);
  const registry = createRegistry(options);
  const types = loadTypes();
  const store = new WatchCache({
    ...postgres,
    fieldsOf: (resource) => registry.findStorage(resource)?.fields.read ?? (() => ({})),
  });
  const services = new Services(logger);
  services.start('watch cache', (signal) => store.run(signal));
  await Promise.race([store.ready(), services.failed]);
  const now = (): Date => new Date();
  const authorization = await createAuthorization(options, store, logger);
  services.start('authorization', (signal) => authorization.run(signal));
  const admission = new AdmissionChain([createNamespaceLifecycle(store), authorization.guard]);
  const ownership = new Ownership({ types, registry, now });
  const writer = new ObjectWriter({
    store,
    admission,
    types,
    ownership,
    now,
    eventTtlMs: options.eventTtlMs,
  });
  await bootstrapNamespaces(registry, writer);
  await bootstrapRoles({ store, registry, writer, isOn: (gate) => options.featureGates.isEnabled(gate) });
  services.start('compaction', (signal) => postgres.compactor.run(signal));
  services.start('expiry', (signal) => postgres.expirer.run(signal));
  const identity = new ControllerIdentity('namespace-controller');
  const onError = (error: unknown): void => logger.error('namespace controller', error);
  const namespaces = new NamespaceDeletion({ store, registry, writer, identity, onError });
  services.start('namespace deletion', (signal) => namespaces.run(signal));
  startRoleAggregation({ store, registry, writer, services, logger });
  await authorization.ready();
  const { authorizer } = authorization;
  const metrics = new Metrics();
  const serverAddress = `${options.bindAddress}:${options.securePort}`;
  const noteUse = createNoteUse(registry, writer, logger);
  const authentication = createAuthentication({ ...environment, serverAddress, store, noteUse });
  services.start('authentication', (signal) => authentication.run(signal));
  await publishAuthentication(registry, writer, authentication.published);
  const { authenticator, tokens } = authentication;
  const { apiAudiences } = options.authentication;
  const issuer = createIssuerHandler(authentication.issuerDocuments);
  const discovery = createDiscovery({
    registry,
    types,
    domains: options.apiDomains as Dialect[],
    serverAddress,
    version: VERSION,
  });
  const pipeline = createPipeline({
    ...authentication,
    authorizer,
    documents: (request) => issuer(request) ?? discovery(request),
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
    metrics,
  });
  const http = await listen({
    ...environment.serving,
    host: options.bindAddress,
    port: options.securePort,
    requestTimeoutMs: options.requestTimeoutMs,
    disableHttp2: options.disableHttp2,
    pipeline,
    health: healthChecks(postgres, store, options),
    metrics,
    logger,
  });
  return { port: http.port, close: () => shutDown(http, services, postgres) };
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
    historyWindowMs: options.historyWindowMs,
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

/** Loops of the server, each with a name for the log; stopped together. */
class Services {
  readonly #logger: Logger;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
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
    const running = run(this.#stop.signal).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#logger.error(`${name} ended`, error);
      this.#fail(error);
    });
    this.#running.push(running);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }
}

async function shutDown(http: HttpServer, services: Services, postgres: PostgresLog): Promise<void> {
  await http.close();
  await services.stop();
  await postgres.close();
}
