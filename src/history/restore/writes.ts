import type { ForeseenObjects } from '../../admission/foreseen.ts';
import { toQualifiedResource } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { conflict } from '../../api/status.ts';
import { copyStored, parseStored } from '../../codec/stored-object.ts';
import { equal } from '../../object/equality.ts';
import { boundedProblems, forbiddenField, invalidValue } from '../../object/field-errors.ts';
import { objectAt, stringOf } from '../../object/json-values.ts';
import { storeOf } from '../../registry/custom.ts';
import type { AuthorizedResourceRequest, Caller } from '../../request/api-request.ts';
import { RESTORE_MANAGER, restoringAgent } from '../../request/restored.ts';
import { ObjectReader, toObject } from '../../storage/object-reader.ts';
import { toResourceVersion } from '../../storage/revision.ts';
import type { Store } from '../../storage/store.ts';
import { endTurn, inOwnTurn, inTurns, isLarge } from '../../util/turns.ts';
import { inStatuses } from '../../verbs/storage-status.ts';
import type { WriteCall } from '../../verbs/writing/write-call.ts';
import type { ObjectWriter } from '../../verbs/writing/writer.ts';
import {
  advised,
  endingNotes,
  forgetNode,
  given,
  keptNotes,
  refuseEnding,
  replacementNotes,
  takenFields,
} from './notes.ts';
import type { PastObject } from './past-objects.ts';
import type { Owners } from './restored-owners.ts';
import { type Path, type Refusal, takeOver } from './restored-paths.ts';
import { giveUp, toCreate, toUpdate } from './restored-state.ts';
import { traitsOf } from './traits.ts';
import { invalidRestore } from './wish.ts';
import type { RestoreAudit, WriteAudit } from './write-audit.ts';
import type { WriteRights } from './write-rights.ts';

/** What the writes of one restore need. */
interface WritesParts {
  readonly writer: ObjectWriter;
  readonly store: Store;
  readonly request: AuthorizedResourceRequest;
  /** Ends before the request's time is up. */
  readonly caller: Caller;
  readonly dryRun: boolean;
  readonly rights: WriteRights;
  readonly owners: Owners;
  readonly audit: RestoreAudit;
  readonly foreseen: ForeseenObjects;
  /** The name of the Restore, for its errors. */
  readonly name: string;
}

/** The result of a write. */
export interface Restored {
  /** Undefined: the object did not exist. */
  readonly before: ApiObject | undefined;
  readonly after: ApiObject;
  /** Undefined: nothing was written. */
  readonly revision: bigint | undefined;
  /** Notes for the user. */
  readonly notes: readonly string[];
}

/** Paths, and their texts in the request. */
interface AskedPaths {
  readonly paths: readonly Path[];
  readonly texts: readonly string[];
}

/** How an object is restored. */
interface Manner {
  /** Undefined: the whole object. */
  readonly asked: AskedPaths | undefined;
  /** Fields whose values other objects have now. */
  readonly taken: readonly string[];
  readonly audit: WriteAudit;
}

/** An object to write, with notes about it. */
interface Made {
  readonly object: ApiObject;
  readonly notes: readonly string[];
}

/** Each attempt finds one value that another object has taken. */
const MOST_TAKEN = 50;

const PODS = 'pods';
const CLAIMS = 'persistentvolumeclaims';
const VOLUMES = { group: '', resource: 'persistentvolumes' };

/** Writes objects as the caller would: through authorization, admission and validation, again after conflicts. */
export class Writes {
  readonly #parts: WritesParts;
  readonly #reader: ObjectReader;

  constructor(parts: WritesParts) {
    this.#parts = parts;
    this.#reader = new ObjectReader(parts.store, parts.caller);
  }

  /** `asked`: restore only these parts. @throws StatusError */
  async restore(then: PastObject, asked?: AskedPaths): Promise<Restored> {
    const audit = this.#parts.audit.of(then);
    try {
      const restored = await this.#untilNothingIsTaken(then, asked, audit);
      await audit.written(restored.after, restored.revision);
      return restored;
    } catch (error) {
      await audit.failed(error);
      throw asked === undefined ? advised(error) : error;
    }
  }

