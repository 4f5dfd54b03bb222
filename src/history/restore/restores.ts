import { ForeseenObjects } from '../../admission/foreseen.ts';
import type { TypeLibrary } from '../../api/idl/types.ts';
import { toQualifiedResource } from '../../api/names.ts';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { conflict, internalError } from '../../api/status.ts';
import type { Restore, RestoreResult } from '../../api/types/history/v1alpha1.ts';
import type { Auditor } from '../../audit/auditor.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { Registry } from '../../registry/registry.ts';
import type { AuthorizedResourceRequest } from '../../request/api-request.ts';
import { ObjectReader } from '../../storage/object-reader.ts';
import type { Births } from '../../verbs/incarnations.ts';
import { inStatuses } from '../../verbs/storage-status.ts';
import type { ObjectWriter } from '../../verbs/writing/writer.ts';
import type { LargeWork } from '../large-work.ts';
import { type Outcome, restoreAll } from './bulk.ts';
import { type Collected, collectDependents, collectNamespace } from './collect.ts';
import { type PastObject, PastObjects, type PastParts } from './past-objects.ts';
import { Owners } from './restored-owners.ts';
import { messageOf, Results, recorded, recordedResource, resultOf } from './results.ts';
import { TimeLimit } from './time-limit.ts';
import { readWish, type Wish, type WishedNamespace, type WishedObject } from './wish.ts';
import { RestoreAudit } from './write-audit.ts';
import { type Subject, WriteRights } from './write-rights.ts';
import { Writes } from './writes.ts';

interface RestoreParts extends PastParts {
  readonly types: TypeLibrary;
  readonly registry: Registry;
  readonly authorizer: Authorizer;
  readonly births: Births;
  readonly writer: ObjectWriter;
  /** Undefined: nothing is recorded. */
  readonly auditor: Auditor | undefined;
  readonly now: () => Date;
  /** Bounds the restores of many objects. */
  readonly large: LargeWork;
  /** --request-timeout */
  readonly requestTimeoutMs: number;
  /** Logs an error of which the caller sees no details. */
  readonly onError: (error: unknown) => void;
}

/** Creates the handler of posted Restores. It writes at once, as the caller, and stores nothing else. */
export function createRestores(
  parts: RestoreParts,
): [string, (restore: ApiObject, request: AuthorizedResourceRequest) => Promise<JsonObject>] {
  return [
    'history.cluster.io/restores',
    async (restore, request) => {
      const wish = readWish(restore, parts.registry);
      const time = new TimeLimit(request, parts.requestTimeoutMs);
      let leave: (() => void) | undefined;
      try {
        const restoration = new Restoration(parts, { wish, request, time });
        const isLarge = wish.what.kind === 'namespace' || wish.what.withDependents;
        leave = isLarge ? await parts.large.enter(request) : undefined;
        const results = await restoration.run();
        note(results, request);
        const answer: Restore = { ...restore, status: { results } };
        return answer;
      } finally {
        leave?.();
        time.end();
      }
    },
  ];
}

const NOTED = 'history.cluster.io/restored';
/** Most results in an audit event, which must stay small. */
const MOST_NOTED = 100;

/** Summarizes the results in a warning and in the audit event. */
function note(results: readonly RestoreResult[], request: AuthorizedResourceRequest): void {
  const failed = results.filter(({ action }) => action === 'failed').length;
  if (failed > 0)
    request.warn(`${failed} of ${results.length} objects were not restored: status.results says why`);
  const written = results.filter(({ revision }) => revision !== undefined);
  const named = written
    .slice(0, MOST_NOTED)
    .map(({ object, revision }) => `${referenceOf(object)}@${revision}`);
  const more = written.length > named.length ? [`and ${written.length - named.length} more`] : [];
  if (named.length > 0) request.audit?.annotate(NOTED, [...named, ...more].join(' '));
}

function referenceOf(object: RestoreResult['object']): string {
  const { group = '', resource = '', namespace = '', name = '' } = object ?? {};
  return `${toQualifiedResource({ group, resource })}:${namespace}:${name}`;
}

interface Doing {
  readonly wish: Wish;
  readonly request: AuthorizedResourceRequest;
  readonly time: TimeLimit;
}

/** One restore. */
class Restoration {
  readonly #parts: RestoreParts;
  readonly #doing: Doing;
  readonly #past: PastObjects;
  readonly #rights: WriteRights;
  readonly #writes: Writes;
  readonly #reader: ObjectReader;
  readonly #results: Results;
  readonly #dryRun: boolean;

