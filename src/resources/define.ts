import type { Life, Minor } from '../api/emulation.ts';
import { defaultGates, type Gates } from '../api/feature-gates.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import { copyJson } from '../object/equality.ts';
import { valueAt } from '../object/json-values.ts';
import type {
  Cell,
  Column,
  Conversion,
  DefinedVerb,
  ResourceDefinition,
  ResourceTraits,
  SelectableFields,
  Subresource,
  ViewSubresource,
} from '../registry/resource-definition.ts';
import { RESET_BY_STATUS, writeStatus } from '../registry/status-view.ts';
import type { Strategy } from '../registry/strategy.ts';
import { type Ratchet, ratcheted } from './rules/checked.ts';

/**
 * A built-in resource with objects of type `T`, as its file states it: only its particularities. {@link define} adds the
 * defaults.
 */
export interface ResourceOutline<T extends ApiObject = ApiObject> extends ResourceTraits<T> {
  readonly group: string;
  readonly resource: string;
  readonly singular?: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs?: readonly DefinedVerb[];
  readonly versions: readonly VersionOutline[];
  /** The version whose form is stored; the first unless another is named. */
  readonly storedVersion?: string;
  readonly storage?: ResourceDefinition['storage'];
  /** Present for objects with a status subresource: the status before any observation. */
  readonly emptyStatus?: JsonObject;
  /** The first version of Kubernetes in which the status is a subresource; absent: all. */
  readonly statusSince?: Minor;
  /** The feature gate without which writes of the object write its status too. */
  readonly ignoresStatus?: string;
  /** Fields that a write of the status cannot change; by default the spec. `['metadata']` keeps all of the metadata. */
  readonly statusResets?: readonly (readonly string[])[];
  /** The first version of Kubernetes in which a write of the status cannot change the metadata either. */
  readonly statusKeepsMetadataSince?: Minor;
  /** Restricts and completes a written status. Changes `object`. */
  prepareStatus?(object: T, old: T): void;
  /** Rules of a written status, besides those of the strategy. */
  validateStatus?(object: T, old: T, isOn?: Gates): FieldError[];
  /** Texts for Warning headers of a written status. */
  statusWarnings?(object: T, old: T, isOn?: Gates): string[];
  readonly subresources?: readonly Subresource[];
  readonly table?: Table<T>;
  /** Tables of older versions of Kubernetes. */
  readonly olderTables?: readonly (Life & Table<T>)[];
  readonly fields?: FieldOutline;
  /** Rules that stored objects may go on breaking. */
  readonly ratchets?: readonly Ratchet<T>[];
  readonly strategy?: Partial<Strategy<T>>;
}

interface VersionOutline extends Life {
  readonly version: string;
  readonly type: string;
  /** Served by default; alpha and most beta versions are not. */
  readonly enabledByDefault?: boolean;
  readonly gate?: string;
  readonly conversion?: Conversion;
}

export interface Table<T extends ApiObject = ApiObject> {
  readonly columns: readonly Column[];
  cells(object: T, now: number): readonly Cell[];
  /** A list shows the rows in the order of these numbers, and of names where they are equal; without, in the order of names. */
  rank?(object: T): number;
}

/** Labels of field selectors, each with the dotted paths it is read from; the first that has a value counts. */
export interface FieldOutline {
  readonly paths: Readonly<Record<string, readonly string[]>>;
  readonly aliases?: Readonly<Record<string, string>>;
  /** Values of labels that are read from an absent field: `false` for a flag. */
  readonly absent?: Readonly<Record<string, string>>;
  /** Labels with an index for lookups. */
  readonly indexed?: readonly string[];
}

/** The default strategy: names with dots, no generation, and unconditional updates. */
const USUAL_STRATEGY: Strategy = {
  nameRule: 'dns-subdomain',
  finalizersNeedDomains: true,
  tracksGeneration: false,
  allowCreateOnUpdate: false,
  allowUnconditionalUpdate: true,
};

const ALL_VERBS: readonly DefinedVerb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

export function define<T extends ApiObject = ApiObject>(typed: ResourceOutline<T>): ResourceDefinition {
  // Callers of a definition do not know its type of object. They hand in objects that were decoded as that type.
  const outline: ResourceOutline = typed;
  const {
    storedVersion,
    emptyStatus,
    statusSince: _,
    ignoresStatus: __,
    statusResets,
    statusKeepsMetadataSince: ___,
    prepareStatus,
    validateStatus,
    statusWarnings,
    ratchets,
    table,
    ...rest
  } = outline;
  const { group, resource, kind, versions, verbs = ALL_VERBS } = outline;
  const [preferred] = versions;
  const stored = versions.find(({ version }) => version === storedVersion) ?? preferred;
  if (stored === undefined) throw new Error(`${resource} has no version`);
  const storage = outline.storage ?? { group, resource, version: stored.version, type: stored.type };
  return {
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    ...rest,
    storage,
    listKind: verbs.includes('list') ? `${kind}List` : '',
    verbs,
    versions: versions.map((version) => ({ enabledByDefault: true, ...version })),
    subresources: [
      ...(emptyStatus === undefined ? [] : statusesOf(outline, storage)),
      ...(outline.subresources ?? []),
    ],
    columns: table?.columns ?? DEFAULT_TABLE.columns,
    cells: table?.cells ?? DEFAULT_TABLE.cells,
    ...(table?.rank === undefined ? {} : { rank: table.rank }),
    fields: toSelectableFields(outline.fields ?? { paths: {} }),
    strategy: withRatchets(withStatusReset(outline), ratchets),
  };
}

