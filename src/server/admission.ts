import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { guardAdminAccess } from '../admission/admin-access.ts';
import type { AdmissionPlugin, ChainMetrics } from '../admission/admission.ts';
import { type PluginConfig, parseAdmissionConfig } from '../admission/admission-config.ts';
import { AdmissionMetrics } from '../admission/admission-metrics.ts';
import { type AdmissionPluginName, findPlugin } from '../admission/all-plugins.ts';
import { guardClaimStatus } from '../admission/claim-status-rights.ts';
import { StoredClusterObjects } from '../admission/cluster-objects.ts';
import type { OnceInServer } from '../admission/plugin.ts';
import type { CreateNamespace } from '../admission/plugins/namespaces.ts';
import type { FindKind } from '../admission/plugins/owner-references.ts';
import { refusePrivileged } from '../admission/plugins/pod-rules.ts';
import type { QuotaLedger } from '../admission/plugins/resource-quota.ts';
import { guardPodCertificates } from '../admission/pod-certificate-signing.ts';
import { ParamRights } from '../admission/policies/rights.ts';
import type { LocateService, WebhookWays } from '../admission/webhooks/clients.ts';
import type { WebhookNeeds } from '../admission/webhooks/dispatch.ts';
import type { Minor } from '../api/emulation.ts';
import type { Gates } from '../api/feature-gates.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { nodeNameOf } from '../authz/node-authorizer.ts';
import { parseYamlText } from '../codec/yaml-text.ts';
import { problemsOf } from '../object/field-path.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import { type AdmissionOptions, admissionFlags, proxyClientFlags } from '../options/admission.ts';
import type { Registry } from '../registry/registry.ts';
import { validateTolerations } from '../resources/pod/validation/placement.ts';
import { Follower } from '../storage/follower.ts';
import type { Store } from '../storage/store.ts';
import { runTogether } from '../util/concurrency.ts';
import { errorText } from '../util/error-text.ts';
import { accessBy } from './access.ts';
import { createManifests } from './admission-manifests.ts';
import { policyParts, rightsBy } from './admission-policies.ts';
import type { Egress } from './egress.ts';
import type { ServiceRun } from './services.ts';

function checkTolerations(tolerations: readonly JsonObject[], path: string): FieldError[] {
  return problemsOf((at) => validateTolerations(at, tolerations), path);
}

/** @throws Error that names the flags */
export function readProxyClient({
  certFile,
  keyFile,
}: AdmissionOptions['proxyClient']): ReturnType<WebhookNeeds['readProxyClient']> {
  if (certFile === '') return undefined;
  try {
    const read = (path: string): string => readFileSync(path, 'utf8');
    return { certificate: read(certFile), key: read(keyFile) };
  } catch (error) {
    const flags = `${proxyClientFlags.certFile.shown}, ${proxyClientFlags.keyFile.shown}`;
    throw new Error(`${flags}: ${errorText(error)}`, { cause: error });
  }
}

interface Admission {
  /** In calling order. */
  readonly all: readonly AdmissionPlugin[];
  readonly metrics: ChainMetrics;
  /** Resolves when the plugins know the cluster. */
  ready(): Promise<void>;
  run: ServiceRun;
  /** Starts asking webhooks and policies about writes. */
  serve(): void;
}

interface AdmissionParts {
  readonly store: Store;
  readonly authorizer: Authorizer;
  readonly registry: Registry;
  readonly types: TypeLibrary;
  readonly emulated: Minor;
  readonly quotas: QuotaLedger;
  readonly createNamespace: CreateNamespace;
  readonly locateService: LocateService;
  readonly metrics: Metrics;
  /** Runs regardless of flags. */
  readonly guard: AdmissionPlugin;
  readonly logger: Logger;
  readonly egress: Egress;
  readonly tracing: Tracing;
  readonly isFeatureOn: Gates;
  readonly now: () => Date;
  readonly once: OnceInServer;
}

