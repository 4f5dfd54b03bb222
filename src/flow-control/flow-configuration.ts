import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { parseStored } from '../codec/stored-object.ts';
import { equal } from '../object/equality.ts';
import type { Entry, ObjectEvent } from '../storage/store.ts';
import { isDealable } from './queueing/shuffle.ts';

/** A FlowSchema as classification needs it (flowcontrol.apiserver.k8s.io/v1). */
export interface FlowSchema {
  readonly name: string;
  readonly uid: string;
  /** The lower one wins. */
  readonly precedence: number;
  /** Name of the priority level. */
  readonly level: string;
  /** The property that separates the flows of the schema; undefined: all requests are one flow. */
  readonly distinguisher: 'ByUser' | 'ByNamespace' | undefined;
  readonly rules: readonly SchemaRule[];
}

export interface SchemaRule {
  readonly subjects: readonly Subject[];
  readonly resourceRules: readonly ResourceRule[];
  readonly pathRules: readonly PathRule[];
}

export type Subject =
  | { readonly kind: 'User'; readonly name: string }
  | { readonly kind: 'Group'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly namespace: string; readonly name: string };

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly clusterScope: boolean;
  readonly namespaces: readonly string[];
}

export interface PathRule {
  readonly verbs: readonly string[];
  readonly paths: readonly string[];
}

const DEFAULT_PRECEDENCE = 1000;

export function parseFlowSchema({ metadata, spec }: ApiObject): FlowSchema {
  const fields = part({ spec }, 'spec');
  const method = text(part(fields, 'distinguisherMethod'), 'type');
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    precedence: number(fields, 'matchingPrecedence') ?? DEFAULT_PRECEDENCE,
    level: text(part(fields, 'priorityLevelConfiguration'), 'name'),
    distinguisher: method === 'ByUser' || method === 'ByNamespace' ? method : undefined,
    rules: parts(fields, 'rules').map(parseRule),
  };
}

function parseRule(rule: JsonObject): SchemaRule {
  return {
    subjects: parts(rule, 'subjects').flatMap(parseSubject),
    resourceRules: parts(rule, 'resourceRules').map((fields) => ({
      verbs: texts(fields, 'verbs'),
      groups: texts(fields, 'apiGroups'),
      resources: texts(fields, 'resources'),
      clusterScope: fields.clusterScope === true,
      namespaces: texts(fields, 'namespaces'),
    })),
    pathRules: parts(rule, 'nonResourceRules').map((fields) => ({
      verbs: texts(fields, 'verbs'),
      paths: texts(fields, 'nonResourceURLs'),
    })),
  };
}

/** A subject of an unknown kind matches no user. */
function parseSubject(subject: JsonObject): Subject[] {
  switch (text(subject, 'kind')) {
    case 'User':
      return [{ kind: 'User', name: text(part(subject, 'user'), 'name') }];
    case 'Group':
      return [{ kind: 'Group', name: text(part(subject, 'group'), 'name') }];
    case 'ServiceAccount': {
      const account = part(subject, 'serviceAccount');
      return [{ kind: 'ServiceAccount', namespace: text(account, 'namespace'), name: text(account, 'name') }];
    }
    default:
      return [];
  }
}

