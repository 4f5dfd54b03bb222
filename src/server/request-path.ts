import { minorOf } from '../api/feature-gates.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { FlowControl } from '../flow-control/flow-control.ts';
import type { HistoryWork } from '../history/large-work.ts';
import type { HistoryParts } from '../history/parts.ts';
import { createRestores } from '../history/restore/restores.ts';
import { causesAmong } from '../history/why/causes.ts';
import { findIn } from '../history/why/find-kind.ts';
import { createOriginMatcher } from '../http/response-headers.ts';
import { AccessMetrics } from '../observability/access-metrics.ts';
import type { ServerOptions } from '../options/options.ts';
import { createConsole } from '../pages/console-files.ts';
import type { toPageHandler } from '../pages/pages.ts';
import { ConstrainedImpersonation } from '../pipeline/constrained-impersonation.ts';
import { createPipeline, type Pipeline } from '../pipeline/pipeline.ts';
import type { ServedResource } from '../registry/registry.ts';
import { Births } from '../verbs/incarnations.ts';
import { createReviews } from '../verbs/review-handlers.ts';
import { createResourceHandler, type ResourceHandler } from '../verbs/verbs.ts';
import type { AggregationPhase } from './aggregation.ts';
import type { Authentication } from './authentication.ts';
import { createBackends } from './backends.ts';
import type { Foundation } from './foundation.ts';
import type { Front } from './front.ts';
import type { PolicyPhase } from './policy.ts';
import type { ServedStorage } from './storage.ts';
import { createVirtualStores } from './virtual-stores.ts';
import type { WritingPhase } from './writing.ts';

/** What serving needs in every thread. */
export interface ServedParts {
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

interface PipelineParts {
  readonly authentication: Authentication;
  readonly documents: ReturnType<typeof toPageHandler>;
  /** Undefined: no limits at all. */
  readonly flowControl: FlowControl | undefined;
  readonly historyWork: HistoryWork;
}

/** Makes the way of requests, from the listener to the verbs. */
export function createServerPipeline(
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
    virtualStores: createVirtualStores(history, historyWork.reads, minorOf(isFeatureOn)),
    backends: createBackends(options.agents, { isFeatureOn, egress }, options.serving.sandboxProxiedPages),
    virtual: new Map([
      ...createReviews({ authorizer, authenticator, apiAudiences, isFeatureOn, now }),
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