/** @throws Error that names the file or plugin that is wrong */
export function createAdmission(options: AdmissionOptions, parts: AdmissionParts): Admission {
  const { store, guard } = parts;
  const objects = new StoredClusterObjects(store);
  const access = accessBy(parts.authorizer);
  const findKind = kindsOf(parts.registry);
  const { plugins, configFile } = options;
  const configs = configFile === '' ? new Map<AdmissionPluginName, PluginConfig>() : readConfig(configFile);
  const state = { isServing: false };
  const isServing = (): boolean => state.isServing;
  const admissionMetrics = new AdmissionMetrics(parts.metrics);
  const manifests = createManifests(parts);
  const shared = {
    openManifests: manifests.open,
    ...sharedParts(options, parts),
    ...{ objects, access, findKind, admissionMetrics },
    policies: policyParts({ ...parts, objects, admissionMetrics, isServing }),
    rights: rightsBy(parts.authorizer, parts.isFeatureOn('AuthorizeWithSelectors')),
    isServing,
  };
  const all = [
    ...plugins.flatMap((name) => {
      const config = readPluginConfig(configFile, name, configs.get(name));
      const create = (): AdmissionPlugin | undefined => findPlugin(name)?.create({ ...shared, config });
      return (config === undefined ? create() : explain(configFile, create)) ?? [];
    }),
    ...(options.allowPrivileged ? [] : [refusePrivileged]),
    new ParamRights(access, findKind, objects),
    ...(parts.emulated >= 33 && parts.isFeatureOn('DRAAdminAccess')
      ? [guardAdminAccess(objects, parts.emulated)]
      : []),
    ...(parts.isFeatureOn('DRAResourceClaimGranularStatusAuthorization') ? [guardClaimStatus(access)] : []),
    ...(parts.isFeatureOn('PodCertificateRequest') ? [guardPodCertificates(access)] : []),
    guard,
  ];
  const follower = new Follower({ store, sources: objects.sources });
  return {
    all,
    metrics: chainMetrics(admissionMetrics),
    ready: () => follower.ready(),
    run: (signal, works) =>
      runTogether([(either) => follower.run(either, works), (either) => manifests.run(either)], signal),
    serve: () => {
      state.isServing = true;
    },
  };
}

export const webhookWays = ({ dials }: Egress): WebhookWays => ({
  service: dials.cluster,
  url: dials.controlplane,
});

/** Parts of the server that refuse writes regardless of flags are not plugins in metrics. */
const chainMetrics = (metrics: AdmissionMetrics): ChainMetrics => ({
  step: (phase, operation) => metrics.step(phase, operation),
  plugin: (name, phase, operation) =>
    findPlugin(name) === undefined ? undefined : metrics.plugin(name, phase, operation),
});

/** The parts that depend on options alone. */
const sharedParts = (options: AdmissionOptions, { logger, metrics, egress, ...parts }: AdmissionParts) => ({
  ...parts,
  ways: webhookWays(egress),
  metrics: metrics.registry,
  nodeOf: nodeNameOf,
  checkTolerations,
  tolerationSeconds: options.tolerationSeconds,
  readProxyClient: () => readProxyClient(options.proxyClient),
  onFailure: ({ message }: Error): void => logger.warn('admission', { message }),
});

const kindsOf =
  (registry: Registry): FindKind =>
  (apiVersion, kind) => {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
    return registry
      .resources(group ?? '', version ?? '')
      .filter(({ definition }) => definition.kind === kind)
      .map(({ definition: { resource, namespaced } }) => ({
        ...{ group: group ?? '', version: version ?? '', resource, namespaced },
      }));
  };

function readConfig(file: string): ReadonlyMap<AdmissionPluginName, PluginConfig> {
  return explain(file, () => parseAdmissionConfig(readFileSync(file, 'utf8')));
}

function readPluginConfig(
  configFile: string,
  name: AdmissionPluginName,
  config: PluginConfig | undefined,
): JsonValue | undefined {
  if (config === undefined || 'value' in config) return config?.value;
  const path = resolve(dirname(configFile), config.path);
  return explain(configFile, () => {
    try {
      return parseYamlText(readFileSync(path)).value;
    } catch (error) {
      throw new Error(`${name}: ${path}: ${errorText(error)}`);
    }
  });
}

function explain<Result>(file: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new Error(`${admissionFlags.configFile.shown}: ${file}: ${errorText(error)}`);
  }
}
