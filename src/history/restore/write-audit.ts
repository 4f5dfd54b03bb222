import { randomUUID } from 'node:crypto';
import type { ApiObject } from '../../api/object-meta.ts';
import { internalError, StatusError } from '../../api/status.ts';
import type { Auditor, RequestAudit } from '../../audit/auditor.ts';
import { recordVerdict } from '../../audit/verdict.ts';
import type { Verdict } from '../../authz/authorizer.ts';
import type { AuditTrail, AuthenticatedRequest } from '../../request/api-request.ts';
import { Waits } from '../../request/waits.ts';
import type { PastObject } from './past-objects.ts';
import { type Subject, toTarget } from './write-rights.ts';

/** In events of writes: the id of the audit event of the restore. */
const RESTORE = 'history.cluster.io/restore';
/** The revision whose state was restored. */
const RESTORED = 'history.cluster.io/restored-revision';
/** The revision that was written. */
const WRITTEN = 'history.cluster.io/revision';

/**
 * Records each write of a restore in an event of its own. The policy judges it as the POST or PUT by which the caller
 * could have written the object: its resource, namespace and name, `create` or `update`, and the caller as user. A
 * single event about `restores` would escape rules such as "record every write of secrets", and a list of objects in an
 * annotation would have to be short, and rules do not match annotations.
 *
 * The events have ids of their own, because collectors take events of the same id and stage for one. An annotation has
 * the id of the restore, which is also in the rows of the log; the URI is that of the restore, dry run included. A
 * write that a strict backend cannot record is not made.
 */
export class RestoreAudit {
  readonly #auditor: Auditor | undefined;
  readonly #request: AuthenticatedRequest;
  readonly #now: () => Date;

  constructor(auditor: Auditor | undefined, request: AuthenticatedRequest, now: () => Date) {
    this.#auditor = auditor;
    this.#request = request;
    this.#now = now;
  }

  of(then: PastObject): WriteAudit {
    this.#request.audit?.shows(toTarget('get', then));
    return new WriteAudit((verb, waits) => this.#begin(verb, then, waits), then);
  }

  #begin(verb: WriteVerb, subject: Subject, waits: Waits): RequestAudit | undefined {
    const { id, user, impersonator, authenticationNotes = {} } = this.#request;
    const { path, headers, sourceAddress, userAgent, raw } = this.#request;
    const trail = this.#auditor?.begin({
      id: randomUUID(),
      verb,
      target: toTarget(verb, subject),
      user: impersonator ?? user,
      path,
      headers,
      sourceAddress,
      userAgent,
      raw,
      waits,
      receivedAt: this.#now(),
    });
    if (impersonator !== undefined) trail?.impersonated(user);
    for (const [key, value] of Object.entries(authenticationNotes)) trail?.annotate(key, value);
    trail?.annotate(RESTORE, id);
    return trail;
  }
}

type WriteVerb = 'create' | 'update';

/** The audit events of one object. Records nothing before a write is attempted. */
export class WriteAudit implements Pick<AuditTrail, 'annotate'> {
  readonly waits = new Waits();
  readonly #begin: (verb: WriteVerb, waits: Waits) => RequestAudit | undefined;
  readonly #then: PastObject;
  #verb: WriteVerb | undefined;
  #trail: RequestAudit | undefined;

  constructor(begin: (verb: WriteVerb, waits: Waits) => RequestAudit | undefined, then: PastObject) {
    this.#begin = begin;
    this.#then = then;
  }

  /** Begins the event of a write. The verb changes when another writer has created or deleted the object. @throws StatusError 500 */
  async attempt(verb: WriteVerb): Promise<void> {
    if (verb === this.#verb) return;
    await this.#trail?.failed(MEANWHILE);
    this.#verb = verb;
    const trail = this.#begin(verb, this.waits);
    trail?.annotate(RESTORED, this.#then.revision.toString());
    this.#trail = trail;
    if (trail === undefined || (await trail.stage('RequestReceived'))) return;
    this.#trail = undefined;
    throw internalError('failed to store audit event');
  }

  verdict(verdict: Verdict): void {
    if (this.#trail !== undefined) recordVerdict(this.#trail, verdict);
  }

  asked(object: ApiObject): void {
    this.#trail?.requestObject(object);
  }

  annotate(key: string, value: string, level?: 'Request'): void {
    this.#trail?.annotate(key, value, level);
  }

  async written(object: ApiObject, revision: bigint | undefined): Promise<void> {
    if (revision !== undefined) this.annotate(WRITTEN, revision.toString());
    this.#trail?.answeredWith(this.#verb === 'create' ? 201 : 200, object);
    await this.#trail?.stage('ResponseComplete');
  }

  async failed(error: unknown): Promise<void> {
    await this.#trail?.failed(error);
  }
}

const MEANWHILE = new StatusError({
  code: 409,
  reason: 'Conflict',
  message: 'the object was created or deleted meanwhile',
});
