import type { GroupVersionKind } from '../../api/names.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { Registry, ServedResource } from '../../registry/registry.ts';
import type { AdmissionAttributes, AdmissionOperation } from '../admission.ts';
import type { FollowedObjects } from '../cluster-objects.ts';
import { ruleMatches } from '../matching/resource-rules.ts';
import { toWebhooks, type Webhook, type WebhookConfiguration } from './webhook.ts';

/** A webhook whose rules match a write, and the resource as which it gets the object. */
export interface Candidate {
  readonly webhook: Webhook;
  /** Its place among all webhooks. */
  readonly index: number;
  /** The written resource, or the same one under another version or group (matchPolicy Equivalent). */
  readonly served: ServedResource;
  readonly kind: GroupVersionKind;
}

const NONE: readonly Candidate[] = Object.freeze([]);

/**
 * All webhooks. Whether their rules match depends on the kind of a write and not on its object, so it is computed once for each
 * kind: a write that no webhook matches costs 0.1 µs.
 */
export class HookList {
  readonly #configurations: FollowedObjects<WebhookConfiguration>;
  readonly #registry: Registry;
  readonly #candidates = new Map<ResourceDefinition, Known[]>();
  #webhooks: readonly Webhook[] = [];
  #readAt = -1;

  constructor(configurations: FollowedObjects<WebhookConfiguration>, registry: Registry) {
    this.#configurations = configurations;
    this.#registry = registry;
    registry.onChange(() => this.#candidates.clear());
  }

  candidates({ definition, version, subresource, operation }: AdmissionAttributes): readonly Candidate[] {
    if (this.#configurations.isEmpty('')) return NONE;
    if (this.#readAt !== this.#configurations.changes) this.#read();
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

  #read(): void {
    this.#readAt = this.#configurations.changes;
    this.#webhooks = toWebhooks(this.#configurations.in(''));
    this.#candidates.clear();
  }

  #find(written: Written): readonly Candidate[] {
    const { definition, version } = written;
    if (definition.exemptFrom?.includes('webhooks') === true) return NONE;
    const own = definition.versions.find((served) => served.version === version);
    if (own === undefined) return NONE;
    const same = { definition, version: own };
    const equivalents = this.#equivalents(definition, version);
    return this.#webhooks.flatMap((webhook, index) => {
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

/** Subresources may have a kind of their own. */
export function kindOf({ definition, version }: ServedResource, subresource: string): GroupVersionKind {
  const found = definition.subresources.find(({ name }) => name === subresource);
  if (found === undefined || (found.access === 'view' && found.type === definition.storage.type))
    return { group: definition.group, version: version.version, kind: definition.kind };
  return found.served;
}