/** The table of resources that have none of their own. */
const DEFAULT_TABLE: Table = {
  columns: [nameColumn(), { ...column('Created At'), type: 'date' }],
  cells: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? ''],
};

export function nameColumn(): Column {
  return {
    name: 'Name',
    type: 'string',
    format: 'name',
    priority: 0,
    description: 'Unique within its namespace.',
  };
}

/** A text column. `priority` 1 shows it with `-o wide` only. */
export function column(name: string, priority: 0 | 1 = 0, type: Column['type'] = 'string'): Column {
  return { name, type, format: '', priority, description: name };
}

/** The status in each version of Kubernetes. */
function statusesOf(outline: ResourceOutline, storage: ResourceDefinition['storage']): ViewSubresource[] {
  const { statusResets: resets = RESET_BY_STATUS, statusSince, statusKeepsMetadataSince: since } = outline;
  if (since === undefined)
    return [statusOf(outline, storage, resets, statusSince === undefined ? {} : { since: statusSince })];
  return [
    statusOf(outline, storage, resets, { until: since }),
    statusOf(outline, storage, [...resets, ['metadata']], { since }),
  ];
}

/** The status as a view of its parent: reads return the object, writes change only the status. */
function statusOf(
  outline: ResourceOutline,
  { version, type }: ResourceDefinition['storage'],
  resets: readonly (readonly string[])[],
  life: Life,
): ViewSubresource {
  const { group, kind, prepareStatus, validateStatus, statusWarnings } = outline;
  return {
    access: 'view',
    name: 'status',
    ...life,
    served: { group, version, kind },
    type,
    verbs: ['get', 'patch', 'update'],
    read: (parent) => parent,
    resetFields: resets,
    write: (view, old) => {
      const object = writeStatus(view, old, resets);
      prepareStatus?.(object, old);
      return object;
    },
    ...(validateStatus === undefined ? {} : { validate: validateStatus }),
    ...(statusWarnings === undefined ? {} : { warnings: statusWarnings }),
  };
}

/** Writes of the object ignore the status; a new object has the empty one. */
function withStatusReset(outline: ResourceOutline): Strategy {
  const { emptyStatus, ignoresStatus, strategy: own, subresources = [] } = outline;
  const strategy: Strategy = { ...USUAL_STRATEGY, ...own };
  if (emptyStatus === undefined) {
    return subresources.some(({ name }) => name === 'status')
      ? { resetFields: [['status']], ...strategy }
      : strategy;
  }
  const ignores = (isOn: Gates = defaultGates): boolean => ignoresStatus === undefined || isOn(ignoresStatus);
  return {
    resetFields: [['status']],
    ...strategy,
    prepareForCreate: (object, user, isOn) => {
      if (!ignores(isOn)) object.status ??= copyJson(emptyStatus);
      else if (strategy.prepareForCreate === undefined) object.status = copyJson(emptyStatus);
      else strategy.prepareForCreate(object, user, isOn);
    },
    prepareForUpdate: (object, old, isOn) => {
      if (ignores(isOn)) {
        if (old.status === undefined) delete object.status;
        else object.status = old.status;
      }
      strategy.prepareForUpdate?.(object, old, isOn);
    },
  };
}

function withRatchets(strategy: Strategy, ratchets: readonly Ratchet[] = []): Strategy {
  const { validate } = strategy;
  return validate === undefined || ratchets.length === 0
    ? strategy
    : { ...strategy, validate: ratcheted(validate, ratchets) };
}

function toSelectableFields({ paths, aliases, absent = {}, indexed = [] }: FieldOutline): SelectableFields {
  const readers = Object.entries(paths).map(([label, sources]) => ({
    label,
    sources: sources.map((source) => source.split('.')),
  }));
  return {
    names: Object.keys(paths),
    aliases: aliases ?? {},
    indexed,
    read: (object) => {
      const values: Record<string, string> = {};
      for (const { label, sources } of readers)
        values[label] = firstValue(object, sources) || (absent[label] ?? '');
      return values;
    },
  };
}

function firstValue(object: JsonObject, sources: readonly (readonly string[])[]): string {
  for (const source of sources) {
    const value = valueAt(object, source);
    if (value !== undefined && value !== null && value !== '') return String(value);
  }
  return '';
}
