import type { ResourceOf } from '../../api/names.ts';
import type {
  MatchCondition,
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from '../../api/types/admissionregistration/v1.ts';
import { PolicyCompiler } from '../../cel/policies/compiler.ts';
import type { Registry, ServedResource } from '../../registry/registry.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import { certificatesIn, toBundle } from '../../x509/pem.ts';
import type { AdmissionAttributes, AdmissionOperation } from '../admission.ts';
import type { FollowedObjects } from '../cluster-objects.ts';
import type { StaticObjects } from '../manifests/manifest-folder.ts';
import type { Condition } from '../match-conditions.ts';
import {
  type ResourceRule,
  readRules,
  readSelector,
  ruleMatches,
  type Selector,
} from '../match-resources.ts';
import { kindOf, type MatchedForm } from '../request-form.ts';

export type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

/** One webhook of a configuration (admissionregistration.k8s.io/v1), parsed. */
export interface Webhook {
  readonly configuration: string;
  readonly name: string;
  /** Unique, unlike the name, which may occur in several configurations. */
  readonly key: string;
  readonly client: ClientConfig;
  readonly rules: readonly ResourceRule[];
  readonly matchesEquivalents: boolean;
  readonly namespaceSelector: Selector;
  readonly objectSelector: Selector;
  readonly matchConditions: readonly Condition[];
  /** Whether a failed call lets the write pass. */
  readonly ignoresFailures: boolean;
  readonly sideEffects: string;
  readonly timeoutMs: number;
  readonly reviewVersions: readonly string[];
  /** For mutating webhooks. */
  readonly reinvokes: boolean;
}

/** The address of a webhook: a URL, or a service of the cluster. */
export interface ClientConfig {
  readonly url: string;
  readonly service: ServiceReference | undefined;
  /** PEM text. Empty: the authorities that the host trusts. */
  readonly ca: string;
}

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly port: number;
}

const DEFAULT_PORT = 443;
const DEFAULT_TIMEOUT_SECONDS = 10;

/**
 * In calling order: by the name of the configuration, then in the order of its list. `origin` tells the keys of webhooks apart whose
 * configurations have one name.
 */
export const toWebhooks = (configurations: readonly WebhookConfiguration[], origin = ''): Webhook[] =>
  [...configurations]
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
    .flatMap(({ metadata: { name = '' }, webhooks = [] }) =>
      webhooks.map((webhook, at) => ({
        ...toWebhook(name, webhook),
        key: `${origin}${name}/${webhook.name ?? ''}/${at}`,
      })),
    );

function toWebhook(
  configuration: string,
  webhook: ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>,
): Omit<Webhook, 'key'> {
  const { name = '', clientConfig = {}, timeoutSeconds } = webhook;
  return {
    configuration,
    name,
    client: toClientConfig(clientConfig),
    rules: readRules(webhook.rules),
    matchesEquivalents: (webhook.matchPolicy || 'Equivalent') === 'Equivalent',
    namespaceSelector: readSelector(webhook.namespaceSelector),
    objectSelector: readSelector(webhook.objectSelector),
    matchConditions: readConditions(webhook.matchConditions ?? []),
    ignoresFailures: webhook.failurePolicy === 'Ignore',
    sideEffects: webhook.sideEffects ?? '',
    timeoutMs: (timeoutSeconds || DEFAULT_TIMEOUT_SECONDS) * 1000,
    reviewVersions: webhook.admissionReviewVersions ?? [],
    reinvokes: webhook.reinvocationPolicy === 'IfNeeded',
  };
}

export function toClientConfig({ url = '', service, caBundle = '' }: WebhookClientConfig): ClientConfig {
  const { namespace = '', name = '', path = '', port } = service ?? {};
  return {
    url,
    service: name === '' ? undefined : { namespace, name, path, port: port || DEFAULT_PORT },
    ca: toAuthorities(caBundle),
  };
}

/** The text for a bundle without certificates, which trusts no server; an empty text would mean the host's authorities. */
const TRUSTS_NONE = '# no certificate\n';

function toAuthorities(caBundle: string): string {
  if (caBundle === '') return '';
  return toBundle(certificatesIn(Buffer.from(caBundle, 'base64').toString('latin1'))) || TRUSTS_NONE;
}

/** Compiled when the configuration is read: each expression once, for any number of writes. */
function readConditions(conditions: readonly MatchCondition[]): Condition[] {
  if (conditions.length === 0) return [];
  const compiler = new PolicyCompiler(false);
  return conditions.map(({ name = '', expression = '' }) => ({
    name,
    check: compiler.compile(expression, 'bool'),
  }));
}