/** The order in which schemas are tried: by precedence, then by name. */
export function bySchemaOrder(a: FlowSchema, b: FlowSchema): number {
  return a.precedence - b.precedence || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

/** Stored objects have passed validation; a field that is absent nevertheless reads as empty. */

function part(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object?.[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

function parts(object: JsonObject | undefined, name: string): JsonObject[] {
  const value = object?.[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function texts(object: JsonObject | undefined, name: string): string[] {
  const value = object?.[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function text(object: JsonObject | undefined, name: string): string {
  const value = object?.[name];
  return typeof value === 'string' ? value : '';
}

function number(object: JsonObject | undefined, name: string): number | undefined {
  const value = object?.[name];
  return typeof value === 'number' ? value : undefined;
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A PriorityLevelConfiguration as the queues need it (flowcontrol.apiserver.k8s.io/v1). */
export interface PriorityLevel {
  readonly name: string;
  readonly uid: string;
  readonly exempt: boolean;
  /** Part of the server's seats, against the sum of all shares. */
  readonly shares: number;
  /** The part of its seats that other levels may use while this one does not need them. */
  readonly lendablePercent: number;
  /** How much the level may borrow, in percent of its own seats; undefined: no limit. */
  readonly borrowingLimitPercent: number | undefined;
  /** Undefined: a request that gets no seat at once is refused. */
  readonly queuing: Queuing | undefined;
}

export interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

const DEFAULT_SHARES = 30;
const DEFAULT_QUEUING: Queuing = { queues: 64, handSize: 8, queueLengthLimit: 50 };

/** Undefined for an unusable object, which is treated as if it did not exist. */
export function parsePriorityLevel({ metadata, spec }: ApiObject): PriorityLevel | undefined {
  const fields = part({ spec }, 'spec');
  const { name = '', uid = '' } = metadata;
  const type = text(fields, 'type');
  // Only the level `exempt` may be exempt.
  if ((type === 'Exempt') !== (name === 'exempt')) return undefined;
  if (type === 'Exempt') return { name, uid, exempt: true, ...parseShares(part(fields, 'exempt'), 0) };
  const limited = part(fields, 'limited');
  if (type !== 'Limited' || limited === undefined) return undefined;
  const response = part(limited, 'limitResponse');
  const level = { name, uid, exempt: false, ...parseShares(limited, DEFAULT_SHARES) };
  if (text(response, 'type') !== 'Queue') return level;
  const queuing = parseQueuing(part(response, 'queuing'));
  return isDealable(queuing) ? { ...level, queuing } : undefined;
}

function parseShares(fields: JsonObject | undefined, defaultShares: number) {
  return {
    shares: number(fields, 'nominalConcurrencyShares') ?? defaultShares,
    lendablePercent: number(fields, 'lendablePercent') ?? 0,
    borrowingLimitPercent: number(fields, 'borrowingLimitPercent'),
    queuing: undefined,
  };
}

function parseQueuing(fields: JsonObject | undefined): Queuing {
  const { queues, handSize, queueLengthLimit } = DEFAULT_QUEUING;
  return {
    queues: number(fields, 'queues') || queues,
    handSize: number(fields, 'handSize') || handSize,
    queueLengthLimit: number(fields, 'queueLengthLimit') || queueLengthLimit,
  };
}

/** The objects of one resource in the form that flow control uses. The follower of the store keeps it current. */
export class ObjectIndex<Parsed> {
  readonly #parse: (object: ApiObject) => Parsed | undefined;
  readonly #onChange: () => void;
  readonly #known = new Map<string, Parsed>();

  /** `parse` returns undefined for an object to ignore. */
  constructor(parse: (object: ApiObject) => Parsed | undefined, onChange: () => void) {
    this.#parse = parse;
    this.#onChange = onChange;
  }

  values(): Parsed[] {
    return [...this.#known.values()];
  }

  replace(entries: readonly Entry[]): void {
    this.#known.clear();
    for (const entry of entries) this.#take(entry);
    this.#onChange();
  }

  /** A change without effect on the parsed form, such as a status, does not call `onChange`. */
  apply({ type, entry }: ObjectEvent): void {
    const before = this.#known.get(entry.name);
    if (type === 'DELETED') this.#known.delete(entry.name);
    else this.#take(entry);
    if (!equal(before, this.#known.get(entry.name))) this.#onChange();
  }

  #take(entry: Entry): void {
    const parsed = this.#parse(parseStored(entry.json));
    if (parsed === undefined) this.#known.delete(entry.name);
    else this.#known.set(entry.name, parsed);
  }
}