  async #untilNothingIsTaken(
    then: PastObject,
    asked: AskedPaths | undefined,
    audit: WriteAudit,
  ): Promise<Restored> {
    const taken: string[] = [];
    for (;;) {
      try {
        return await this.#attempt(then, { asked, taken, audit });
      } catch (error) {
        const fields = takenFields(error).filter((field) => !taken.includes(field));
        if (asked !== undefined || fields.length === 0 || taken.length > MOST_TAKEN) throw error;
        taken.push(...fields);
      }
    }
  }

  async #attempt(then: PastObject, manner: Manner): Promise<Restored> {
    const { writer, rights, owners, dryRun, foreseen } = this.#parts;
    const { audit } = manner;
    const unchanged = await this.#ifUnchanged(then, manner);
    if (unchanged !== undefined) return unchanged;
    let before: ApiObject | undefined;
    let notes: readonly string[] = [];
    const warnings = new Set<string>();
    const assert = async (verb: 'create' | 'update'): Promise<void> => {
      await audit.attempt(verb);
      await rights.assert(verb, then, (verdict) => audit.verdict(verdict));
    };
    const toWrite = (made: Made): ApiObject => {
      notes = made.notes;
      audit.asked(made.object);
      return made.object;
    };
    const call = this.#callFor(then, audit, (text) => warnings.add(`warning: ${text}`));
    const written = await writer.update(call, then.name, {
      kind: 'object',
      leavesCopy: true,
      apply: async (live) => {
        await assert('update');
        before = live;
        return toWrite(await this.#toUpdate(then, live, manner));
      },
      create: async () => {
        await assert('create');
        before = undefined;
        return toWrite(await this.#toCreate(then, manner));
      },
    });
    const large = isLarge(then.sizeBytes);
    const { revision } = written;
    const resourceVersion = revision === undefined ? undefined : toResourceVersion(revision);
    const after = await inOwnTurn(large, () => parseStored(written.json, resourceVersion));
    if (large) await endTurn();
    owners.add(then.uid, after.metadata.uid ?? '');
    if (dryRun) foreseen.add(then.definition.storage, after);
    const isWritten = revision !== undefined && `${revision}` !== before?.metadata.resourceVersion;
    return { before, after, notes: [...notes, ...warnings], revision: isWritten ? revision : undefined };
  }

  /** An unchanged object needs no write, and no right to one. */
  async #ifUnchanged(then: PastObject, manner: Manner): Promise<Restored | undefined> {
    const { definition, namespace, name } = then;
    const key = { ...definition.storage, namespace: definition.namespaced ? namespace : '', name };
    const reader = new ObjectReader(storeOf(definition, this.#parts.store), this.#parts.caller);
    const entry = await inStatuses(reader.entry(key, 'latest'), definition, name);
    if (entry === undefined) return undefined;
    const live = toObject(entry);
    const { object } = await this.#toUpdate(then, live, manner);
    if (!equal(object, live)) return undefined;
    this.#parts.owners.add(then.uid, entry.uid);
    return { before: live, after: live, notes: [], revision: undefined };
  }

  async #toUpdate(then: PastObject, live: ApiObject, { asked, taken }: Manner): Promise<Made> {
    refuseEnding(then, live);
    const large = isLarge(then.sizeBytes);
    const old = await inOwnTurn(large, () => then.parse());
    const copy = await inOwnTurn(large, () => copyStored(live));
    if (large) await endTurn();
    const notes = [...replacementNotes(then, live), ...endingNotes(old)];
    if (asked !== undefined) return { object: await this.#withPaths(copy, old, asked), notes };
    const object = toUpdate(copy, old, traitsOf(then.definition));
    if (large) await endTurn();
    const ownerReferences = this.#parts.owners.ofLive(live, old);
    if (ownerReferences !== undefined) object.metadata.ownerReferences = ownerReferences;
    return { object, notes: [...notes, ...keptNotes(object, old), ...given(giveUp(object, taken))] };
  }

  #callFor(then: PastObject, audit: WriteAudit, warn: (text: string) => void): WriteCall {
    const { request, caller, dryRun, foreseen } = this.#parts;
    const { definition, namespace, revision, sizeBytes } = then;
    const { user, sourceAddress, id } = request;
    return {
      definition,
      namespace,
      dryRun,
      foreseen,
      caller,
      version: definition.storage.version,
      subresource: '',
      ownership: 'track',
      author: {
        user,
        attribution: {
          sourceAddress,
          requestId: id,
          username: user.username,
          userAgent: restoringAgent(request.userAgent, revision),
          fieldManager: RESTORE_MANAGER,
        },
      },
      request: {
        query: new URLSearchParams({ fieldManager: RESTORE_MANAGER, ...(dryRun ? { dryRun: 'All' } : {}) }),
        receivedBytes: sizeBytes,
        audit,
        waits: audit.waits,
        warn,
      },
    };
  }

  async #withPaths(object: ApiObject, then: ApiObject, { paths, texts }: AskedPaths): Promise<ApiObject> {
    const refusals = await inTurns(takeOver(object, then, paths));
    if (refusals.size === 0) return object;
    const errors = boundedProblems(() =>
      [...refusals].map(([at, refusal]) => invalidValue(`spec.paths[${at}]`, texts[at] ?? '', WHY[refusal])),
    );
    throw invalidRestore(this.#parts.name, errors);
  }

  #refuseCreation({ definition, name }: PastObject, asked: AskedPaths | undefined): void {
    if (asked !== undefined)
      throw invalidRestore(this.#parts.name, [
        forbiddenField('spec.paths', `${name} is not there any more: restore the whole of it`),
      ]);
    if (definition.custom?.isEnding === true)
      throw conflict(definition, name, 'its definition is being deleted');
  }

  async #toCreate(then: PastObject, { asked, taken }: Manner): Promise<Made> {
    this.#refuseCreation(then, asked);
    const old = then.parse();
    const object = toCreate(old, traitsOf(then.definition));
    const { owners, dropped } = await this.#parts.owners.ofNew(old, then.namespace);
    if (owners.length > 0) object.metadata.ownerReferences = owners;
    else delete object.metadata.ownerReferences;
    const notes = endingNotes(old);
    notes.push(...dropped.map(({ kind, name }) => `its owner ${kind} ${name} is gone`));
    const resource = toQualifiedResource(then.definition.storage);
    if (resource === PODS) notes.push(...forgetNode(object));
    if (resource === CLAIMS) notes.push(...(await this.#checkVolume(object)));
    return { object, notes: [...notes, ...given(giveUp(object, taken))] };
  }

  /** A claim keeps its volume name, but the volume may be gone, or still bound to the deleted claim. */
  async #checkVolume(claim: ApiObject): Promise<string[]> {
    const spec = objectAt(claim, 'spec');
    const name = stringOf(spec.volumeName);
    if (name === '') return [];
    const volume = await this.#reader.get(VOLUMES, { name }, 'cached-if-found');
    const of = objectAt(volume, 'spec', 'claimRef');
    const isOurs = of.name === claim.metadata.name && of.namespace === claim.metadata.namespace;
    if (volume !== undefined && of.name === undefined) return [];
    if (volume !== undefined && isOurs)
      return of.uid === undefined
        ? []
        : [
            `volume ${name} is kept for the claim that was deleted: remove spec.claimRef.uid of the volume to bind it`,
          ];
    delete spec.volumeName;
    return [
      `volume ${name} is ${volume === undefined ? 'gone' : "another claim's"}: it gets a new one, which is empty`,
    ];
  }
}

const WHY: Readonly<Record<Refusal, string>> = {
  'names-nothing': 'names nothing, neither then nor now',
  'parent-is-gone': 'is inside of what is not there any more: name that',
};