/** A webhook whose rules match a write, and the resource as which it gets the object. */
export interface Candidate extends MatchedForm {
  readonly webhook: Webhook;
  /** Its place among all webhooks. */
  readonly index: number;
}

const NONE: readonly Candidate[] = Object.freeze([]);

/** Webhook configurations of files. */
interface StaticConfigurations {
  readonly objects: StaticObjects;
  readonly resource: ResourceOf<WebhookConfiguration>;
}

/**
 * All webhooks, those of files before those of the API. Whether their rules match depends on the kind of a write and not on its
 * object, so it is computed once for each kind: a write that no webhook matches costs 0.1 µs.
 */
export class HookList {
  readonly #configurations: FollowedObjects<WebhookConfiguration>;
  readonly #registry: Registry;
  readonly #static: StaticConfigurations | undefined;
  readonly #candidates = new Map<ResourceDefinition, Known[]>();
  #ofFiles: readonly Webhook[] = [];
  #webhooks: readonly Webhook[] = [];
  #readAt = -1;

  constructor(
    configurations: FollowedObjects<WebhookConfiguration>,
    registry: Registry,
    ofFiles?: StaticConfigurations,
  ) {
    this.#configurations = configurations;
    this.#registry = registry;
    this.#static = ofFiles;
    registry.onChange(() => this.#candidates.clear());
  }

  candidates({ definition, version, subresource, operation }: AdmissionAttributes): readonly Candidate[] {
    if (this.#static === undefined && this.#configurations.isEmpty('')) return NONE;
    const changes = this.#configurations.changes + (this.#static?.objects.changes ?? 0);
    if (this.#readAt !== changes) this.#read(changes);
    const known = this.#candidates.get(definition);
    if (known !== undefined) {
      for (const one of known)
        if (one.operation === operation && one.version === version && one.subresource === subresource)
          return one.candidates;
    }
    const written = { definition, version, subresource, operation };
    const candidates = this.#find(written);
    this.#candidates.set(definition, [...(known ?? []), { ...written, candidates }]);
    return candidates;
  }

  #read(changes: number): void {
    this.#readAt = changes;
    if (this.#static !== undefined)
      this.#ofFiles = toWebhooks(this.#static.objects.in(this.#static.resource), 'manifest/');
    this.#webhooks = [...this.#ofFiles, ...toWebhooks(this.#configurations.in(''))];
    this.#candidates.clear();
  }

  #find(written: Written): readonly Candidate[] {
    const { definition, version } = written;
    const isExempt = definition.exemptFrom?.includes('webhooks') === true;
    const webhooks = isExempt ? this.#ofFiles : this.#webhooks;
    if (webhooks.length === 0) return NONE;
    const own = definition.versions.find((served) => served.version === version);
    if (own === undefined) return NONE;
    const same = { definition, version: own };
    const equivalents = this.#equivalents(definition, version);
    return webhooks.flatMap((webhook, index) => {
      const served = matches(webhook, same, written)
        ? same
        : webhook.matchesEquivalents
          ? firstByRule(webhook, equivalents, written)
          : undefined;
      return served === undefined
        ? []
        : [{ webhook, index, served, kind: kindOf(served, written.subresource) }];
    });
  }

  /** The other resources with the same storage. */
  #equivalents({ group, resource, storage }: ResourceDefinition, version: string): ServedResource[] {
    return this.#registry
      .groups()
      .flatMap((served) => served.versions.flatMap((at) => this.#registry.resources(served.group, at)))
      .filter(
        ({ definition, version: at }) =>
          definition.storage.group === storage.group &&
          definition.storage.resource === storage.resource &&
          !(definition.group === group && definition.resource === resource && at.version === version),
      );
  }
}

interface Written {
  readonly definition: ResourceDefinition;
  readonly version: string;
  readonly subresource: string;
  readonly operation: AdmissionOperation;
}

/** One for each version, subresource and operation of a resource: few enough for a linear search. */
interface Known extends Written {
  readonly candidates: readonly Candidate[];
}

function matches(webhook: Webhook, served: ServedResource, written: Written): boolean {
  const target = targetOf(served, written);
  return webhook.rules.some((rule) => ruleMatches(rule, target));
}

/** Earlier rules decide before later ones. */
function firstByRule(
  { rules }: Webhook,
  equivalents: readonly ServedResource[],
  written: Written,
): ServedResource | undefined {
  for (const rule of rules) {
    const found = equivalents.find((served) => ruleMatches(rule, targetOf(served, written)));
    if (found !== undefined) return found;
  }
  return undefined;
}

const targetOf = ({ definition, version }: ServedResource, { operation, subresource }: Written) => ({
  operation,
  subresource,
  group: definition.group,
  version: version.version,
  resource: definition.resource,
  namespaced: definition.namespaced,
});
