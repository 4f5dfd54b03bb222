import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Registry as MetricsRegistry } from 'prom-client';
import type { Access } from '../admission/access.ts';
import { AdmissionChain, type AdmissionPlugin } from '../admission/admission.ts';
import { type ClusterObjects, StoredClusterObjects } from '../admission/cluster-objects.ts';
import { type PluginConfig, parseAdmissionConfig } from '../admission/config/admission-config.ts';
import type { AdmissionPluginName } from '../admission/plugin-names.ts';
import { alwaysAdmit } from '../admission/plugins/always-admit.ts';
import { alwaysDeny } from '../admission/plugins/always-deny.ts';
import { alwaysPullImages } from '../admission/plugins/always-pull-images.ts';
import { certificateSubject } from '../admission/plugins/certificate-subject.ts';
import { createClaimResize } from '../admission/plugins/claim-resize.ts';
import { createDefaultIngressClass } from '../admission/plugins/default-ingress-class.ts';
import { createDefaultStorageClass } from '../admission/plugins/default-storage-class.ts';
import { createDefaultTolerations } from '../admission/plugins/default-toleration-seconds.ts';
import { denyExternalIps } from '../admission/plugins/deny-external-ips.ts';
import { readLimits } from '../admission/plugins/event-rate-limit/config.ts';
import { createEventRateLimit } from '../admission/plugins/event-rate-limit/event-rate-limit.ts';
import { tolerateExtendedResources } from '../admission/plugins/extended-resource-toleration.ts';
import { readImagePolicyConfig } from '../admission/plugins/image-policy/config.ts';
import { createImagePolicy } from '../admission/plugins/image-policy/image-policy.ts';
import { limitAntiAffinity } from '../admission/plugins/limit-anti-affinity.ts';
import { createLimitRanger } from '../admission/plugins/limit-ranger/limit-ranger.ts';
import { createMutatingWebhooks } from '../admission/plugins/mutating-webhooks.ts';
import { type CreateNamespace, createAutoProvision } from '../admission/plugins/namespace-auto-provision.ts';
import { createNamespaceExists } from '../admission/plugins/namespace-exists.ts';
import { createNamespaceLifecycle } from '../admission/plugins/namespace-lifecycle.ts';
import { createNodeRestriction } from '../admission/plugins/node-restriction/node-restriction.ts';
import { createOwnerReferencesPermission, type FindKind } from '../admission/plugins/owner-references.ts';
import { createPodNodeSelector, readNodeSelectors } from '../admission/plugins/pod-node-selector.ts';
import { createPodSecurity } from '../admission/plugins/pod-security.ts';
import {
  createPodTolerationRestriction,
  readClusterTolerations,
} from '../admission/plugins/pod-toleration-restriction.ts';
import { createPriority } from '../admission/plugins/priority.ts';
import { refusePrivileged } from '../admission/plugins/privileged-containers.ts';
import { createResourceQuota, type QuotaLedger } from '../admission/plugins/resource-quota.ts';
import { createRuntimeClass } from '../admission/plugins/runtime-class.ts';
import { createServiceAccounts } from '../admission/plugins/service-account/service-account.ts';
import {
  createCertificateApproval,
  createCertificateSigning,
  createTrustBundleAttest,
} from '../admission/plugins/signer-rights.ts';
import { storageProtection } from '../admission/plugins/storage-protection.ts';
import { taintNewNodes } from '../admission/plugins/taint-nodes-by-condition.ts';
import { createValidatingAdmissionPolicy } from '../admission/plugins/validating-admission-policy.ts';
import { createValidatingWebhooks } from '../admission/plugins/validating-webhooks.ts';
import { PodSecurityMetrics } from '../admission/pod-security/metrics.ts';
import { readPodSecurityConfig } from '../admission/pod-security/pod-security-config.ts';
import { ParamRights } from '../admission/policies/param-rights.ts';
import { readQuotaConfig } from '../admission/quota/quota-config.ts';
import { readWebhookConfig } from '../admission/webhooks/config.ts';
import type { WebhookParts } from '../admission/webhooks/dispatch.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { nodeNameOf } from '../authz/node.ts';
import { parseYamlText } from '../codec/yaml-text.ts';
import { problemsOf } from '../object/field-path.ts';
import type { Logger } from '../observability/logger.ts';
import type { ServerOptions } from '../options/options.ts';
import { readClientConfig } from '../outbound/client-config.ts';
import { createJsonPost, isTransient } from '../outbound/json-post.ts';
import type { Registry } from '../registry/registry.ts';
import { validateTolerations } from '../resources/pod/validation/placement.ts';
import { Follower } from '../storage/follower.ts';
import type { Store } from '../storage/store.ts';
import { policyParts } from './admission-policies.ts';
import type { ServiceRun } from './services.ts';

