import { typeName } from '../api/idl/type-name.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import { toQualifiedResource } from '../api/names.ts';
import { type Status, StatusError } from '../api/status.ts';
import { bodyFormat } from '../codec/negotiate.ts';
import { readEnvelopeType } from '../codec/protobuf/envelope.ts';
import { parseBytes } from '../codec/wire-formats.ts';
import { parseJsonBytes } from '../object/exact-json.ts';
import { toMicroTime } from '../object/timestamps.ts';
import type { ApiRequest, AuditTrail, RawRequest, ResourceTarget, UserInfo } from '../request/api-request.ts';
import { type BytesResponse, gatherRest } from '../request/api-response.ts';
import { TOTAL_LATENCY } from '../request/waits.ts';
import { errorText } from '../util/error-text.ts';
import { goDuration } from '../util/go-duration.ts';
import {
  type AuditEvent,
  AuditRecord,
  type EventStatus,
  type EventUser,
  type ObjectReference,
  sourceAddresses,
} from './audit-event.ts';
import type { AuditMetrics } from './audit-metrics.ts';
import { findRule, isAtLeast, type Policy, type PolicyRule, type Stage } from './audit-policy.ts';
import type { AuditSink, LossReport, Stored } from './sink.ts';

interface AuditorOptions {
  readonly policy: Policy;
  readonly sink: AuditSink;
  readonly types: TypeLibrary;
  readonly metrics: AuditMetrics;
  readonly report: LossReport;
  readonly now: () => Date;
}

const SLOW_MS = 500;

/** Objects whose past the answer shows, if their own rules record them: `secrets/default/web, deployments.apps/…`. */
const SHOWN = 'history.cluster.io/shown';
/** Why the event lacks the answer. */
const WITHHELD = 'history.cluster.io/response-withheld';
/** Objects that one event names. */
const MAX_SHOWN = 50;

/** Decides whether and how much of a request is recorded, and passes its events to the back ends. */
export class Auditor {
  readonly #policy: Policy;
  readonly #metrics: AuditMetrics;
  readonly #context: RecordingContext;

  constructor({ policy, metrics, ...context }: AuditorOptions) {
    this.#policy = policy;
    this.#metrics = metrics;
    this.#context = { ...context, policy, onEvent: () => metrics.recorded() };
  }

