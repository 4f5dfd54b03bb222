import type { TypeLibrary } from '../api/idl/types.ts';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { ValueSchema } from '../api/schema.ts';
import type { Change, RecordedObject } from '../api/types/history/v1alpha1.ts';
import { readMetadataField } from '../codec/stored-object.ts';
import { isObject } from '../object/json-values.ts';
import { messageOf } from '../registry/custom.ts';
import type { Registry } from '../registry/registry.ts';
import { isEncrypted } from '../storage/encryption/media-type.ts';
import type { LoggedRevision } from '../storage/history.ts';
import { endTurn, inTurns, isLarge } from '../util/turns.ts';
import { type Changes, changesBetween, type FieldChange, withoutBookkeeping } from './changes.ts';
import { whatDiffers } from './differing.ts';
import { fieldPath, isWithin } from './paths.ts';
import type { Rights } from './rights.ts';

/** A row of the log as clients see it. */
interface RecordedRow {
  readonly object: RecordedObject;
  readonly changes: readonly Change[];
  readonly isTruncated: boolean;
  /** The states cannot be compared. */
  readonly isUnknown: boolean;
  readonly generation: number | undefined;
}

/** Converts rows with both states to what clients see. */
export class RowTeller {
  readonly #registry: Registry;
  readonly #types: TypeLibrary;

  constructor(parts: { readonly registry: Registry; readonly types: TypeLibrary }) {
    this.#registry = parts.registry;
    this.#types = parts.types;
  }

  async tell(row: LoggedRevision, rights: Rights): Promise<RecordedRow> {
    const { changes, isTruncated, isUnknown } = await this.changesOf(row);
    const secrecy = await secrecyOf(row, rights);
    if (isLarge(row.json.length)) await endTurn();
    const generation = Number(readMetadataField(row.json, 'generation') ?? Number.NaN);
    return {
      object: this.objectOf(row),
      changes: changes.map((change) => toShown(change, secrecy)),
      ...{ isTruncated, isUnknown },
      generation: Number.isSafeInteger(generation) ? generation : undefined,
    };
  }

  /** All changes of a row, with all values. */
  async changesOf(row: LoggedRevision, most?: number): Promise<Changes & { readonly isUnknown: boolean }> {
    const { verb, json, previousJson, previous, previousUnreadable, unreadable } = row;
    const isUnknown =
      unreadable !== undefined ||
      previousUnreadable !== undefined ||
      (verb === 'update' && previous !== undefined && previousJson === undefined);
    if (isUnknown) return { changes: [], isTruncated: false, isUnknown };
    const gone = verb === 'delete' ? (previousJson ?? json) : undefined;
    const [before, after] = await whatDiffers(
      verb === 'update' ? previousJson : gone,
      verb === 'delete' ? undefined : json,
    );
    const schema = this.schemaOf(row);
    return { ...(await inTurns(changesBetween(before, after, schema, most))), isUnknown };
  }

  /** The schema of the version in which the row is stored. */
  schemaOf({ key, json }: Pick<LoggedRevision, 'key' | 'json'>): ValueSchema | undefined {
    const { version } = readHead(json);
    const served = this.#registry.find(key.group, version, key.resource);
    if (served === undefined) return undefined;
    return { kind: 'message', message: messageOf(served.definition, served.version.type, this.#types) };
  }

  objectOf({ key, json, uid }: Pick<LoggedRevision, 'key' | 'json' | 'uid'>): RecordedObject {
    const { kind, version } = readHead(json);
    const known = this.#registry.findStorage(key);
    const { group, resource, namespace, name } = key;
    return {
      ...(group === '' ? {} : { group }),
      version: version === '' ? (known?.storage.version ?? '') : version,
      resource,
      kind: kind === '' ? (known?.kind ?? '') : kind,
      ...(namespace === '' ? {} : { namespace }),
      name,
      uid,
    };
  }
}

const HEAD = /^\{"kind":"([^"]*)","apiVersion":"([^"]*)"/;
const MAX_HEAD_BYTES = 512;

function readHead(json: Buffer): { readonly kind: string; readonly version: string } {
  const [, kind = '', apiVersion = ''] = HEAD.exec(json.toString('utf8', 0, MAX_HEAD_BYTES)) ?? [];
  return { kind, version: apiVersion.slice(apiVersion.lastIndexOf('/') + 1) };
}

/** Which values of a row are hidden. */
type Secrecy = 'none' | 'secret' | 'all';

/** Shows values of Secrets, and of everything encrypted at rest, only to clients that may get the object now. */
export async function secrecyOf(
  row: Pick<LoggedRevision, 'key' | 'revision' | 'storedAs' | 'previousStoredAs'>,
  rights: Rights,
): Promise<Secrecy> {
  const { key, storedAs, previousStoredAs } = row;
  const isSecret = key.group === '' && key.resource === 'secrets';
  const isSealed = [storedAs, previousStoredAs].some((type) => type !== undefined && isEncrypted(type));
  if ((!isSecret && !isSealed) || (await rights.mayGet(row))) return 'none';
  return isSealed ? 'all' : 'secret';
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const SECRET_PATHS = [
  'data',
  'stringData',
  fieldPath(fieldPath(fieldPath('', 'metadata'), 'annotations'), LAST_APPLIED),
];

export const isSecretPath = (path: string): boolean => SECRET_PATHS.some((secret) => isWithin(path, secret));

export function toShown({ path, old, new: value }: FieldChange, secrecy: Secrecy): Change {
  if (secrecy === 'none') return { path, ...valuesOf({ old, new: value }) };
  if (secrecy === 'all' || isSecretPath(path)) return { path, hidden: true };
  const shown = { old: withoutSecrets(path, old), new: withoutSecrets(path, value) };
  const isCut = shown.old !== old || shown.new !== value;
  return { path, ...valuesOf(shown), ...(isCut ? { hidden: true } : {}) };
}

const valuesOf = (values: {
  readonly old: JsonValue | undefined;
  readonly new: JsonValue | undefined;
}): Pick<Change, 'old' | 'new'> => ({
  ...(values.old === undefined ? {} : { old: values.old }),
  ...(values.new === undefined ? {} : { new: values.new }),
});

/** Hides secret values; returns any other value as it is. */
function withoutSecrets(path: string, value: JsonValue | undefined): JsonValue | undefined {
  if (!isObject(value)) return value;
  if (path === '') {
    const { data: _, stringData: __, ...rest } = withoutBookkeeping(value);
    const metadata = withoutSecrets('metadata', rest.metadata);
    return metadata === undefined ? rest : { ...rest, metadata };
  }
  if (path === 'metadata') {
    const annotations = withoutSecrets('metadata.annotations', value.annotations);
    return annotations === value.annotations ? value : ({ ...value, annotations } as JsonObject);
  }
  if (path !== 'metadata.annotations' || value[LAST_APPLIED] === undefined) return value;
  const { [LAST_APPLIED]: _, ...rest } = value;
  return rest;
}
