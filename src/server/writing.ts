import { AdmissionChain } from '../admission/admission.ts';
import { type AskPlugin, OneOfEach, onceElsewhere } from '../admission/plugin.ts';
import { type LocateService, WebhookClients } from '../admission/webhooks/clients.ts';
import { ServiceResolver } from '../aggregation/service-resolver.ts';
import { createNamespace } from '../controllers/bootstrap-objects.ts';
import { StoredQuotas } from '../controllers/quota-usage.ts';
import { IP_ADDRESSES, poolsOf, ReadyRanges, SERVICE_CIDRS } from '../controllers/service-ranges.ts';
import { limitsAmong } from '../custom-resources/conversion/call-gate.ts';
import { ConversionMetrics } from '../custom-resources/conversion/conversion-metrics.ts';
import type { ConversionParts } from '../custom-resources/conversion/webhook-converter.ts';
import { ServedDefinitions } from '../custom-resources/served-definitions.ts';
import type { IpRange } from '../object/ip.ts';
import type { ServerOptions } from '../options/options.ts';
import { GatedFields } from '../registry/gated-fields.ts';
import { createPortPool, type ValuePool } from '../registry/value-pool.ts';
import { customresourcedefinitions } from '../resources/apiextensions/custom-resource-definition.ts';
import { Follower } from '../storage/follower.ts';
import { checksNumbers } from '../structural/number-formats.ts';
import { checksNames } from '../structural/schema-formats.ts';
import { Client } from '../verbs/client/client.ts';
import { ValueAllocator } from '../verbs/writing/allocation.ts';
import { Ownership } from '../verbs/writing/field-ownership.ts';
import { SharedExpiry } from '../verbs/writing/shared-expiry.ts';
import { ObjectWriter } from '../verbs/writing/writer.ts';
import { createAdmission, readProxyClient, webhookWays } from './admission.ts';
import { AllocationMetrics } from './allocation-metrics.ts';
import type { Foundation } from './foundation.ts';
import { createPhase, type Phase } from './phase.ts';
import type { PolicyPhase } from './policy.ts';
import type { ServedStorage } from './storage.ts';

/** The third phase: admission and the writer that every write passes. */
export interface WritingPhase extends Phase {
  readonly writer: ObjectWriter;
  /** The API as parts of the server use it. */
  readonly client: Client;
  readonly admission: AdmissionChain;
  readonly quotas: StoredQuotas;
  /** Asks the parts of plugins that are here for all threads. */
  readonly askPlugin: AskPlugin;
  /** Addresses and ports that services are assigned. */
  readonly pools: () => readonly ValuePool[];
  /** Starts calling webhooks for writes. */
  serve(): void;
}

interface WritingParts {
  readonly storage: ServedStorage;
  readonly policy: PolicyPhase;
  /** Undefined: this thread has the parts of plugins that are one. */
  readonly askElsewhere?: AskPlugin;
}

/** @throws Error that names the file or plugin that is wrong */
export function createWriting(
  foundation: Foundation,
  { storage, policy, askElsewhere }: WritingParts,
  options: Pick<ServerOptions, 'admission' | 'services' | 'serving' | 'storage' | 'writing'>,
): WritingPhase {
  const { types, registry, now, isFeatureOn } = foundation;
  const { store } = storage;
  const services = foundation.services.branch();
  const { services: ranges } = options;
  const allocator = new ValueAllocator(
    storage.allocations,
    createPools(ranges, hasServiceRanges(foundation) ? [] : undefined),
    new AllocationMetrics(foundation.metrics),
  );
  // Plugins write, and every write passes the plugins, so the chain exists before them.
  const admission = new AdmissionChain();
  const ownership = new Ownership({ types, registry, now });
  const { eventTtlMs: ttlMs } = options.storage;
  const writer = new ObjectWriter({
    ...{ store, admission, types, ownership, now, allocator, isFeatureOn },
    expiry: new SharedExpiry({ ttlMs, reuseMs: options.serving.leaseReuseMs }),
    collectsGarbage: options.writing.collectsGarbage,
    gatedFields: new GatedFields(isFeatureOn, types),
    retriesNames: isFeatureOn('RetryGenerateName'),
  });
  const client = new Client({ store, registry, writer, types });
  const quotas = new StoredQuotas(client);
  const parts = new OneOfEach();
  const resolver = new ServiceResolver(store, options.serving.enableAggregatorRouting);
  const locateService: LocateService = (service) => resolver.resolve(service);
  const plugins = createAdmission(options.admission, {
    ...foundation,
    ...policy,
    once: askElsewhere === undefined ? parts.once : onceElsewhere(askElsewhere),
    ...{ store, quotas, locateService },
    createNamespace: (name) => createNamespace(client, name),
  });
  admission.use(plugins.all, plugins.metrics);
  const served = new ServedDefinitions({
    ...{ registry, types },
    ratchets: isFeatureOn('CRDValidationRatcheting'),
    checksNumbers: checksNumbers(isFeatureOn),
    checksNames: checksNames(isFeatureOn),
    conversion: createConversion(foundation, locateService, options),
  });
  const readyRanges = new ReadyRanges((ready) => allocator.use(createPools(ranges, ready)));
  const definitions = new Follower({
    store,
    sources: [
      { resource: customresourcedefinitions, index: served },
      ...(hasServiceRanges(foundation) ? [{ resource: SERVICE_CIDRS, index: readyRanges }] : []),
    ],
  });
  const phase = createPhase({
    services,
    begin: async () => {
      services.start('custom-resources', 'essential', (signal, works) => definitions.run(signal, works));
      await services.until(definitions.ready());
      foundation.startup.finished('custom-resources');
      services.start('admission', 'essential', plugins.run);
      await services.until(plugins.ready());
      foundation.startup.finished('admission');
    },
  });
  return {
    ...phase,
    ...{ writer, client, admission, quotas, askPlugin: parts.ask },
    pools: () => allocator.pools,
    serve: plugins.serve,
  };
}

/** Whether the ranges of service addresses can grow. */
export const hasServiceRanges = ({ isFeatureOn, registry }: Foundation): boolean =>
  isFeatureOn('MultiCIDRServiceAllocator') &&
  registry.findStorage(SERVICE_CIDRS) !== undefined &&
  registry.findStorage(IP_ADDRESSES) !== undefined;

/** Conversion webhooks get the same certificate as those of admission. */
function createConversion(
  { types, tracing, metrics, egress }: Foundation,
  locateService: LocateService,
  { admission, serving }: Pick<ServerOptions, 'admission' | 'serving'>,
): ConversionParts {
  const credentials = { users: undefined, pair: readProxyClient(admission.proxyClient) };
  const clients = new WebhookClients(locateService, credentials, webhookWays(egress));
  const limits = { gate: limitsAmong(serving.threads) };
  return { ...{ clients, types, tracing, limits }, metrics: new ConversionMetrics(metrics) };
}

/** `ready`: ranges of ServiceCIDRs; undefined: there are none. */
const createPools = (
  { clusterIpRanges, nodePortRange }: ServerOptions['services'],
  ready: readonly IpRange[] | undefined,
): ValuePool[] => [...poolsOf(clusterIpRanges, ready), createPortPool(nodePortRange)];
