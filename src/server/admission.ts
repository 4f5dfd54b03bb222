import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Access } from '../admission/access.ts';
import { AdmissionChain, type AdmissionPlugin } from '../admission/admission.ts';
import { type ClusterObjects, StoredClusterObjects } from '../admission/cluster-objects.ts';
import { type PluginConfig, parseAdmissionConfig } from '../admission/config/admission-config.ts';
import type { AdmissionPluginName } from '../admission/plugin-names.ts';
import { certificateSubject } from '../admission/plugins/certificate-subject.ts';
import { createClaimResize } from '../admission/plugins/claim-resize.ts';
import { createDefaultIngressClass } from '../admission/plugins/default-ingress-class.ts';
import { createDefaultStorageClass } from '../admission/plugins/default-storage-class.ts';
import { createDefaultTolerations } from '../admission/plugins/default-toleration-seconds.ts';
import { denyExternalIps } from '../admission/plugins/deny-external-ips.ts';
import { createLimitRanger } from '../admission/plugins/limit-ranger/limit-ranger.ts';
import { createNamespaceLifecycle } from '../admission/plugins/namespace-lifecycle.ts';
import { createOwnerReferencesPermission, type FindKind } from '../admission/plugins/owner-references.ts';
import { refusePrivileged } from '../admission/plugins/privileged-containers.ts';
import { createResourceQuota, type QuotaLedger } from '../admission/plugins/resource-quota.ts';
import {
  createCertificateApproval,
  createCertificateSigning,
  createTrustBundleAttest,
} from '../admission/plugins/signer-rights.ts';
import { storageProtection } from '../admission/plugins/storage-protection.ts';
import { createValidatingAdmissionPolicy } from '../admission/plugins/validating-admission-policy.ts';
import { ParamRights } from '../admission/policies/param-rights.ts';
import { readQuotaConfig } from '../admission/quota/quota-config.ts';
import type { JsonValue } from '../api/object-meta.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { parseYamlText } from '../codec/yaml-text.ts';
import type { Logger } from '../observability/logger.ts';
import type { ServerOptions } from '../options/options.ts';
import type { Registry } from '../registry/registry.ts';
import { Follower } from '../storage/follower.ts';
import type { Store } from '../storage/store.ts';
import { policyParts } from './admission-policies.ts';

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
  /** Of the file --admission-control-config-file; undefined: the plugin's defaults. */
  readonly config: JsonValue | undefined;
}

/** @throws Error that says what is wrong with its configuration */
type PluginFactory = (parts: PluginParts) => AdmissionPlugin;

const FACTORIES: Partial<Record<AdmissionPluginName, PluginFactory>> = {
  NamespaceLifecycle: ({ store }) => createNamespaceLifecycle(store),
  LimitRanger: ({ objects }) => createLimitRanger(objects),
  DefaultStorageClass: ({ objects }) => createDefaultStorageClass(objects),
  StorageObjectInUseProtection: () => storageProtection,
  OwnerReferencesPermissionEnforcement: ({ access, findKind }) =>
    createOwnerReferencesPermission(access, findKind),
  PersistentVolumeClaimResize: ({ objects }) => createClaimResize(objects),
  CertificateApproval: ({ access }) => createCertificateApproval(access),
  CertificateSigning: ({ access }) => createCertificateSigning(access),
  ClusterTrustBundleAttest: ({ access }) => createTrustBundleAttest(access),
  CertificateSubjectRestriction: () => certificateSubject,
  DefaultIngressClass: ({ objects }) => createDefaultIngressClass(objects),
  DenyServiceExternalIPs: () => denyExternalIps,
  ValidatingAdmissionPolicy: (parts) => createValidatingAdmissionPolicy(policyParts(parts)),
  ResourceQuota: ({ objects, quotas, config }) =>
    createResourceQuota({ objects, ledger: quotas, limited: readQuotaConfig(config), now: () => new Date() }),
  DefaultTolerationSeconds: ({ options }) => createDefaultTolerations(options.tolerationSeconds),
};

export interface Admission {
  readonly chain: AdmissionChain;
  /** Resolves when the plugins know the cluster. */
  ready(): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

export interface AdmissionParts {
  readonly options: ServerOptions;
  readonly store: Store;
  readonly authorizer: Authorizer;
  readonly registry: Registry;
  readonly quotas: QuotaLedger;
  /** Looks at writes whatever the flags say. */
  readonly guard: AdmissionPlugin;
  readonly logger: Logger;
}

/** @throws Error that names the file or plugin that is wrong */
export function createAdmission(parts: AdmissionParts): Admission {
  const { options, store, guard, logger } = parts;
  const objects = new StoredClusterObjects(store);
  const access = accessBy(parts.authorizer);
  const findKind = kindsOf(parts.registry);
  const { plugins, configFile } = options.admission;
  const configs = configFile === '' ? new Map<AdmissionPluginName, PluginConfig>() : readConfig(configFile);
  const chain = new AdmissionChain([
    ...plugins.flatMap((name) => {
      const config = readPluginConfig(configFile, name, configs.get(name));
      return FACTORIES[name]?.({ ...parts, objects, access, findKind, config }) ?? [];
    }),
    ...(options.allowPrivileged ? [] : [refusePrivileged]),
    new ParamRights(access, findKind, objects),
    guard,
  ]);
  const onError = (error: unknown): void => logger.error('admission', error);
  const follower = new Follower({ store, sources: objects.sources, onError });
  return {
    chain,
    ready: () => (objects.sources.length === 0 ? Promise.resolve() : follower.ready()),
    run: (signal) => follower.run(signal),
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