/** What plugins are made from. */
interface PluginParts {
  readonly options: ServerOptions;
  readonly store: Store;
  readonly registry: Registry;
  readonly authorizer: Authorizer;
  readonly objects: ClusterObjects;
  readonly access: Access;
  readonly findKind: FindKind;
  readonly quotas: QuotaLedger;
  readonly createNamespace: CreateNamespace;
  readonly metrics: MetricsRegistry;
  readonly types: TypeLibrary;
  readonly logger: Logger;
  isServing(): boolean;
  /** Of the file --admission-control-config-file; undefined: the plugin's defaults. */
  readonly config: JsonValue | undefined;
}

/** @throws Error that says what is wrong with its configuration */
type PluginFactory = (parts: PluginParts) => AdmissionPlugin;

const FACTORIES: Readonly<Record<AdmissionPluginName, PluginFactory>> = {
  AlwaysAdmit: () => alwaysAdmit,
  NamespaceAutoProvision: ({ objects, createNamespace }) => createAutoProvision(objects, createNamespace),
  NamespaceLifecycle: ({ store }) => createNamespaceLifecycle(store),
  NamespaceExists: ({ objects }) => createNamespaceExists(objects),
  LimitPodHardAntiAffinityTopology: () => limitAntiAffinity,
  LimitRanger: ({ objects }) => createLimitRanger(objects),
  ServiceAccount: ({ objects }) => createServiceAccounts(objects),
  NodeRestriction: ({ objects, options }) =>
    createNodeRestriction({
      objects,
      nodeOf: nodeNameOf,
      recoversExpansion: options.featureGates.isEnabled('RecoverVolumeExpansionFailure'),
    }),
  TaintNodesByCondition: () => taintNewNodes,
  AlwaysPullImages: () => alwaysPullImages,
  ImagePolicyWebhook: ({ config }) => createImageReviews(config),
  PodSecurity: ({ options, store, objects, metrics, config }) =>
    createPodSecurity({
      ...{ store, objects, config: readPodSecurityConfig(config), metrics: new PodSecurityMetrics(metrics) },
      relaxesOwnUsers: options.featureGates.isEnabled('UserNamespacesPodSecurityStandards'),
    }),
  PodNodeSelector: ({ objects, config }) => createPodNodeSelector(objects, readNodeSelectors(config)),
  Priority: ({ objects }) => createPriority(objects),
  DefaultTolerationSeconds: ({ options }) => createDefaultTolerations(options.tolerationSeconds),
  PodTolerationRestriction: ({ objects, config }) =>
    createPodTolerationRestriction(objects, readClusterTolerations(config, checkTolerations)),
  EventRateLimit: ({ config }) => createEventRateLimit(readLimits(config), () => performance.now()),
  ExtendedResourceToleration: () => tolerateExtendedResources,
  DefaultStorageClass: ({ objects }) => createDefaultStorageClass(objects),
  StorageObjectInUseProtection: () => storageProtection,
  OwnerReferencesPermissionEnforcement: ({ access, findKind }) =>
    createOwnerReferencesPermission(access, findKind),
  PersistentVolumeClaimResize: ({ objects }) => createClaimResize(objects),
  RuntimeClass: ({ objects }) => createRuntimeClass(objects),
  CertificateApproval: ({ access }) => createCertificateApproval(access),
  CertificateSigning: ({ access }) => createCertificateSigning(access),
  ClusterTrustBundleAttest: ({ access }) => createTrustBundleAttest(access),
  CertificateSubjectRestriction: () => certificateSubject,
  DefaultIngressClass: ({ objects }) => createDefaultIngressClass(objects),
  DenyServiceExternalIPs: () => denyExternalIps,
  MutatingAdmissionWebhook: (parts) => createMutatingWebhooks(toWebhookParts(parts)),
  ValidatingAdmissionPolicy: (parts) => createValidatingAdmissionPolicy(policyParts(parts)),
  ValidatingAdmissionWebhook: (parts) => createValidatingWebhooks(toWebhookParts(parts)),
  ResourceQuota: ({ objects, quotas, config }) =>
    createResourceQuota({ objects, ledger: quotas, limited: readQuotaConfig(config), now: () => new Date() }),
  AlwaysDeny: () => alwaysDeny,
};

