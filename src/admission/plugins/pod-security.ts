import type { Registry } from 'prom-client';
import { minorOf } from '../../api/feature-gates.ts';
import { NAMESPACES, PODS } from '../../api/known-resources.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { internalError } from '../../api/status.ts';
import type { Namespace, Pod } from '../../api/types/core/v1.ts';
import { StorageError } from '../../storage/errors.ts';
import type { Store } from '../../storage/store.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import { describePlugin, isWriteOf, type PluginParts, type WriteOf } from '../plugin.ts';
import { ALL_CHECKS, Evaluator } from '../pod-security/evaluator.ts';
import { BOUNDS, type Bounds, warningsOf } from '../pod-security/existing-pods.ts';
import {
  type Exemptions,
  isPrivileged,
  type Labelled,
  type NamespaceRules,
  type PodSecurityConfig,
  type Policy,
  PREFIX,
  PRIVILEGED,
  policyOf,
  readPodSecurityConfig,
  reviewNamespace,
  toText,
} from '../pod-security/namespace-levels.ts';
import { isSignificant, PodJudge, PodSecurityMetrics, type PodTemplate } from '../pod-security/pod-judge.ts';
import { podSpecOf } from './pod-specs.ts';

interface PodSecurityOptions {
  readonly config: PodSecurityConfig;
  readonly objects: ClusterObjects;
  readonly store: Store;
  readonly metrics: PodSecurityMetrics;
  /** Feature gate UserNamespacesPodSecurityStandards. */
  readonly relaxesOwnUsers: boolean;
  /** The minor version that the server emulates: the newest whose checks count. */
  readonly emulated?: number | undefined;
  readonly bounds?: Bounds;
  readonly clock?: () => number;
}

/**
 * Checks pods by the Pod Security Standards that the labels of their namespace ask for. A violation refuses the pod, is recorded,
 * or makes a warning; workloads that would make such pods are only recorded or warned about (Kubernetes:
 * plugin/pkg/admission/security/podsecurity and pod-security-admission). A pod of a namespace without labels costs 0.3 µs.
 */
export function createPodSecurity(options: PodSecurityOptions): AdmissionPlugin {
  const plugin = new PodSecurity(options);
  return {
    name: 'PodSecurity',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => plugin.validate(attributes),
  };
}

/** Writes through these subresources change no checked field of a pod's spec. Any other subresource is checked. */
const IGNORED_SUBRESOURCES: ReadonlySet<string> = new Set([
  'exec',
  'attach',
  'binding',
  'eviction',
  'log',
  'portforward',
  'proxy',
  'resize',
  'status',
]);

class PodSecurity {
  readonly #defaults: Policy;
  readonly #exemptions: Exemptions;
  readonly #objects: ClusterObjects;
  readonly #namespaces: FollowedObjects<Namespace>;
  readonly #metrics: PodSecurityMetrics;
  readonly #judge: PodJudge;
  readonly #namespaceRules: NamespaceRules;
  readonly #policies = new WeakMap<Namespace, Labelled>();