  /** Undefined for a request that is not recorded. A request without a user is one that failed authentication. */
  begin(request: ReceivedRequest): RequestAudit | undefined {
    const rule = findRule(this.#policy, request);
    this.#metrics.decided(rule?.level ?? 'None');
    if (rule === undefined || rule.level === 'None') return undefined;
    return new RequestAudit(this.#context, rule, request);
  }

  /** Counts a request that was refused because it could not be recorded. */
  rejected(): void {
    this.#metrics.rejected();
  }

  /** Stores the remaining records. */
  close(): Promise<void> {
    return this.#context.sink.close();
  }
}

/** The context that all requests share. */
interface RecordingContext {
  readonly policy: Policy;
  readonly sink: AuditSink;
  readonly types: TypeLibrary;
  readonly report: LossReport;
  readonly onEvent: () => void;
  readonly now: () => Date;
}

/** Collects the facts of one request, and makes an event for each stage that the rule wants. */
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
  #authenticationMetadata: AuditEvent['authenticationMetadata'];
  #annotations: Readonly<Record<string, string>> | undefined;
  #responseStatus: EventStatus | undefined;
  #requestObject: string | undefined;
  #responseObject: string | undefined;
  readonly #shown = new Set<string>();
  #withheldFor: string | undefined;

  constructor(context: RecordingContext, rule: PolicyRule, request: ReceivedRequest) {
    const { user, target, receivedAt } = request;
    this.#context = context;
    this.#rule = rule;
    this.#received = request;
    this.#uri = request.raw.url;
    // The user and the headers may change while the request is served, so they are copied now.
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

  impersonated(user: UserInfo, constraint = ''): void {
    this.#impersonatedUser = toEventUser(user);
    if (constraint !== '') this.#authenticationMetadata = { impersonationConstraint: constraint };
  }

  annotate(key: string, value: string, level: 'Metadata' | 'Request' = 'Metadata'): void {
    if (!isAtLeast(this.#rule.level, level)) return;
    if (this.#annotations?.[key] === undefined) this.#annotations = { ...this.#annotations, [key]: value };
  }

  shows(target: ResourceTarget): void {
    const { user, path } = this.#received;
    const { namespace, name } = target;
    const type = toQualifiedResource(target);
    const rule = findRule(this.#context.policy, { ...(user && { user }), path, verb: 'get', target });
    const level = rule?.level ?? 'None';
    if (!isAtLeast(level, 'RequestResponse')) this.#withheldFor ??= type;
    if (level !== 'None' && this.#shown.size < MAX_SHOWN)
      this.#shown.add([type, namespace, name].filter((part) => part !== '').join('/'));
  }

  /** Sets the response status. */
  status(status: Omit<EventStatus, 'metadata'>): void {
    this.#responseStatus = { metadata: {}, ...status };
  }

  /** Returns the response to send: a body that is made while it is sent can be read once, so recording it makes it whole. */
  answered(response: BytesResponse): BytesResponse {
    this.status({ ...statusIn(response), code: response.code });
    if (!this.#wantsResponse()) return response;
    const whole = gatherRest(response);
    try {
      this.#responseObject = readResponse(whole, this.#rule.omitManagedFields, this.#context.types);
    } catch (error) {
      this.#context.report('response', error, []);
    }
    return whole;
  }

  /** Sets the response to an object that has not been encoded. */
  answeredWith(code: number, object: unknown): void {
    this.status({ code });
    if (this.#wantsResponse()) this.#responseObject = toBodyText(object, this.#rule.omitManagedFields);
  }

  /** Passes the last event of a request that failed. */
  failed(error: unknown, stage: Stage = 'ResponseComplete'): Stored {
    if (error instanceof StatusError) {
      const { status } = error;
      this.status(fieldsOf(status));
      // Also of a path without objects.
      const isWanted = this.#rule.level === 'RequestResponse' && this.#withheldFor === undefined;
      if (isWanted) this.#responseObject = JSON.stringify(status);
      return this.stage(stage);
    }
    const message = `APIServer panic'd: ${errorText(error)}`;
    this.status({ status: 'Failure', message, reason: 'InternalError', code: 500 });
    return this.stage('Panic');
  }

  /** Passes an event of the request to the back ends. True when no event is to be stored. */
  stage(stage: Stage): Stored {
    if (this.#rule.omitStages.has(stage)) return true;
    this.#context.onEvent();
    if (stage === 'ResponseComplete') this.#annotateShown();
    if (stage === 'ResponseComplete') this.#annotateWaits();
    const bodies = { requestObject: this.#requestObject, responseObject: this.#responseObject };
    return this.#context.sink.process([new AuditRecord(this.#describe(stage), bodies)]);
  }

  #annotateShown(): void {
    if (this.#shown.size > 0) this.annotate(SHOWN, [...this.#shown].join(', '));
    if (this.#withheldFor === undefined || this.#rule.level !== 'RequestResponse') return;
    this.annotate(WITHHELD, `it shows ${this.#withheldFor}, whose own rule records no answers`);
  }

  /** A slow request says what it waited for (Kubernetes: endpoints/filters/audit.go, writeLatencyToAnnotation). */
  #annotateWaits(): void {
    const { receivedAt, waits } = this.#received;
    const totalMs = this.#context.now().getTime() - receivedAt.getTime();
    if (totalMs <= SLOW_MS) return;
    for (const [key, value] of Object.entries(waits.annotations())) this.annotate(key, value);
    this.annotate(TOTAL_LATENCY, goDuration(totalMs));
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
      authenticationMetadata: this.#authenticationMetadata,
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
    const wanted = this.#rule.level === 'RequestResponse' && this.#objectRef !== undefined;
    return wanted && this.#withheldFor === undefined;
  }
}

/** The beginning of a Status in JSON, such as the answer to most deletions. */
const STATUS_IN_JSON = /^\{\s*"kind":\s*"Status",/;

/** The fields of an answer that is a Status. */
function statusIn({ chunks, rest }: BytesResponse): Omit<EventStatus, 'metadata'> | undefined {
  const [first] = chunks;
  if (first === undefined || rest !== undefined || !STATUS_IN_JSON.test(first.subarray(0, 64).toString()))
    return undefined;
  return fieldsOf(JSON.parse(Buffer.concat(chunks).toString()) as Status);
}

/** What is recorded of a request. Without a user, authentication failed. */
interface ReceivedRequest
  extends Pick<ApiRequest, 'id' | 'verb' | 'path' | 'target' | 'headers' | 'sourceAddress' | 'userAgent'>,
    Pick<ApiRequest, 'receivedAt' | 'waits'> {
  readonly raw: Pick<RawRequest, 'url'>;
  readonly user?: UserInfo;
}

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

/** Completes a reference from the body: the path may lack the name, and always lacks uid and resourceVersion. */
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

/** Only fields of bounded size. The other fields of an answer belong to its body, which the last level records. */
function fieldsOf({ status, message, reason, details, code }: Status): Omit<EventStatus, 'metadata'> {
  return {
    status,
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** Kubernetes' bound. A user agent may be as long as all headers together. */
const MAX_USER_AGENT = 1024;

const shorten = (userAgent: string): string =>
  userAgent.length > MAX_USER_AGENT ? `${userAgent.slice(0, MAX_USER_AGENT)}...TRUNCATED` : userAgent;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Bodies of requests and responses as the JSON text that events carry, on one line. */

function toBodyText(value: unknown, omitManagedFields: boolean): string | undefined {
  return JSON.stringify(omitManagedFields ? withoutManagedFields(value) : value);
}

/**
 * Undefined for a response that is no object: a log, a metrics page. JSON that needs no change is not parsed.
 * @throws Error for bytes that do not match their content type
 */
function readResponse(
  { chunks, contentType }: BytesResponse,
  omitManagedFields: boolean,
  types: TypeLibrary,
): string | undefined {
  const format = formatOf(contentType);
  if (format === undefined) return undefined;
  const bytes = Buffer.concat(chunks);
  if (format !== 'json') {
    const name = format === 'protobuf' ? knownType(readEnvelopeType(bytes), types) : STATUS;
    return toBodyText(parseBytes(bytes, format, types.message(name)).value, omitManagedFields);
  }
  const text = bytes.toString().trim();
  // Line breaks in the text can only be layout, because those in strings are escaped.
  if (!omitManagedFields && !text.includes('\n')) return text;
  return toBodyText(parseJsonBytes(bytes), omitManagedFields);
}

const STATUS = 'meta/v1.Status';

function formatOf(contentType: string): ReturnType<typeof bodyFormat> | undefined {
  try {
    return bodyFormat(contentType, { cbor: true });
  } catch {
    return undefined;
  }
}

function knownType({ apiVersion, kind }: { apiVersion: string; kind: string }, types: TypeLibrary): string {
  const name = typeName(apiVersion, kind, types);
  if (name !== undefined) return name;
  throw new Error(`no type ${kind} of ${apiVersion} is known`);
}

/** For an object, the items of a list and the rows of a table. Copies only the changed parts; the original stays. */
function withoutManagedFields(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { metadata: given, items, rows, kind } = value;
  const copy: Record<string, unknown> = { ...value };
  if (isRecord(given)) {
    const { managedFields: _, ...metadata } = given;
    copy.metadata = metadata;
  }
  if (Array.isArray(items)) copy.items = items.map(withoutManagedFields);
  if (kind === 'Table' && Array.isArray(rows)) {
    copy.rows = rows.map((row: unknown) =>
      isRecord(row) ? { ...row, object: withoutManagedFields(row.object) } : row,
    );
  }
  return copy;
}
