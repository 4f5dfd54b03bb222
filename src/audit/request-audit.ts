import type { TypeLibrary } from '../api/idl/types.ts';
import type { Status, StatusError } from '../api/status.ts';
import type { ApiRequest, AuditTrail, ResourceTarget, UserInfo } from '../request/api-request.ts';
import { type BytesResponse, gatherRest } from '../request/api-response.ts';
import { readResponse, toBodyText } from './bodies.ts';
import {
  type AuditEvent,
  AuditRecord,
  type EventStatus,
  type EventUser,
  type ObjectReference,
  sourceAddresses,
} from './event.ts';
import { isAtLeast, type PolicyRule, type Stage } from './policy.ts';
import type { AuditSink, LossReport, Stored } from './sink.ts';

/** What the events of all requests need. */
export interface RecordingContext {
  readonly sink: AuditSink;
  readonly types: TypeLibrary;
  readonly report: LossReport;
  readonly onEvent: () => void;
  readonly now: () => Date;
}

/** The events of one request: what is known so far, and an event of it for each stage the rule wants. */
export class RequestAudit implements AuditTrail {
  readonly #context: RecordingContext;
  readonly #rule: PolicyRule;
  readonly #received: ReceivedRequest;
  readonly #uri: string;
  readonly #user: EventUser;
  readonly #sourceIPs: readonly string[];
  readonly #receivedAt: string;
  #objectRef: ObjectReference | undefined;
  #impersonatedUser: EventUser | undefined;
  #annotations: Readonly<Record<string, string>> | undefined;
  #responseStatus: EventStatus | undefined;
  #requestObject: string | undefined;
  #responseObject: string | undefined;

  constructor(context: RecordingContext, rule: PolicyRule, request: ReceivedRequest) {
    const { user, target, receivedAt } = request;
    this.#context = context;
    this.#rule = rule;
    this.#received = request;
    this.#uri = request.raw.url;
    // Who acts, and what the headers say, may change while the request is served.
    this.#user = user === undefined ? {} : toEventUser(user);
    this.#sourceIPs = sourceAddresses(request);
    this.#receivedAt = toMicroTime(receivedAt);
    this.#objectRef = target === undefined ? undefined : toReference(target);
  }

  requestObject(value: unknown): void {
    if (this.#objectRef !== undefined) this.#objectRef = complete(this.#objectRef, value);
    this.requestBody(value);
  }

  requestBody(value: unknown): void {
    if (!isAtLeast(this.#rule.level, 'Request')) return;
    this.#requestObject = toBodyText(value, this.#rule.omitManagedFields);
  }

  impersonated(user: UserInfo): void {
    this.#impersonatedUser = toEventUser(user);
  }

  annotate(key: string, value: string): void {
    if (this.#annotations?.[key] === undefined) this.#annotations = { ...this.#annotations, [key]: value };
  }

  /** What the request is answered with, as far as a status tells it. */
  status(status: Omit<EventStatus, 'metadata'>): void {
    this.#responseStatus = { metadata: {}, ...status };
  }

  /** Returns what is to be sent: of an answer that is made while it is sent, only one of the two could see it. */
  answered(response: BytesResponse): BytesResponse {
    this.status({ code: response.code });
    if (!this.#wantsResponse()) return response;
    const whole = gatherRest(response);
    try {
      this.#responseObject = readResponse(whole, this.#rule.omitManagedFields, this.#context.types);
    } catch (error) {
      this.#context.report('response', error, []);
    }
    return whole;
  }

  refused({ status }: StatusError): void {
    this.status(fieldsOf(status));
    if (this.#wantsResponse()) this.#responseObject = JSON.stringify(status);
  }

  /** Hands an event of the request to the back ends. True where there is none to store. */
  stage(stage: Stage): Stored {
    if (this.#rule.omitStages.has(stage)) return true;
    this.#context.onEvent();
    const bodies = { requestObject: this.#requestObject, responseObject: this.#responseObject };
    return this.#context.sink.process([new AuditRecord(this.#describe(stage), bodies)]);
  }

  #describe(stage: Stage): AuditEvent {
    const { id, verb, userAgent } = this.#received;
    return {
      level: this.#rule.level,
      auditID: id,
      stage,
      requestURI: this.#uri,
      verb,
      user: this.#user,
      impersonatedUser: this.#impersonatedUser,
      sourceIPs: this.#sourceIPs,
      userAgent: userAgent === '' ? undefined : shorten(userAgent),
      objectRef: this.#objectRef,
      responseStatus: this.#responseStatus,
      requestReceivedTimestamp: this.#receivedAt,
      stageTimestamp: stage === 'RequestReceived' ? this.#receivedAt : toMicroTime(this.#context.now()),
      annotations: this.#annotations,
    };
  }

  #wantsResponse(): boolean {
    return this.#rule.level === 'RequestResponse' && this.#objectRef !== undefined;
  }
}

/** Without a user: one that nobody could authenticate. */
export type ReceivedRequest = ApiRequest & { readonly user?: UserInfo };

const toEventUser = ({ username, uid, groups, extra }: UserInfo): EventUser => ({
  username,
  uid: orNothing(uid),
  groups: groups.length === 0 ? undefined : groups,
  extra: Object.keys(extra).length === 0 ? undefined : extra,
});

const toReference = (target: ResourceTarget): ObjectReference => ({
  resource: target.resource,
  namespace: orNothing(target.namespace),
  name: orNothing(target.name),
  uid: undefined,
  apiGroup: orNothing(target.group),
  apiVersion: target.version,
  resourceVersion: undefined,
  subresource: orNothing(target.subresource),
});

/** The path may leave a name out that the body has; uid and resourceVersion are in the body alone. */
function complete(reference: ObjectReference, body: unknown): ObjectReference {
  const { metadata } = isRecord(body) ? body : {};
  if (!isRecord(metadata)) return reference;
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    ...reference,
    namespace: reference.namespace ?? orNothing(namespace),
    name: reference.name ?? orNothing(name),
    uid: orNothing(uid),
    resourceVersion: orNothing(resourceVersion),
  };
}

const orNothing = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

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
const toMicroTime = (date: Date): string => `${date.toISOString().slice(0, -1)}000Z`;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