  constructor({
    config,
    objects,
    store,
    metrics,
    relaxesOwnUsers,
    emulated,
    bounds,
    clock,
  }: PodSecurityOptions) {
    this.#defaults = config.defaults;
    this.#exemptions = config.exemptions;
    this.#objects = objects;
    this.#namespaces = objects.follow(NAMESPACES);
    this.#metrics = metrics;
    const exemptRuntimeClasses = config.exemptions.runtimeClasses;
    const shared = { evaluator: new Evaluator(ALL_CHECKS, emulated), exemptRuntimeClasses, relaxesOwnUsers };
    this.#judge = new PodJudge({ ...shared, metrics });
    const existing = {
      ...shared,
      store,
      bounds: bounds ?? BOUNDS,
      clock: clock ?? (() => performance.now()),
    };
    this.#namespaceRules = {
      defaults: config.defaults,
      exemptNamespaces: config.exemptions.namespaces,
      warningsOf: (namespace, enforce) => warningsOf(existing, namespace, enforce),
    };
  }

  validate(attributes: AdmissionAttributes): Promise<void> | undefined {
    const { object, subresource } = attributes;
    if (object === undefined) return undefined;
    if (isWriteOf(attributes, PODS, subresource)) return this.#pod(attributes);
    if (subresource !== '') return undefined;
    if (isWriteOf(attributes, NAMESPACES)) return reviewNamespace(attributes, object, this.#namespaceRules);
    return this.#workload(attributes, object);
  }

  #pod(attributes: WriteOf<Pod>): Promise<void> | undefined {
    if (IGNORED_SUBRESOURCES.has(attributes.subresource) || this.#isExempt(attributes)) return undefined;
    const namespace = this.#namespaces.get('', attributes.namespace);
    if (namespace !== undefined) return this.#judgePod(attributes, namespace);
    return this.#findNamespace(attributes).then((found) => {
      if (!(found instanceof Error)) return this.#judgePod(attributes, found);
      const failure = internalError(`failed to lookup namespace "${attributes.namespace}"`);
      this.#fail(attributes, `${failure.message}: ${found.message}`);
      // Storage says by itself what its failure means to a client.
      throw found instanceof StorageError ? found : failure;
    });
  }

  #judgePod(attributes: WriteOf<Pod>, namespace: Namespace): undefined {
    const labelled = this.#policyOf(namespace);
    if (labelled.errors.length === 0 && isPrivileged(labelled.policy)) {
      this.#metrics.allowedAll(attributes);
      attributes.annotate(ENFORCED, ALLOW_ALL);
      return;
    }
    const { object: pod, old } = attributes;
    if (pod === undefined || (old !== undefined && !isSignificant(pod, old))) return;
    const template = { annotations: pod.metadata.annotations, spec: pod.spec ?? {} };
    this.#judge.judge(attributes, labelled, template, 'enforce');
  }

  #workload(attributes: AdmissionAttributes, object: ApiObject): Promise<void> | undefined {
    const template = podSpecOf(attributes, object);
    if (template === undefined || this.#isExempt(attributes)) return undefined;
    const namespace = this.#namespaces.get('', attributes.namespace);
    if (namespace !== undefined) return this.#judgeWorkload(attributes, template, namespace);
    return this.#findNamespace(attributes).then((found) => {
      if (!(found instanceof Error)) return this.#judgeWorkload(attributes, template, found);
      this.#fail(attributes, `failed to lookup namespace "${attributes.namespace}": ${found.message}`);
      return undefined;
    });
  }

  #judgeWorkload(attributes: AdmissionAttributes, template: PodTemplate, namespace: Namespace): undefined {
    const labelled = this.#policyOf(namespace);
    const { warn, audit } = labelled.policy;
    if (labelled.errors.length === 0 && warn.level === 'privileged' && audit.level === 'privileged') return;
    this.#judge.judge(attributes, labelled, template, 'report');
  }

  /** Parsed once for each state of a namespace, so that a pod of a namespace without labels costs next to nothing. */
  #policyOf(namespace: Namespace): Labelled {
    const known = this.#policies.get(namespace);
    if (known !== undefined) return known;
    const labelled = policyOf(namespace.metadata.labels, this.#defaults);
    this.#policies.set(namespace, labelled);
    return labelled;
  }

  #isExempt(attributes: AdmissionAttributes): boolean {
    const { namespaces, usernames } = this.#exemptions;
    const isNamespace = namespaces.has(attributes.namespace);
    if (!isNamespace && !usernames.has(attributes.user.username)) return false;
    this.#metrics.exempted(attributes);
    attributes.annotate(`${PREFIX}exempt`, isNamespace ? 'namespace' : 'user');
    return true;
  }

  /** Finds a namespace that was just created, perhaps on another server; or returns why it cannot be read. */
  async #findNamespace({ namespace, foreseen }: AdmissionAttributes): Promise<Namespace | Error> {
    try {
      const found = await this.#objects.find(NAMESPACES, '', namespace);
      return (
        found ?? foreseen?.find(NAMESPACES, '', namespace) ?? new Error(`namespaces "${namespace}" not found`)
      );
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #fail(attributes: AdmissionAttributes, why: string): void {
    this.#metrics.failed(attributes, true);
    attributes.annotate(`${PREFIX}error`, why);
  }
}

const ENFORCED = `${PREFIX}enforce-policy`;
const ALLOW_ALL = toText(PRIVILEGED);

interface PodSecurityNeeds extends Pick<PluginParts, 'objects' | 'config' | 'isFeatureOn'> {
  readonly store: Store;
  readonly metrics: Registry;
}

const createFrom = ({ objects, store, metrics, config, isFeatureOn }: PodSecurityNeeds): AdmissionPlugin =>
  createPodSecurity({
    ...{ objects, store, config: readPodSecurityConfig(config), metrics: new PodSecurityMetrics(metrics) },
    relaxesOwnUsers: isFeatureOn('UserNamespacesPodSecurityStandards'),
    emulated: minorOf(isFeatureOn),
  });

export const podSecurity = describePlugin({
  name: 'PodSecurity',
  isDefault: true,
  create: createFrom,
});