  constructor(parts: RestoreParts, doing: Doing) {
    const { wish, request, time } = doing;
    const { store, writer, registry } = parts;
    this.#parts = parts;
    this.#doing = doing;
    this.#dryRun = request.query.getAll('dryRun').includes('All');
    this.#past = new PastObjects(parts, wish, time);
    this.#results = new Results(parts.types);
    this.#rights = new WriteRights(parts, request);
    this.#reader = new ObjectReader(store, time);
    this.#writes = new Writes({
      store,
      writer,
      request,
      dryRun: this.#dryRun,
      name: wish.name,
      rights: this.#rights,
      owners: new Owners(registry, store),
      caller: time,
      foreseen: new ForeseenObjects(),
      audit: new RestoreAudit(parts.auditor, request, parts.now),
    });
  }

  /** @throws StatusError when nothing was written */
  run(): Promise<RestoreResult[]> {
    const { what } = this.#doing.wish;
    return what.kind === 'object' ? this.#restoreObject(what) : this.#restoreNamespace(what);
  }

  async #restoreObject(what: WishedObject): Promise<RestoreResult[]> {
    const root = await this.#find(what);
    if (!what.withDependents) {
      const asked = what.paths === undefined ? undefined : { paths: what.paths, texts: what.pathTexts };
      return [await this.#results.of(root, await this.#writes.restore(root, asked), this.#dryRun)];
    }
    const collected = await collectDependents(this.#past, this.#parts.registry, root);
    return this.#restoreAll({ ...collected, objects: [root, ...collected.objects] }, (object) =>
      this.#restoreOne(object, this.#dryRun),
    );
  }

  async #restoreNamespace({ name }: WishedNamespace): Promise<RestoreResult[]> {
    const definition = this.#parts.registry.findStorage(NAMESPACES);
    if (definition === undefined) throw internalError('there are no namespaces');
    const subject = { definition, namespace: '', name };
    const namespace = await this.#find(subject);
    const live = await this.#live(subject);
    if (live !== undefined && isEnding(live))
      throw conflict(definition, name, 'it is being deleted; restore it once it is gone');
    const collected = await collectNamespace(this.#past, this.#parts.registry, name);
    // Without the namespace nothing else can be restored: its refusal is the answer.
    const first =
      live === undefined
        ? await this.#results.of(namespace, await this.#writes.restore(namespace), false)
        : (await this.#restoreOne(namespace, false)).result;
    const rest = await this.#restoreAll(collected, (object) => this.#restoreOne(object, false));
    return [first, ...rest];
  }

  /** @throws StatusError 403, 410, 422 */
  async #find(subject: Subject): Promise<PastObject> {
    await this.#rights.assert('get', subject);
    const revision = await this.#past.revisionOf(subject.definition.storage);
    const refusal = await this.#rights.refusalOfPast(subject, revision);
    if (refusal !== undefined) throw refusal;
    const found = await this.#past.get(subject);
    if (found === undefined) throw await this.#past.absence(subject, await this.#live(subject));
    return found;
  }

  #live({ definition, namespace, name }: Subject): Promise<ApiObject | undefined> {
    const found = this.#reader.get(
      definition.storage,
      { namespace: definition.namespaced ? namespace : '', name },
      'latest',
    );
    return inStatuses(found, definition, name);
  }

  async #restoreAll(
    { objects, skipped, skippedResources, unreadable, unserved }: Collected,
    restore: (object: PastObject) => Promise<Outcome<RestoreResult>>,
  ): Promise<RestoreResult[]> {
    const { visible, refused } = await this.#seen(objects);
    const results = await restoreAll<RestoreResult>(visible, {
      time: this.#doing.time,
      restore,
      withoutOwner: (object, { definition, name }) =>
        resultOf('failed', recorded(object), `its owner ${definition.kind} ${name} was not restored`),
      outOfTime: (object, wasBegun) => resultOf('failed', recorded(object), wasBegun ? UNKNOWN : NOT_TRIED),
    });
    const passed = await this.#seen(skipped.map(({ object }) => object));
    const reasons = new Map(skipped.map(({ object, why }) => [object, why]));
    const broken = await this.#seen(unreadable);
    const definitions = await this.#seen(unserved.map(({ definedBy }) => definedBy));
    return [
      ...results,
      ...refused,
      ...broken.visible.map((object) =>
        resultOf('failed', recorded(object), `its state then cannot be read: ${object.reason}`),
      ),
      ...broken.refused,
      ...unserved
        .filter(({ definedBy }) => definitions.visible.includes(definedBy))
        .map(({ resource, definedBy: { name } }) =>
          resultOf('failed', resource, `not served now: restore customresourcedefinitions ${name} first`),
        ),
      ...definitions.refused,
      ...passed.visible.map((object) => resultOf('skipped', recorded(object), reasons.get(object) ?? '')),
      ...skippedResources.map(({ resource, why }) => resultOf('skipped', recordedResource(resource), why)),
    ];
  }

  /** The objects that the caller may read, and one result without names per resource for the rest. */
  async #seen<Some extends Subject>(
    objects: readonly Some[],
  ): Promise<{ readonly visible: readonly Some[]; readonly refused: readonly RestoreResult[] }> {
    const visible: Some[] = [];
    const refused = new Map<string, RestoreResult>();
    for (const object of objects) {
      const { storage } = object.definition;
      const refusal = await this.#rights.refusalOfPast(object, await this.#past.revisionOf(storage));
      if (refusal === undefined) visible.push(object);
      else {
        const { definition, namespace } = object;
        const what = { ...recordedResource(definition), ...(definition.namespaced ? { namespace } : {}) };
        refused.set(`${what.resource}.${what.group}`, resultOf('failed', what, MAY_NOT_READ));
      }
    }
    return { visible, refused: [...refused.values()] };
  }

  async #restoreOne(object: PastObject, showsNew: boolean): Promise<Outcome<RestoreResult>> {
    try {
      const restored = await this.#writes.restore(object);
      return { isThere: true, result: await this.#results.of(object, restored, showsNew) };
    } catch (error) {
      const { time } = this.#doing;
      const message = time.aborted ? UNKNOWN : messageOf(error);
      if (message === undefined) this.#parts.onError(error);
      return { isThere: false, result: resultOf('failed', recorded(object), message ?? 'an internal error') };
    }
  }
}

const NAMESPACES = { group: '', resource: 'namespaces' };

const isEnding = ({ metadata: { deletionTimestamp } }: ApiObject): boolean =>
  deletionTimestamp !== undefined && deletionTimestamp !== null;

const NOT_TRIED = "not tried: the request's time was up";
const UNKNOWN = "the request's time was up while it was written: it may have been restored";
const MAY_NOT_READ = 'some objects were left out, which you may not get';