function checkTolerations(tolerations: readonly JsonObject[], path: string): FieldError[] {
  return problemsOf((at) => validateTolerations(at, tolerations), path);
}

function toWebhookParts(parts: PluginParts): WebhookParts {
  const { objects, registry, types, options, config, logger, isServing } = parts;
  const credentials = { users: readWebhookConfig(config), pair: readProxyClient(options) };
  const onFailure = ({ message }: Error): void => logger.warn('admission', { message });
  return { objects, registry, types, credentials, isServing, onFailure };
}

/** @throws Error that names the flags */
function readProxyClient(options: ServerOptions): WebhookParts['credentials']['pair'] {
  const { proxyClientCertFile, proxyClientKeyFile } = options;
  if (proxyClientCertFile === '') return undefined;
  try {
    const read = (path: string): string => readFileSync(path, 'utf8');
    return { certificate: read(proxyClientCertFile), key: read(proxyClientKeyFile) };
  } catch (error) {
    throw new Error(`--proxy-client-cert-file, --proxy-client-key-file: ${textOf(error)}`, { cause: error });
  }
}

function createImageReviews(value: JsonValue | undefined): AdmissionPlugin {
  const config = readImagePolicyConfig(value);
  const post = createJsonPost(readClientConfig(config.kubeConfigFile));
  return createImagePolicy({ config, post, isTransient });
}

export interface Admission {
  readonly chain: AdmissionChain;
  /** Resolves when the plugins know the cluster. */
  ready(): Promise<void>;
  run: ServiceRun;
  /** From here on, writes are those of a running cluster: its webhooks have a say in them. */
  serve(): void;
}

export interface AdmissionParts {
  readonly options: ServerOptions;
  readonly store: Store;
  readonly authorizer: Authorizer;
  readonly registry: Registry;
  readonly types: TypeLibrary;
  readonly quotas: QuotaLedger;
  readonly createNamespace: CreateNamespace;
  readonly metrics: MetricsRegistry;
  /** Looks at writes whatever the flags say. */
  readonly guard: AdmissionPlugin;
  readonly logger: Logger;
}

/** @throws Error that names the file or plugin that is wrong */
export function createAdmission(parts: AdmissionParts): Admission {
  const { options, store, guard } = parts;
  const objects = new StoredClusterObjects(store);
  const access = accessBy(parts.authorizer);
  const findKind = kindsOf(parts.registry);
  const { plugins, configFile } = options.admission;
  const configs = configFile === '' ? new Map<AdmissionPluginName, PluginConfig>() : readConfig(configFile);
  let serving = false;
  const isServing = (): boolean => serving;
  const chain = new AdmissionChain([
    ...plugins.map((name) => {
      const config = readPluginConfig(configFile, name, configs.get(name));
      return FACTORIES[name]({ ...parts, objects, access, findKind, isServing, config });
    }),
    ...(options.allowPrivileged ? [] : [refusePrivileged]),
    new ParamRights(access, findKind, objects),
    guard,
  ]);
  const follower = new Follower({ store, sources: objects.sources });
  return {
    chain,
    ready: () => follower.ready(),
    run: (signal, works) => follower.run(signal, works),
    serve: () => {
      serving = true;
    },
  };
}

const accessBy = (authorizer: Authorizer): Access => ({
  whyNot: async (user, { verb, namespace = '', name = '', subresource = '', ...resource }) => {
    const target = { ...resource, namespace, name, subresource, subpath: '' };
    const { decision, reason, error } = await authorizer.authorize({ user, verb, target, path: '' });
    return decision === 'allow' ? undefined : (error ?? reason);
  },
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
      throw new Error(`${name}: ${path}: ${textOf(error)}`);
    }
  });
}

function explain<Result>(file: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new Error(`--admission-control-config-file: ${file}: ${textOf(error)}`);
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
