import type { TypeLibrary } from '../api/idl/types.ts';
import type { Status, StatusError } from '../api/status.ts';

import type { ApiRequest, AuditTrail, ResourceTarget, UserInfo } from '../request/api-request.ts';
import type { BytesResponse } from '../request/api-response.ts';
import { readResponse, toBodyText } from './bodies.ts';
import {
  type AuditEvent,
  AuditRecord,
  type EventBodies,
  type EventStatus,
  type EventUser,
  type ObjectReference,
} from './event.ts';
import { isAtLeast, type PolicyRule, type Stage } from './policy/policy.ts';
import type { AuditSink, LossReport, Stored } from './sink.ts';
import { sourceAddresses } from './source-addresses.ts';

/** What the events of all requests need. */
export interface RecordingContext {
  readonly sink: AuditSink;
  readonly types: TypeLibrary;
  readonly report: LossReport;
  readonly onEvent: () => void;
  readonly now: () => Date;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

type Draft = Writable<Omit<AuditEvent, 'level' | 'auditID' | 'stage' | 'stageTimestamp'>>;

/** The events of one request: what is known so far, and an event of it for each stage the rule wants. */
export class RequestAudit implements AuditTrail {
  readonly #context: RecordingContext;
  readonly #rule: PolicyRule;
  readonly #identity: Pick<AuditEvent, 'level' | 'auditID'>;
  readonly #event: Draft;
  readonly #bodies: Writable<EventBodies> = {};
  readonly #receivedAt: Date;

  constructor(
    context: RecordingContext,
    rule: PolicyRule,
    request: ApiRequest & { readonly user?: UserInfo },
  ) {
    this.#context = context;
    this.#rule = rule;
    this.#receivedAt = request.receivedAt;
    this.#identity = { level: rule.level, auditID: request.id };
    this.#event = describe(request);
  }

  requestObject(value: unknown): void {
    const { objectRef } = this.#event;
    if (objectRef !== undefined) this.#event.objectRef = complete(objectRef, value);
    if (!isAtLeast(this.#rule.level, 'Request')) return;
    const text = toBodyText(value, this.#rule.omitManagedFields);
    if (text !== undefined) this.#bodies.requestObject = text;
  }

  impersonated(user: UserInfo): void {
    this.#event.impersonatedUser = toEventUser(user);
  }

  annotate(key: string, value: string): void {
    if (this.#event.annotations?.[key] !== undefined) return;
    this.#event.annotations = { ...this.#event.annotations, [key]: value };
  }

  /** What the request is answered with, as far as a status tells it. */
  status(status: Omit<EventStatus, 'metadata'>): void {
    this.#event.responseStatus = { metadata: {}, ...status };
  }

  answered(response: BytesResponse): void {
    this.status({ code: response.code });
    if (!this.#wantsResponse()) return;
    try {
      this.#respond(readResponse(response, this.#rule.omitManagedFields, this.#context.types));
    } catch (error) {
      this.#context.report('response', error, []);
    }
  }

  refused({ status }: StatusError): void {
    this.status(fieldsOf(status));
    if (this.#wantsResponse()) this.#respond(JSON.stringify(status));
  }

  /** Hands an event of the request to the back ends. True where there is none to store. */
  stage(stage: Stage): Stored {
    if (this.#rule.omitStages.has(stage)) return true;
    const { sink, now, onEvent } = this.#context;
    const at = stage === 'RequestReceived' ? this.#receivedAt : now();
    onEvent();
    const event = { ...this.#identity, stage, ...this.#event, stageTimestamp: toMicroTime(at) };
    return sink.process([new AuditRecord(event, { ...this.#bodies })]);
  }

  #wantsResponse(): boolean {
    return this.#rule.level === 'RequestResponse' && this.#event.objectRef !== undefined;
  }

  #respond(text: string | undefined): void {
    if (text !== undefined) this.#bodies.responseObject = text;
  }
}

function describe(request: ApiRequest & { readonly user?: UserInfo }): Draft {
  const { uri, verb, user, target, userAgent, receivedAt } = request;
  return {
    requestURI: uri,
    verb,
    user: user === undefined ? {} : toEventUser(user),
    sourceIPs: sourceAddresses(request),
    ...(userAgent === '' ? {} : { userAgent: shorten(userAgent) }),
    ...(target === undefined ? {} : { objectRef: toReference(target) }),
    requestReceivedTimestamp: toMicroTime(receivedAt),
  };
}

function toEventUser({ username, uid, groups, extra }: UserInfo): EventUser {
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

const toReference = (target: ResourceTarget): ObjectReference =>
  withoutEmpty({
    resource: target.resource,
    namespace: target.namespace,
    name: target.name,
    apiGroup: target.group,
    apiVersion: target.version,
    subresource: target.subresource,
  });

/** The path may leave a name out that the body has; uid and resourceVersion are in the body alone. */
function complete(reference: ObjectReference, body: unknown): ObjectReference {
  const { metadata } = isRecord(body) ? body : {};
  if (!isRecord(metadata)) return reference;
  const { namespace, name, uid, resourceVersion } = metadata;
  return { ...withoutEmpty({ namespace, name, uid, resourceVersion }), ...reference };
}

function withoutEmpty(fields: Readonly<Record<keyof ObjectReference | string, unknown>>): ObjectReference {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => typeof value === 'string' && value !== ''),
  );
}

/** Bounded fields only: an answer's own fields are its body's, and belong to the last level. */
function fieldsOf({ status, message, reason, details, code }: Status): Omit<EventStatus, 'metadata'> {
  return {
    status,
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** Kubernetes' bound; a user agent may otherwise be as long as all headers. */
const MAX_USER_AGENT = 1024;

const shorten = (userAgent: string): string =>
  userAgent.length > MAX_USER_AGENT ? `${userAgent.slice(0, MAX_USER_AGENT)}...TRUNCATED` : userAgent;

/** RFC 3339 with six digits after the point, as MicroTime has them. */
const toMicroTime = (date: Date): string => date.toISOString().replace('Z', '000Z');

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
