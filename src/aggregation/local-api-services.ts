import { canonicalGroup } from '../api/dialect.ts';
import { DEFINITIONS } from '../api/known-resources.ts';
import type { CustomResourceDefinition } from '../api/types/apiextensions/v1.ts';
import type { APIService, APIServiceSpec } from '../api/types/apiregistration/v1.ts';
import { withCondition } from '../object/conditions.ts';
import { equal } from '../object/equality.ts';
import { toTimestamp } from '../object/timestamps.ts';
import { API_SERVICE_GROUP, builtInPriority, CUSTOM_PRIORITY } from '../registry/group-priorities.ts';
import type { Registry } from '../registry/registry.ts';
import { toObject } from '../storage/object-reader.ts';
import { keepDoing } from '../util/pause.ts';
import { AS_SERVER, type Client } from '../verbs/client/client.ts';
import { API_SERVICES, MANAGED, ON_START } from './managed-api-services.ts';

/** Created and corrected at any time: group versions of definitions. */
const ALWAYS = 'true';
const RETRY_MS = 1000;

interface LocalApiServicesParts {
  readonly client: Client;
  readonly registry: Registry;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

/**
 * Maintains an API service for every group version that this server serves itself (Kubernetes: kube-aggregator,
 * controllers/autoregister). Every server does so, with the same results, and writes only changes.
 */
export class LocalApiServices {
  readonly #parts: LocalApiServicesParts;
  readonly #client: Client;
  /** Groups with changes. */
  readonly #due = new Set<string>();
  /** Names of local API services whose status lacks availability. */
  readonly #unsaid = new Set<string>();
  #wake = Promise.withResolvers<void>();

  constructor(parts: LocalApiServicesParts) {
    this.#parts = parts;
    this.#client = parts.client.as('kube-aggregator', AS_SERVER);
  }

