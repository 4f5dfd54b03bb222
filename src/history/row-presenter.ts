import type { TypeLibrary } from '../api/idl/types.ts';
import type { ValueSchema } from '../api/schema.ts';
import type { Change, RecordedObject } from '../api/types/history/v1alpha1.ts';
import { readMetadataField } from '../codec/stored-object.ts';
import { messageOf } from '../registry/custom.ts';
import type { Registry } from '../registry/registry.ts';
import type { LoggedRevision } from '../storage/history.ts';
import { endTurn, inTurns, isLarge } from '../util/turns.ts';
import { type Changes, changesBetween } from './changes.ts';
import { parseDiffering } from './differing-fields.ts';
import { secrecyOf, toMaskedChange } from './masking.ts';
import type { ReadRights } from './read-rights.ts';

/** A row of the log as clients see it. */
interface PresentedRow {
  readonly object: RecordedObject;
  readonly changes: readonly Change[];
  readonly isTruncated: boolean;
  /** The states cannot be compared. */
  readonly isUnknown: boolean;
  readonly generation: number | undefined;
}

/** Converts rows with both states to what clients see. */
export class RowPresenter {
  readonly #registry: Registry;
  readonly #types: TypeLibrary;

  constructor(parts: { readonly registry: Registry; readonly types: TypeLibrary }) {
    this.#registry = parts.registry;
    this.#types = parts.types;
  }

  async present(row: LoggedRevision, rights: ReadRights): Promise<PresentedRow> {
    const { changes, isTruncated, isUnknown } = await this.changesOf(row);
    const secrecy = await secrecyOf(row, rights);
    if (isLarge(row.json.length)) await endTurn();
    const generation = Number(readMetadataField(row.json, 'generation') ?? Number.NaN);
    return {
      object: this.objectOf(row),
      changes: changes.map((change) => toMaskedChange(change, secrecy)),
      isTruncated,
      isUnknown,
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
    const [before, after] = await parseDiffering(
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
