import type { Auditor } from '../audit/auditor.ts';
import { publishAuthentication } from '../controllers/authentication-publisher.ts';
import { noteTokenTracking } from '../controllers/bootstrap.ts';
import { createDiscovery, createIssuerPages } from '../discovery/discovery.ts';
import type { FlowControl } from '../flow-control/flow-control.ts';
import type { HistoryParts } from '../history/parts.ts';
import { createRestores } from '../history/restore/restore.ts';
import { causesAmong } from '../history/why/causes.ts';
import { findIn } from '../history/why/kinds.ts';
import { createOriginMatcher } from '../http/response-headers.ts';
import type { ServerOptions } from '../options/options.ts';
import type { ServingOptions } from '../options/serving.ts';
import { createConsole } from '../pages/console.ts';
import { type Pages, toPageHandler } from '../pages/pages.ts';
import { ConstrainedImpersonation } from '../pipeline/constrained-impersonation.ts';
import { createPipeline, type Pipeline } from '../pipeline/pipeline.ts';
import { Births } from '../verbs/incarnations.ts';
import { createReviews } from '../verbs/reviews.ts';
import { createResourceHandler, type ResourceHandler } from '../verbs/verbs.ts';
import { versionInfoOf } from '../version.ts';
import { findAdvertisedAddress } from './advertised-address.ts';
import type { AggregationPhase } from './aggregation.ts';
import { type Authentication, createAuthentication } from './authentication.ts';
import { createBackends } from './backends.ts';
import { createFlowControl, type FlowControlOfServer } from './flow-control.ts';
import type { Foundation } from './foundation.ts';
import type { Front } from './front.ts';
import { createHistoryStores } from './history.ts';
import { createKubernetesService } from './kubernetes-service.ts';
import { createPhase, type Phase } from './phase.ts';
import type { PolicyPhase } from './policy.ts';
import { createNoteUse } from './service-accounts.ts';
import type { Services } from './services.ts';
import type { StoragePhase } from './storage.ts';
import type { WritingPhase } from './writing.ts';

interface ServingParts {
  readonly front: Front;
  readonly storage: StoragePhase;
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

/** The last phase: authenticates, queues and answers requests, and publishes the address of this server. */
export function createServing(foundation: Foundation, parts: ServingParts): Phase {
  const { startup, registry } = foundation;
  const { front, storage, writing, options } = parts;
  const services = foundation.services.branch();
  const kubernetes = createKubernetesService(options, {
    ...foundation,
    ...{ client: writing.client, leases: storage.leases },
  });
  return createPhase({
    services,
    begin: async () => {
      const authentication = await startAuthentication(foundation, parts, services);
      const flowControl = await createFlowControl(options.limits, {
        ...foundation,
        ...{ registry, services, store: storage.store, client: writing.client },
        countObjects: (resource) => storage.countObjects(resource),
      });
      startup.finished('flow-control');
      const pages = createServerPages(foundation, parts, { authentication, flowControl });
      writing.serve();
      front.serve(createServerPipeline(foundation, parts, { authentication, pages, ...flowControl }));
      startup.finished('serving');
      services.start('kubernetes-service', 'upkeep', (signal) => kubernetes.run(signal));
      await services.until(kubernetes.ready());
      startup.finished('kubernetes-service');
    },
    leave: () => front.end(() => kubernetes.leave()),
  });
}

async function startAuthentication(
  foundation: Foundation,
  { storage, writing, options, ...parts }: ServingParts,
  services: Services,
): Promise<Authentication> {
  const { logger, now, persistently, startup, egress, isFeatureOn, emulated } = foundation;
  const { store } = storage;
  const { client } = writing;
  const authentication = await createAuthentication(options.authentication, {
    ...{ store, logger, egress, isFeatureOn, persistently, emulated },
    clientCaFiles: parts.clientCaFiles,
    serverAddress: externalAddress(options.serving),
    noteUse: createNoteUse(client, logger),
    signingKeys: { file: parts.serviceAccountKeyFile, store: storage.signingKeys },
  });
  services.start('authentication', 'essential', authentication.run);
  await persistently(() => publishAuthentication(client, authentication.published));
  startup.finished('authentication');
  await persistently(() => noteTokenTracking(client, now()));
  startup.finished('token-tracking');
  return authentication;
}

/** Documents that are not resources: health, metrics, profiles, discovery. */
function createServerPages(
  { registry, types, isFeatureOn }: Foundation,
  { front, storage, aggregation, options }: ServingParts,
  { authentication, flowControl }: { authentication: Authentication; flowControl: FlowControlOfServer },
): Pages {
  const version = versionInfoOf(options.api.emulated, options.api.compatible);
  const discovery = createDiscovery({
    ...{ registry, types },
    enums: isFeatureOn('OpenAPIEnums'),
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
  return front
    .pages(storage.checks())
    .route('/', flowControl.dumps)
    .route('/', createIssuerPages(authentication.issuerDocuments))
    .notFound(({ req, env }) => discovery.fetch(req.raw, env));
}

interface PipelineParts {
  readonly authentication: Authentication;
  readonly pages: Pages;
  /** Undefined: no limits at all. */
  readonly flowControl: FlowControl | undefined;
}

function createServerPipeline(
  foundation: Foundation,
  parts: ServingParts,
  { authentication, pages, flowControl }: PipelineParts,
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
    knowsCbor: foundation.isFeatureOn('CBORServingAndStorage'),
    constrained: foundation.isFeatureOn('ConstrainedImpersonation')
      ? new ConstrainedImpersonation({
          authorizer: policy.authorizer,
          metrics: front.metrics,
          asksWithSelectors,
        })
      : undefined,
    documents: toPageHandler(pages),
    resources: createResources(foundation, parts, authentication),
    statusSchema: types.message('meta/v1.Status'),
    requestMetrics: front.requestMetrics,
    requestTimeoutMs: options.limits.requestTimeoutMs,
    kindOf: ({ group, version, resource }) => registry.find(group, version, resource)?.definition.kind,
  });
}

function createResources(
  { registry, types, now, isFeatureOn, egress, logger }: Foundation,
  { storage, policy, writing, auditor, options }: ServingParts,
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
    virtualStores: createHistoryStores(history),
    backends: createBackends(options.agents, { isFeatureOn, egress }, options.serving.sandboxProxiedPages),
    virtual: new Map([
      ...createReviews({ authorizer, authenticator, apiAudiences, isFeatureOn }),
      createRestores({
        ...{ ...history, writer, auditor, now, requestTimeoutMs: options.limits.requestTimeoutMs },
        onError: (error) => logger.error('restore', error),
      }),
    ]),
    watchList: isFeatureOn('WatchList'),
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