  /** Work of a start, all at once, so that the writes share a batch. @throws StatusError, StorageError */
  async begin(): Promise<void> {
    const existing = await this.#client.list(API_SERVICES, {}, 'cached');
    const byName = new Map(existing.map((api) => [nameOf(api), api]));
    const wanted = this.#parts.registry
      .groups()
      .flatMap(({ group, versions }) => versions.flatMap((version) => this.#wanted(group, version) ?? []));
    const names = new Set(wanted.map(nameOf));
    await Promise.all([
      ...wanted.map((api) => this.#keep(api, byName.get(nameOf(api)))),
      ...existing
        .filter((api) => !names.has(nameOf(api)) && api.metadata.labels?.[MANAGED] !== undefined)
        .map((api) => this.#remove(api)),
    ]);
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#parts.onError };
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    const stop = this.#parts.registry.onChange(({ groups }) => this.#lookAt(groups));
    await Promise.all([
      keepDoing(() => this.#follow(signal), signal, retry),
      keepDoing(() => this.#mendDue(signal), signal, retry),
    ]);
    stop();
  }

  #lookAt(groups: Iterable<string>): void {
    for (const group of groups) this.#due.add(group);
    this.#wake.resolve();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const { type, entry } of this.#client.watch(API_SERVICES, signal)) {
      if (type === 'DELETED') this.#lookAt([groupOf(entry.name)]);
      else this.#lookAtObject(toObject<APIService>(entry));
    }
  }

  #lookAtObject(api: APIService): void {
    if (api.metadata.labels?.[MANAGED] === ALWAYS) this.#lookAt([groupOf(nameOf(api))]);
    if (withLocal(api, NO_TIME) === api) return;
    this.#unsaid.add(nameOf(api));
    this.#wake.resolve();
  }

  async #mendDue(signal: AbortSignal): Promise<void> {
    await this.#wake.promise;
    this.#wake = Promise.withResolvers();
    if (signal.aborted) return;
    const due = new Set(this.#due);
    const unsaid = [...this.#unsaid];
    this.#due.clear();
    this.#unsaid.clear();
    try {
      await Promise.all([this.#mend(due), ...unsaid.map((name) => this.#say(name))]);
    } catch (error) {
      for (const name of unsaid) this.#unsaid.add(name);
      this.#lookAt(due);
      throw error;
    }
  }

  /** Corrects group versions of definitions. Built-in ones are corrected when a server starts. */
  async #mend(groups: ReadonlySet<string>): Promise<void> {
    if (groups.size === 0) return;
    const { registry } = this.#parts;
    const entries = await this.#client.entries(API_SERVICES, {}, 'cached');
    const existing = entries.filter(({ name }) => groups.has(groupOf(name))).map(toObject<APIService>);
    const byName = new Map(existing.map((api) => [nameOf(api), api]));
    const wanted = [...groups].flatMap((group) =>
      registry.versions(group).flatMap((version) => this.#wanted(group, version) ?? []),
    );
    const names = new Set(wanted.map(nameOf));
    await Promise.all([
      ...wanted.filter(isAlways).map((api) => this.#keep(api, byName.get(nameOf(api)))),
      ...existing.filter((api) => isAlways(api) && !names.has(nameOf(api))).map((api) => this.#remove(api)),
    ]);
  }

  /** Undefined: no API service is wanted. */
  #wanted(group: string, version: string): APIService | undefined {
    if (group === API_SERVICE_GROUP) return undefined;
    const resources = this.#parts.registry.resources(group, version);
    if (resources.length === 0) return undefined;
    const isBuiltIn = resources.some(({ definition }) => definition.custom === undefined);
    const priority = isBuiltIn ? builtInPriority(group, version) : CUSTOM_PRIORITY;
    return {
      kind: 'APIService',
      apiVersion: 'apiregistration.k8s.io/v1',
      metadata: { name: `${version}.${group}`, labels: { [MANAGED]: isBuiltIn ? ON_START : ALWAYS } },
      spec: {
        ...(group === '' ? {} : { group }),
        version,
        groupPriorityMinimum: priority.group,
        versionPriority: priority.version,
      },
    };
  }

  async #keep(wanted: APIService, found: APIService | undefined): Promise<void> {
    const spec = wanted.spec ?? {};
    if (found === undefined) {
      await this.#client.create(API_SERVICES, wanted);
      return;
    }
    if (!isWrong(found, spec)) return;
    // Another server may have corrected it, or its owner may have taken it over.
    await this.#client.update(API_SERVICES, { name: nameOf(wanted) }, (copy) =>
      isWrong(copy, spec) ? { ...copy, spec } : copy,
    );
  }

  async #remove(api: APIService): Promise<void> {
    const name = nameOf(api);
    if (isAlways(api) && (await this.#isDefined(api))) return;
    await this.#client.remove(API_SERVICES, { name }, { uid: api.metadata.uid ?? '' });
  }

  /** Reads the database: another server may already serve definitions that this one does not know. */
  async #isDefined({ spec = {} }: APIService): Promise<boolean> {
    const group = `.${spec.group ?? ''}`;
    const entries = await this.#client.entries(DEFINITIONS, {}, 'latest');
    return entries
      .filter(({ name }) => name.slice(name.indexOf('.')) === group)
      .flatMap((entry) => toObject<CustomResourceDefinition>(entry).spec?.versions ?? [])
      .some(({ name, served }) => name === spec.version && served === true);
  }

  /** Marks this server's group versions as available, also after another server had them. */
  async #say(name: string): Promise<void> {
    const time = toTimestamp(this.#parts.now());
    const says = (api: APIService): APIService => withLocal(api, time);
    const target = { name, subresource: 'status' };
    await this.#client.updateState(API_SERVICES, target, says, { leavesCopy: true });
  }
}

const nameOf = ({ metadata }: APIService): string => metadata.name ?? '';

/** The canonical group. A name consists of version and group. */
const groupOf = (name: string): string => canonicalGroup(name.slice(name.indexOf('.') + 1)).group;

const isAlways = ({ metadata }: APIService): boolean => metadata.labels?.[MANAGED] === ALWAYS;

function isWrong({ metadata, spec }: APIService, wanted: APIServiceSpec): boolean {
  return metadata.labels?.[MANAGED] !== undefined && !equal(spec ?? {}, wanted);
}

/** The time in statuses that are only compared. */
const NO_TIME = '';

/** Returns the same object if it is marked already or belongs to another server. */
function withLocal(api: APIService, time: string): APIService {
  if (api.spec?.service !== undefined) return api;
  const before = api.status?.conditions ?? [];
  const message = 'Local APIServices are always available';
  const finding = { type: 'Available', status: 'True', reason: 'Local', message } as const;
  const conditions = withCondition(before, finding, time);
  return conditions === before ? api : { ...api, status: { ...api.status, conditions: [...conditions] } };
}
